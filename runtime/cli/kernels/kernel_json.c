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

/* ---- A kernel ---- */

static void object_end(struct text *out)
{
    json_comma_drop(out);
    text_add(out, "}");
}

static void json_other(struct text *out, const char *kind, uint32_t arch, bool *first)
{
    text_add(out, "%s{\"kind\": \"%s\", \"arch\": %" PRIu32 "}", *first ? "" : ", ", kind, arch);
    *first = false;
}

static void json_image(struct text *out, const struct kernel_report *report)
{
    const struct kernel_program *program = report->program;
    bool first = true;
    text_add(out, "\"image\": {\"kind\": \"%s\", \"arch\": %" PRIu32 ", \"others\": [",
             report->function ? "ptx" : "cubin", report->arch);
    for (size_t i = 0; i < program->text_count; i++)
        if (program->texts[i].unit == program->texts[0].unit &&
            program->texts[i].arch != report->arch)
            json_other(out, "ptx", program->texts[i].arch, &first);
    for (size_t i = 0; i < program->code_count; i++)
        if ((report->function || program->codes[i].entry.arch != report->arch) &&
            (i == 0 || program->codes[i - 1].entry.arch != program->codes[i].entry.arch))
            json_other(out, "cubin", program->codes[i].entry.arch, &first);
    text_add(out, "]},\n   ");
}

static void json_parameters(struct text *out, const struct kernel_report *report)
{
    static const char *const classes[] = {[PARAMETER_SCALAR] = "scalar",
                                          [PARAMETER_POINTER] = "pointer",
                                          [PARAMETER_STRUCT] = "struct",
                                          [PARAMETER_OBJECT] = "object"};
    if (!report->has_parameters) {
        text_add(out, "\"parameters\": null,\n   ");
        return;
    }
    text_add(out, "\"parameters\": [");
    for (uint32_t i = 0; i < report->parameter_count; i++) {
        const struct parameter *parameter = &report->parameters[i];
        text_add(out, i ? ",\n      {" : "\n      {");
        json_member_number(out, "index", i);
        json_member_number(out, "offset", parameter->offset);
        json_member_number(out, "bytes", parameter->bytes);
        json_member_string(out, "type", parameter->type);
        json_member_string(out, "declared", parameter->declared ? parameter->declared : "");
        json_member_string(out, "class", classes[parameter->class]);
        json_member_truth(out, "reads", parameter->reads);
        json_member_truth(out, "writes", parameter->writes);
        json_member_truth(out, "atomics", parameter->atomics);
        object_end(out);
    }
    text_add(out, "],\n   ");
}

static void json_pointers(struct text *out, const struct kernel_report *report)
{
    const struct access_directions *directions = report->directions;
    char base[REPORT_BASE];
    json_member_truth(out, "complete", directions && directions->complete);
    json_member_string(out, "reason",
                       directions ? directions->reason : "machine code only, no PTX");
    json_member_number(out, "line", directions ? directions->reason_line : 0);
    text_add(out, "\n   \"pointers\": [");
    for (uint32_t i = 0; directions && i < directions->count; i++) {
        const struct access_pointer *pointer = &directions->pointers[i];
        report_pointer(report, pointer, base);
        text_add(out, i ? ",\n      {" : "\n      {");
        json_member_string(out, "base", base);
        json_member_truth(out, "reads", pointer->reads);
        json_member_truth(out, "writes", pointer->writes);
        json_member_truth(out, "atomics", pointer->atomics);
        json_member_truth(out, "guessed", pointer->guessed);
        object_end(out);
    }
    text_add(out, "],\n   ");
}

static void json_access(struct text *out, const struct describe_access *access)
{
    static const char *const kinds[] = {"read", "write", "atomic"};
    char *line = describe_line(access);
    text_add(out, "\"kinds\": [");
    for (unsigned k = 0; k < 3; k++)
        if (access->kinds & 1u << k)
            text_add(out, "\"%s\", ", kinds[k]);
    json_comma_drop(out);
    text_add(out, "], ");
    json_member_string(out, "base", access->base);
    json_member_string(out, "offset", access->offset);
    json_member_string(out, "loops", access->loops);
    json_member_string(out, "guard", access->guard);
    json_member_string(out, "text", line ? line : "");
    free(line);
    json_member_maybe(out, "bytes", access->bytes, access->bytes);
    json_member_string(out, "known", report_known(access->known));
    json_member_string(out, "reason", access->reason);
    json_member_number(out, "reason_line", access->reason_line);
    json_member_number(out, "line", access->line);
    object_end(out);
}

