/* One kernel for a person to read:
 *
 *   scale(float*, float, int)
 *     PTX sm_75
 *     arg0  float*   8 bytes  pointer, read, written
 *     arg1  float    4 bytes
 *     arg2  int      4 bytes
 *     read   arg0[4*(blockIdx.x*blockDim.x + threadIdx.x)] if ...
 *            4 bytes, exact (PTX line 31)
 *     launch grid=4 block=256
 *       write arg0[0 .. 4000)  exact */
#include "runtime/cli/kernels/demangle.h"
#include "runtime/cli/kernels/kernel_report.h"
#include "runtime/ptx/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- The image ---- */

static void print_image(FILE *out, const struct kernel_report *report, bool verbose)
{
    const struct kernel_program *program = report->program;
    const char *what = report->function ? "PTX" : "machine code";
    fprintf(out, "  %s sm_%" PRIu32 "%s\n", what, report->arch,
            report->function ? "" : " only, no PTX: what it touches is unknown");
    if (!verbose)
        return;
    if (strcmp(report->mangled, report->name) != 0)
        fprintf(out, "  mangled %s\n", report->mangled);
    size_t units = 0;
    for (size_t i = 0; i < program->text_count; i++)
        units += units_reads(program->texts, i);
    if (units > 1)
        fprintf(out, "  linked of %zu units\n", units);
    for (size_t i = 0; i < program->text_count; i++)
        if (program->texts[i].unit == program->texts[0].unit &&
            program->texts[i].arch != report->arch)
            fprintf(out, "  also there: PTX sm_%" PRIu32 "\n", program->texts[i].arch);
    for (size_t i = 0; i < program->code_count; i++)
        if ((report->function || program->codes[i].entry.arch != report->arch) &&
            (i == 0 || program->codes[i - 1].entry.arch != program->codes[i].entry.arch))
            fprintf(out, "  also there: machine code sm_%" PRIu32 "\n",
                    program->codes[i].entry.arch);
    if (program->other_count)
        fprintf(out, "  also there: %zu entries of other kinds\n", program->other_count);
}

/* ---- Parameters ---- */

static const char *class_word(const struct parameter *parameter)
{
    static const char *const words[] = {[PARAMETER_SCALAR] = "",
                                        [PARAMETER_POINTER] = "pointer",
                                        [PARAMETER_STRUCT] = "struct",
                                        [PARAMETER_OBJECT] = "object"};
    return words[parameter->class];
}

static const char *type_text(const struct parameter *parameter)
{
    return parameter->declared ? parameter->declared : parameter->type;
}

static void print_words(FILE *out, const char *const *words, size_t count, const char *before)
{
    for (size_t i = 0; i < count; i++)
        if (*words[i]) {
            fprintf(out, "%s%s", before, words[i]);
            before = ", ";
        }
}

static void print_parameters(FILE *out, const struct kernel_report *report)
{
    int width = 0, index_width = report->parameter_count > 10 ? 2 : 1;
    if (!report->has_parameters)
        fprintf(out, "  its parameters are not known\n");
    for (uint32_t i = 0; i < report->parameter_count; i++) {
        int length = (int)strlen(type_text(&report->parameters[i]));
        width = length > width && length <= 24 ? length : width;
    }
    for (uint32_t i = 0; i < report->parameter_count; i++) {
        const struct parameter *parameter = &report->parameters[i];
        const char *words[] = {class_word(parameter), parameter->reads ? "read" : "",
                               parameter->writes ? "written" : "",
                               parameter->atomics ? "updated atomically" : ""};
        fprintf(out, "  arg%-*" PRIu32 "  %-*s  %" PRIu32 " bytes", index_width, i, width,
                type_text(parameter), parameter->bytes);
        print_words(out, words, 4, "  ");
        fputc('\n', out);
    }
}

/* ---- Accesses ---- */

static void print_reason(FILE *out, const char *known, const char *reason, uint32_t line)
{
    fputs(known, out);
    if (*reason)
        fprintf(out, ": %s", reason);
    if (line)
        fprintf(out, " (PTX line %" PRIu32 ")", line);
}

static void print_access(FILE *out, const struct describe_access *access)
{
    char *line = describe_line(access), *plain = line ? demangle_words(line) : NULL;
    fprintf(out, "  %s\n    ", plain ? plain : "memory is short");
    free(plain);
    free(line);
    if (access->bytes)
        fprintf(out, "%" PRIu64 " byte%s, ", access->bytes, access->bytes == 1 ? "" : "s");
    if (access->known == DESCRIBE_EXACT || !access->reason_line ||
        access->reason_line == access->line) {
        print_reason(out, report_known(access->known), access->reason, access->line);
    } else {
        print_reason(out, report_known(access->known), access->reason, access->reason_line);
        fprintf(out, ", access at line %" PRIu32, access->line);
    }
    fputc('\n', out);
}

