/* `csan report FILE`: the races of a recording, or of a report that was written as JSON, in another
 * form. Exit code: 0, races or not; 2 where the file cannot be read to its end, after what could be
 * read. */
#include "runtime/cli/command.h"
#include "runtime/cli/finding_set.h"
#include "runtime/cli/report_page.h"

#include <string.h>

static void usage(FILE *out)
{
    fputs(
        "usage: csan report [OPTION...] FILE\n\n"
        "Prints the races of a recording (csan record), or of a report in JSON, for people or for\n"
        "tools. The exit code is 0 whether there are races or not, and 2 when the file cannot be\n"
        "read to its end: what could be read is printed.\n\n"
        "  --format=text      in words, as csan run prints them (the default)\n"
        "  --format=json      csan's own; include/csan/csan-report.schema.json describes it\n"
        "  --format=sarif     SARIF 2.1.0, for editors and code hosting\n"
        "  --html=FILE        a page for a browser, one file: each race among the ops and waits\n"
        "                     around it, with its source, memory and stacks\n"
        "  --editor=URL       what opens a line on that page, with {file} and {line} in it: as a\n"
        "                     rule vscode://file/{file}:{line}; empty: no links\n"
        "  --no-source        no lines of source on that page\n"
        "  --dot=FILE         for Graphviz: what happens before what around each race, of a "
        "recording\n"
        "  --perfetto=FILE    a recording in Chrome's trace format, with an arrow for each wait "
        "and\n"
        "                     each race: for ui.perfetto.dev and chrome://tracing\n"
        "  --gen-suppressions  a file for option suppressions that names each of the races\n"
        "  --output=FILE      write there, and not to standard output; -o FILE does the same\n"
        "  --options=...      as CSAN_OPTIONS, for a recording; csan help lists them\n",
        out);
}

struct request {
    enum finding_output output;
    const char *path, *output_path;
};

static int fail(const char *what, const char *which)
{
    fprintf(stderr, "csan report: %s '%s'; `csan report --help` lists them\n", what, which);
    return 2;
}

/* The value of an option that is written "--name=VALUE" or "--name VALUE"; NULL: it is not that
 * one, or there is none. */
static const char *value_of(const char *name, const char *option, int argc, char **argv, int *i)
{
    size_t length = strlen(name);
    if (strncmp(option, name, length) != 0)
        return NULL;
    if (option[length] == '=')
        return option + length + 1;
    return !option[length] && *i + 1 < argc ? argv[++*i] : NULL;
}

/* 0, or the exit code, with a message said. */
static int take_option(struct finding_set *set, struct request *request, int argc, char **argv,
                       int *i)
{
    const char *option = argv[*i], *value;
    if (strcmp(option, "--gen-suppressions") == 0) {
        request->output = OUTPUT_SUPPRESSIONS;
    } else if ((value = value_of("--html", option, argc, argv, i))) {
        request->output = OUTPUT_PAGE;
        request->output_path = value;
    } else if (strcmp(option, "--no-source") == 0) {
        set->without_source = true;
    } else if ((value = value_of("--editor", option, argc, argv, i))) {
        set->editor = value;
        if (report_page_editor_problem(value)) {
            fprintf(stderr, "csan report: --editor='%s': %s\n", value,
                    report_page_editor_problem(value));
            return 2;
        }
    } else if ((value = value_of("--dot", option, argc, argv, i))) {
        request->output = OUTPUT_GRAPH;
        request->output_path = value;
    } else if ((value = value_of("--perfetto", option, argc, argv, i))) {
        request->output = OUTPUT_TRACE;
        request->output_path = value;
    } else if ((value = value_of("--output", option, argc, argv, i)) ||
               (value = value_of("-o", option, argc, argv, i))) {
        request->output_path = value;
    } else if ((value = value_of("--options", option, argc, argv, i))) {
        set->options = value;
    } else if (!(value = value_of("--format", option, argc, argv, i))) {
        return fail("there is no option, or it lacks its value:", option);
    } else if (!finding_output_named(value, &request->output)) {
        return fail("there is no format", value);
    }
    return 0;
}

/* Options may stand behind the file, too. 0: go on. -1: done (help). Else the exit code. */
static int parse(struct finding_set *set, struct request *request, int argc, char **argv)
{
    bool plain = false;
    int files = 0;
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        if (plain || argument[0] != '-' || !argument[1]) {
            request->path = argument;
            files++;
        } else if (strcmp(argument, "--") == 0) {
            plain = true;
        } else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            usage(stdout);
            return -1;
        } else {
            int code = take_option(set, request, argc, argv, &i);
            if (code)
                return code;
        }
    }
    if (files == 1)
        return 0;
    usage(stderr);
    return 2;
}

int command_report(int argc, char **argv)
{
    struct finding_set set = {.command = "report"};
    struct request request = {.output = OUTPUT_TEXT};
    int code = parse(&set, &request, argc, argv);
    if (code)
        return code < 0 ? 0 : code;
    code = finding_set_add(&set, request.path);
    if (set.process_count) {
        int written = finding_set_write(&set, request.output, request.output_path);
        code = code ? code : written;
    }
    finding_set_free(&set);
    return code;
}
