/* Kernels for a script to read: one JSON object (RFC 8259). Keys are only ever added; all are
 * always there unless said otherwise.
 *
 *   {"file": PATH, "version": 1,
 *    "kernels": [{
 *      "name": "scale(float*, float, int)", "mangled": "_Z5scalePffi",
 *      "image": {"kind": "ptx" | "cubin", "arch": 75,      what csan reads of it
 *                "others": [{"kind": ..., "arch": ...}]},  what else the file has
 *      "parameters": [{"index": 0, "offset": 0, "bytes": 8, "type": "u64", "declared": "float*",
 *                      "class": "pointer" | "scalar" | "struct" | "object",
 *                      "reads": true, "writes": true, "atomics": false}] | null: not known,
 *      "complete": true,              pointers has everything; else reason says what is missing
 *      "reason": "", "line": 0,       in the PTX text; 0: no place
 *      "pointers": [{"base": "arg0", "reads": .., "writes": .., "atomics": .., "guessed": false}],
 *      "accesses": [{"kinds": ["read"], "base": "arg0", "offset": "4*threadIdx.x", "loops": "",
 *                    "guard": "threadIdx.x < arg2", "text": "read arg0[4*threadIdx.x] if ...",
 *                    "bytes": 4 | null, "known": "exact" | "bounded" | "unknown",
 *                    "reason": "", "reason_line": 0, "line": 31}],
 *      "ranges_failure": "" ,         why accesses is empty though there may be some
 *      "launch": null | {             with --launch
 *        "grid": [4, 1, 1], "block": [256, 1, 1], "cluster": [0, 0, 0], "shared": 0,
 *        "complete": true, "exact": true, "reason": "", "line": 0,
 *        "ranges": [{"kind": "write", "base": "arg0", "name": "p0" | null, "address": 4096 | null,
 *                    "offset": 0, "bytes": 4000 | null, "extent": "bytes" | "to end" | "whole",
 *                    "dims": [{"stride": 4096, "count": 64}], "known": "exact" | "bounded",
 *                    "reason": "", "line": 33, "guessed": false}]}}],
 *    "problems": ["fat binary: cut off at offset 100"]}
 *
 * A range touches [base + offset + sum of i * stride, + bytes) for all 0 <= i < count of each dim;
 * offset counts from the pointer as it was passed, "address" is that pointer when it was a number,
 * "name" when it was a name (offset then counts from the name). Without PTX there are no pointers
 * and accesses, and complete is false. */
#include "csan/base/json_text.h"
#include "runtime/cli/kernels/kernel_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ---- */

static void json_text(FILE *out, const char *text)
{
    struct text quoted = {0};
    json_string_add(&quoted, text);
    fputs(quoted.data ? quoted.data : "null", out);
    text_free(&quoted);
}

static void key_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\": ", key);
    json_text(out, text);
    fputs(", ", out);
}