static void print_accesses(FILE *out, const struct kernel_report *report)
{
    const struct description *description = report->description;
    const struct access_directions *directions = report->directions;
    if (description->failure) {
        fputs("  ", out);
        print_reason(out, "no ranges", description->failure, description->failure_line);
        fputc('\n', out);
    }
    for (uint32_t i = 0; i < description->count; i++)
        print_access(out, &description->accesses[i]);
    if (!description->failure && !description->count && !description->has_calls)
        fputs("  touches no global memory\n", out);
    if (description->has_calls)
        fputs("  some calls are not followed: what they touch is known by argument, not by line\n",
              out);
    if (!directions->complete) {
        fputs("  ", out);
        print_reason(out, "there is or may be more", directions->reason, 0);
        fputc('\n', out);
    }
}

/* ---- A launch ---- */

static void print_size(FILE *out, const char *word, const uint32_t size[3])
{
    fprintf(out, " %s=%" PRIu32, word, size[0]);
    if (size[1] > 1 || size[2] > 1)
        fprintf(out, ",%" PRIu32, size[1]);
    if (size[2] > 1)
        fprintf(out, ",%" PRIu32, size[2]);
}

/* The base by the name it was given; *more is what the name's pointer lies behind it, *address what
 * was given as a number, else 0. */
static void launch_base(const struct kernel_report *report, const struct access_base *base,
                        char text[REPORT_BASE], uint64_t *more, uint64_t *address)
{
    const char *name = NULL;
    *more = *address = 0;
    report_base(report, base, text);
    char *plain = demangle_words(text);
    if (plain)
        snprintf(text, REPORT_BASE, "%s", plain);
    free(plain);
    if (base->kind != ACCESS_BASE_PARAM)
        return;
    name = launch_name_at(report->launch, base->param_offset, more);
    if (name)
        snprintf(text, REPORT_BASE, "%s", name);
    else
        launch_pointer_at(report->launch, report->function, base->param_index, base->param_offset,
                          address);
}

/* "128 + 4096*(0..15)" */
static void print_dims(FILE *out, const struct access_range *range, int64_t offset)
{
    bool first = offset == 0;
    if (!first)
        fprintf(out, "%" PRId64, offset);
    for (uint32_t i = 0; i < range->dim_count; i++) {
        const struct access_dim *dim = &range->dims[i];
        bool negative = dim->stride < 0;
        fprintf(out, "%s%" PRIu64 "*(0..%" PRIu64 ")",
                first      ? (negative ? "-" : "")
                : negative ? " - "
                           : " + ",
                negative ? -(uint64_t)dim->stride : (uint64_t)dim->stride, dim->count - 1);
        first = false;
    }
}

static void print_range(FILE *out, const struct kernel_report *report,
                        const struct access_range *range)
{
    char base[REPORT_BASE];
    uint64_t more, address;
    launch_base(report, &report->set->bases[range->base], base, &more, &address);
    int64_t offset = (int64_t)((uint64_t)range->offset + more);
    fprintf(out, "    %-6s %s", report_kind(range->kind), base);
    if (range->bytes == ACCESS_WHOLE) {
        fputs("[all of it]", out);
    } else if (range->bytes == ACCESS_TO_END) {
        fprintf(out, "[%" PRId64 " .. end of its allocation)", offset);
    } else if (range->dim_count == 0) {
        fprintf(out, "[%" PRId64 " .. %" PRId64 ")", offset,
                (int64_t)((uint64_t)offset + range->bytes));
    } else {
        fputc('[', out);
        print_dims(out, range, offset);
        fprintf(out, "], %" PRIu64 " byte%s each", range->bytes, range->bytes == 1 ? "" : "s");
    }
    if (address)
        fprintf(out, ", from %#" PRIx64, address + (uint64_t)range->offset);
    if (range->bound && range->bytes < ACCESS_WHOLE)
        fputs(", as far as its allocation goes", out);
    if (report->set->bases[range->base].guessed)
        fputs(", if that is a pointer", out);
    fputs("  ", out);
    print_reason(out, range->bound ? "bounded" : "exact", report_bound(range->bound),
                 range->bound ? range->line : 0);
    fputc('\n', out);
}

static void print_launch(FILE *out, const struct kernel_report *report)
{
    const struct kernel_launch *launch = report->launch;
    const struct access_set *set = report->set;
    fputs("  launch", out);
    print_size(out, "grid", launch->grid);
    print_size(out, "block", launch->block);
    if (launch->cluster[0])
        print_size(out, "cluster", launch->cluster);
    if (launch->shared)
        fprintf(out, " shared=%" PRIu32, launch->shared);
    fputc('\n', out);
    for (uint32_t i = 0; i < set->range_count; i++)
        print_range(out, report, &set->ranges[i]);
    if (!set->complete) {
        fputs("    ", out);
        print_reason(out, "there is or may be more", set->reason,
                     strstr(set->reason, "PTX line") ? 0 : set->reason_line);
        fputc('\n', out);
    } else if (!set->range_count) {
        fputs("    touches nothing\n", out);
    }
}

void kernel_text(FILE *out, const struct kernel_report *report, bool verbose)
{
    fprintf(out, "%s\n", report->name);
    print_image(out, report, verbose);
    print_parameters(out, report);
    if (report->function)
        print_accesses(out, report);
    if (report->set)
        print_launch(out, report);
    fputc('\n', out);
}
