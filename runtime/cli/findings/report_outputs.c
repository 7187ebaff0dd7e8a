/* See report_outputs.h. */
#include "runtime/cli/findings/report_outputs.h"
#include "csan/base/path_name.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char outputs_usage[] =
    "  --format=text      in words, as csan run prints them (the default)\n"
    "  --format=json      csan's own; csan-report.schema.json, beside csan.h, describes it\n"
    "  --format=sarif     SARIF 2.1.0, for editors and code hosting\n"
    "  --output=FILE      write what --format says there, and not to standard output\n"
    "  -o FILE            the same\n"
    "  --text=FILE        the report in words into a file, beside other outputs\n"
    "  --json=FILE        likewise in JSON\n"
    "  --sarif=FILE       likewise in SARIF\n";

/* ---- asking */

static const struct {
    const char *name;
    enum finding_output output;
    bool drawn;
} forms[] = {
    {"--text", OUTPUT_TEXT, false},   {"--json", OUTPUT_JSON, false},
    {"--sarif", OUTPUT_SARIF, false}, {"--html", OUTPUT_PAGE, true},
    {"--dot", OUTPUT_GRAPH, true},    {"--perfetto", OUTPUT_TRACE, true},
};

static void add(struct report_outputs *outputs, struct arguments *arguments,
                enum finding_output output, const char *path)
{
    if (outputs->count == OUTPUTS_MAX) {
        arguments_fail(arguments, "that is more than %d outputs", OUTPUTS_MAX);
        return;
    }
    outputs->items[outputs->count].output = output;
    outputs->items[outputs->count++].path = path;
}

static void form_add(struct report_outputs *outputs, struct arguments *arguments,
                     enum finding_output output)
{
    if (outputs->form_count == OUTPUTS_MAX)
        arguments_fail(arguments, "that is more than %d outputs", OUTPUTS_MAX);
    else
        outputs->forms[outputs->form_count++] = output;
}

static void path_add(struct report_outputs *outputs, struct arguments *arguments, const char *path)
{
    if (!*path && !arguments->code)
        arguments_fail(arguments, "the name of an output is empty");
    else if (outputs->path_count == OUTPUTS_MAX)
        arguments_fail(arguments, "that is more than %d outputs", OUTPUTS_MAX);
    else
        outputs->paths[outputs->path_count++] = path;
}

bool outputs_take(struct report_outputs *outputs, struct arguments *arguments, bool drawn)
{
    const char *value;
    enum finding_output output;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if ((forms[i].drawn && !drawn) || !argument_has(arguments, forms[i].name, NULL, &value))
            continue;
        if (!*value && !arguments->code)
            arguments_fail(arguments, "%s= lacks the name of a file", forms[i].name);
        add(outputs, arguments, forms[i].output, value);
        return true;
    }
    if (drawn && argument_is(arguments, "--gen-suppressions")) {
        form_add(outputs, arguments, OUTPUT_SUPPRESSIONS);
    } else if (argument_has(arguments, "--output", "-o", &value)) {
        path_add(outputs, arguments, value);
    } else if (argument_has(arguments, "--format", NULL, &value)) {
        if (finding_output_named(value, &output))
            form_add(outputs, arguments, output);
        else if (!arguments->code)
            arguments_fail(arguments, "there is no format '%s'; write text, json or sarif", value);
    } else {
        return false;
    }
    return true;
}

/* ---- where each goes */

/* The folder that the file is in, or is to be made in. */
static bool folder_of(const char *path, struct stat *status)
{
    char *copy = strdup(path);
    bool known = copy && stat(dirname(copy), status) == 0;
    free(copy);
    return known;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    bool is_a = stat(a, &x) == 0, is_b = stat(b, &y) == 0;
    if (is_a && is_b)
        return x.st_dev == y.st_dev && x.st_ino == y.st_ino && S_ISREG(x.st_mode);
    return !is_a && !is_b && strcmp(path_name(a), path_name(b)) == 0 && folder_of(a, &x) &&
           folder_of(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void refuse_inputs(const struct report_outputs *outputs, struct arguments *arguments,
                          const char *const *inputs, size_t input_count)
{
    for (size_t i = 0; i < outputs->count; i++)
        for (size_t k = 0; k < input_count && !arguments->code; k++)
            if (outputs->items[i].path && inputs[k] && *inputs[k] &&
                same_file(outputs->items[i].path, inputs[k]))
                arguments_fail(arguments,
                               "'%s' is read, so it is not written over; give the output another "
                               "name",
                               outputs->items[i].path);
}

static void refuse_twins(const struct report_outputs *outputs, struct arguments *arguments)
{
    for (size_t i = 0; i < outputs->count; i++) {
        const char *path = outputs->items[i].path;
        for (size_t k = 0; k < i && !arguments->code; k++) {
            const char *other = outputs->items[k].path;
            if (!path && !other)
                arguments_fail(arguments, "two outputs for standard output; give each a file, as "
                                          "with --json=FILE");
            else if (path && other && same_file(path, other))
                arguments_fail(arguments, "two outputs for '%s'; give each a file of its own",
                               path);
        }
    }
}

void outputs_settle(struct report_outputs *outputs, struct arguments *arguments,
                    const char *const *inputs, size_t input_count)
{
    if (!outputs->form_count && (outputs->path_count || !outputs->count))
        form_add(outputs, arguments, OUTPUT_TEXT);
    if (outputs->path_count > outputs->form_count)
        arguments_fail(arguments, "there are more files (-o) than formats (--format) for them");
    for (size_t i = 0; i < outputs->form_count && !arguments->code; i++)
        add(outputs, arguments, outputs->forms[i],
            i < outputs->path_count ? outputs->paths[i] : NULL);
    refuse_twins(outputs, arguments);
    refuse_inputs(outputs, arguments, inputs, input_count);
}

int outputs_write(const struct report_outputs *outputs, struct finding_set *set)
{
    int code = 0;
    for (size_t i = 0; i < outputs->count; i++)
        set->traced |= outputs->items[i].output == OUTPUT_TRACE;
    for (size_t i = 0; i < outputs->count; i++) {
        int written = finding_set_write(set, outputs->items[i].output, outputs->items[i].path);
        code = code ? code : written;
    }
    return code;
}