static void key_number(FILE *out, const char *key, uint64_t number)
{
    fprintf(out, "\"%s\": %" PRIu64 ", ", key, number);
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

static void key_truth(FILE *out, const char *key, bool value)
{
    fprintf(out, "\"%s\": %s, ", key, truth(value));
}

/* ---- A kernel ---- */

static void json_other(FILE *out, const char *kind, uint32_t arch, bool *first)
{
    fprintf(out, "%s{\"kind\": \"%s\", \"arch\": %" PRIu32 "}", *first ? "" : ", ", kind, arch);
    *first = false;
}

static void json_image(FILE *out, const struct kernel_report *report)
{
    const struct kernel_program *program = report->program;
    bool first = true;
    fprintf(out, "\"image\": {\"kind\": \"%s\", \"arch\": %" PRIu32 ", \"others\": [",
            report->function ? "ptx" : "cubin", report->arch);
    for (size_t i = 0; i < program->text_count; i++)
        if (program->texts[i].unit == program->texts[0].unit &&
            program->texts[i].arch != report->arch)
            json_other(out, "ptx", program->texts[i].arch, &first);
    for (size_t i = 0; i < program->code_count; i++)
        if ((report->function || program->codes[i].entry.arch != report->arch) &&
            (i == 0 || program->codes[i - 1].entry.arch != program->codes[i].entry.arch))
            json_other(out, "cubin", program->codes[i].entry.arch, &first);
    fputs("]},\n   ", out);
}

static void json_parameters(FILE *out, const struct kernel_report *report)
{
    static const char *const classes[] = {[PARAMETER_SCALAR] = "scalar",
                                          [PARAMETER_POINTER] = "pointer",
                                          [PARAMETER_STRUCT] = "struct",
                                          [PARAMETER_OBJECT] = "object"};
    if (!report->has_parameters) {
        fputs("\"parameters\": null,\n   ", out);
        return;
    }
    fputs("\"parameters\": [", out);
    for (uint32_t i = 0; i < report->parameter_count; i++) {
        const struct parameter *parameter = &report->parameters[i];
        fputs(i ? ",\n      {" : "\n      {", out);
        key_number(out, "index", i);
        key_number(out, "offset", parameter->offset);
        key_number(out, "bytes", parameter->bytes);
        key_text(out, "type", parameter->type);
        key_text(out, "declared", parameter->declared ? parameter->declared : "");
        key_text(out, "class", classes[parameter->class]);
        key_truth(out, "reads", parameter->reads);
        key_truth(out, "writes", parameter->writes);
        fprintf(out, "\"atomics\": %s}", truth(parameter->atomics));
    }
    fputs("],\n   ", out);
}

static void json_pointers(FILE *out, const struct kernel_report *report)
{
    const struct access_directions *directions = report->directions;
    char base[REPORT_BASE];
    key_truth(out, "complete", directions && directions->complete);
    key_text(out, "reason", directions ? directions->reason : "machine code only, no PTX");
    key_number(out, "line", directions ? directions->reason_line : 0);
    fputs("\n   \"pointers\": [", out);
    for (uint32_t i = 0; directions && i < directions->count; i++) {
        const struct access_pointer *pointer = &directions->pointers[i];
        report_pointer(report, pointer, base);
        fputs(i ? ",\n      {" : "\n      {", out);
        key_text(out, "base", base);
        key_truth(out, "reads", pointer->reads);
        key_truth(out, "writes", pointer->writes);
        key_truth(out, "atomics", pointer->atomics);
        fprintf(out, "\"guessed\": %s}", truth(pointer->guessed));
    }
    fputs("],\n   ", out);
}

static void json_access(FILE *out, const struct describe_access *access)
{
    static const char *const kinds[] = {"\"read\"", "\"write\"", "\"atomic\""};
    const char *before = "";
    char *line = describe_line(access);
    fputs("\"kinds\": [", out);
    for (unsigned k = 0; k < 3; k++)
        if (access->kinds & 1u << k) {
            fprintf(out, "%s%s", before, kinds[k]);
            before = ", ";
        }
    fputs("], ", out);
    key_text(out, "base", access->base);
    key_text(out, "offset", access->offset);
    key_text(out, "loops", access->loops);
    key_text(out, "guard", access->guard);
    key_text(out, "text", line ? line : "");
    free(line);
    if (access->bytes)
        key_number(out, "bytes", access->bytes);
    else
        fputs("\"bytes\": null, ", out);
    key_text(out, "known", report_known(access->known));
    key_text(out, "reason", access->reason);
    key_number(out, "reason_line", access->reason_line);
    fprintf(out, "\"line\": %" PRIu32, access->line);
}

static void json_accesses(FILE *out, const struct kernel_report *report)
{
    const struct description *description = report->description;
    fputs("\"accesses\": [", out);
    for (uint32_t i = 0; description && i < description->count; i++) {
        fputs(i ? ",\n      {" : "\n      {", out);
        json_access(out, &description->accesses[i]);
        fputc('}', out);
    }
    fputs("],\n   ", out);
    key_text(out, "ranges_failure",
             description && description->failure ? description->failure : "");
}

/* ---- A launch ---- */

static void json_size(FILE *out, const char *key, const uint32_t size[3])
{
    fprintf(out, "\"%s\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "], ", key, size[0], size[1],
            size[2]);
}