static void json_accesses(struct text *out, const struct kernel_report *report)
{
    const struct description *description = report->description;
    text_add(out, "\"accesses\": [");
    for (uint32_t i = 0; description && i < description->count; i++) {
        text_add(out, i ? ",\n      {" : "\n      {");
        json_access(out, &description->accesses[i]);
    }
    text_add(out, "],\n   ");
    json_member_string(out, "ranges_failure",
                       description && description->failure ? description->failure : "");
}

/* ---- A launch ---- */

static void json_size(struct text *out, const char *key, const uint32_t size[3])
{
    text_add(out, "\"%s\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "], ", key, size[0], size[1],
             size[2]);
}

static void json_extent(struct text *out, const struct access_range *range)
{
    if (range->bytes == ACCESS_TO_END || range->bytes == ACCESS_WHOLE)
        text_add(out, "\"bytes\": null, \"extent\": \"%s\", ",
                 range->bytes == ACCESS_WHOLE ? "whole" : "to end");
    else
        text_add(out, "\"bytes\": %" PRIu64 ", \"extent\": \"bytes\", ", range->bytes);
    text_add(out, "\"dims\": [");
    for (uint32_t i = 0; i < range->dim_count; i++)
        text_add(out, "%s{\"stride\": %" PRId64 ", \"count\": %" PRIu64 "}", i ? ", " : "",
                 range->dims[i].stride, range->dims[i].count);
    text_add(out, "], ");
}

static void json_range(struct text *out, const struct kernel_report *report,
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
    json_member_string(out, "kind", report_kind(range->kind));
    json_member_string(out, "base", text);
    json_member_string(out, "name", name);
    json_member_maybe(out, "address", has_address, address);
    text_add(out, "\"offset\": %" PRId64 ", ", (int64_t)((uint64_t)range->offset + more));
    json_extent(out, range);
    json_member_string(out, "known", range->bound ? "bounded" : "exact");
    json_member_string(out, "reason", report_bound(range->bound));
    json_member_number(out, "line", range->line);
    json_member_truth(out, "guessed", base->guessed);
    object_end(out);
}

static void json_launch(struct text *out, const struct kernel_report *report)
{
    const struct access_set *set = report->set;
    if (!set) {
        text_add(out, "\"launch\": null");
        return;
    }
    text_add(out, "\"launch\": {");
    json_size(out, "grid", report->launch->grid);
    json_size(out, "block", report->launch->block);
    json_size(out, "cluster", report->launch->cluster);
    json_member_number(out, "shared", report->launch->shared);
    json_member_truth(out, "complete", set->complete);
    json_member_truth(out, "exact", set->exact);
    json_member_string(out, "reason", set->reason ? set->reason : "");
    json_member_number(out, "line", set->reason_line);
    text_add(out, "\n      \"ranges\": [");
    for (uint32_t i = 0; i < set->range_count; i++) {
        text_add(out, i ? ",\n         {" : "\n         {");
        json_range(out, report, &set->ranges[i]);
    }
    text_add(out, "]}");
}

static void print(FILE *out, struct text *text)
{
    if (text->data)
        fputs(text->data, out);
    if (text->cut)
        fputs("csan kernels: memory is short: the JSON is cut off\n", stderr);
    text_free(text);
}

void kernel_json(FILE *out, const struct kernel_report *report, bool first)
{
    struct text text = {0};
    text_add(&text, first ? "\n  {" : ",\n  {");
    json_member_string(&text, "name", report->name);
    json_member_string(&text, "mangled", report->mangled);
    text_add(&text, "\n   ");
    json_image(&text, report);
    json_parameters(&text, report);
    json_pointers(&text, report);
    json_accesses(&text, report);
    json_launch(&text, report);
    text_add(&text, "}");
    print(out, &text);
}

void kernel_json_start(FILE *out, const char *path)
{
    struct text text = {0};
    text_add(&text, "{");
    json_member_string(&text, "file", path);
    text_add(&text, "\"version\": 1,\n \"kernels\": [");
    print(out, &text);
}

void kernel_json_end(FILE *out, char *const *problems, size_t count)
{
    struct text text = {0};
    text_add(&text, "],\n \"problems\": [");
    for (size_t i = 0; i < count; i++) {
        text_add(&text, i ? ", " : "");
        json_string_add(&text, problems[i]);
    }
    text_add(&text, "]}\n");
    print(out, &text);
}