static void json_extent(FILE *out, const struct access_range *range)
{
    if (range->bytes == ACCESS_TO_END || range->bytes == ACCESS_WHOLE)
        fprintf(out, "\"bytes\": null, \"extent\": \"%s\", ",
                range->bytes == ACCESS_WHOLE ? "whole" : "to end");
    else
        fprintf(out, "\"bytes\": %" PRIu64 ", \"extent\": \"bytes\", ", range->bytes);
    fputs("\"dims\": [", out);
    for (uint32_t i = 0; i < range->dim_count; i++)
        fprintf(out, "%s{\"stride\": %" PRId64 ", \"count\": %" PRIu64 "}", i ? ", " : "",
                range->dims[i].stride, range->dims[i].count);
    fputs("], ", out);
}

static void json_range(FILE *out, const struct kernel_report *report,
                       const struct access_range *range)
{
    const struct access_base *base = &report->set->bases[range->base];
    char text[REPORT_BASE];
    uint64_t more = 0, address = 0;
    bool is_param = base->kind == ACCESS_BASE_PARAM;
    const char *name = is_param ? launch_name_at(report->launch, base->param_offset, &more) : NULL;
    bool has_address = is_param && !name &&
                       launch_pointer_at(report->launch, report->function, base->param_index,
                                         base->param_offset, &address);
    report_base(report, base, text);
    key_text(out, "kind", report_kind(range->kind));
    key_text(out, "base", text);
    if (name)
        key_text(out, "name", name);
    else
        fputs("\"name\": null, ", out);
    if (has_address)
        key_number(out, "address", address);
    else
        fputs("\"address\": null, ", out);
    fprintf(out, "\"offset\": %" PRId64 ", ", (int64_t)((uint64_t)range->offset + more));
    json_extent(out, range);
    key_text(out, "known", range->bound ? "bounded" : "exact");
    key_text(out, "reason", report_bound(range->bound));
    key_number(out, "line", range->line);
    fprintf(out, "\"guessed\": %s", truth(base->guessed));
}

static void json_launch(FILE *out, const struct kernel_report *report)
{
    const struct access_set *set = report->set;
    if (!set) {
        fputs("\"launch\": null", out);
        return;
    }
    fputs("\"launch\": {", out);
    json_size(out, "grid", report->launch->grid);
    json_size(out, "block", report->launch->block);
    json_size(out, "cluster", report->launch->cluster);
    key_number(out, "shared", report->launch->shared);
    key_truth(out, "complete", set->complete);
    key_truth(out, "exact", set->exact);
    key_text(out, "reason", set->reason ? set->reason : "");
    key_number(out, "line", set->reason_line);
    fputs("\n      \"ranges\": [", out);
    for (uint32_t i = 0; i < set->range_count; i++) {
        fputs(i ? ",\n         {" : "\n         {", out);
        json_range(out, report, &set->ranges[i]);
        fputc('}', out);
    }
    fputs("]}", out);
}

void kernel_json(FILE *out, const struct kernel_report *report, bool first)
{
    fputs(first ? "\n  {" : ",\n  {", out);
    key_text(out, "name", report->name);
    key_text(out, "mangled", report->mangled);
    fputs("\n   ", out);
    json_image(out, report);
    json_parameters(out, report);
    json_pointers(out, report);
    json_accesses(out, report);
    json_launch(out, report);
    fputc('}', out);
}

void kernel_json_start(FILE *out, const char *path)
{
    fputs("{", out);
    key_text(out, "file", path);
    fputs("\"version\": 1,\n \"kernels\": [", out);
}

void kernel_json_end(FILE *out, char *const *problems, size_t count)
{
    fputs("],\n \"problems\": [", out);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", out);
        json_text(out, problems[i]);
    }
    fputs("]}\n", out);
}
