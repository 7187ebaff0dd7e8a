/* `csan report FILE`: prints the races of a recording, or of a report in JSON, in other forms. Exit
 * code: 0, with races or without; 2 for wrong usage, and if the file cannot be read to its end,
 * after what could be read. */
#include "runtime/cli/command.h"
#include "runtime/cli/findings/report_outputs.h"
#include "runtime/cli/findings/report_page.h"

static void usage(FILE *out)
{
    fprintf(
        out,
        "usage: csan report [OPTION...] FILE\n\n"
        "Prints the races of a recording (csan record), or of a report in JSON, for people or for\n"
        "tools: in all forms that are asked for. FILE is never written over. The exit code is 0\n"
        "whether there are races or not, and 2 when the file cannot be read to its end: what\n"
        "could be read is printed.\n\n"
        "%s"
        "  --html=FILE        a page for a browser, one file: each race among the ops and waits\n"
        "                     around it, with its source, memory and stacks\n"
        "  --editor=URL       what opens a line on that page, with {file} and {line} in it: as a\n"
        "                     rule vscode://file/{file}:{line}; empty: no links\n"
        "  --no-source        no lines of source on that page\n"
        "  --dot=FILE         for Graphviz: what happens before what around each race, of a\n"
        "                     recording\n"
        "  --perfetto=FILE    a recording in Chrome's trace format, with an arrow for each wait\n"
        "                     and each race: for ui.perfetto.dev and chrome://tracing\n"
        "  --gen-suppressions  a file for option suppressions with a rule for each of the races\n"
        "  --baseline=FILE    only what is new since this report in JSON or recording\n"
        "  --options=...      as CSAN_OPTIONS, for a recording; csan help lists them\n",
        outputs_usage);
}

struct request {
    struct report_outputs outputs;
    const char *path, *options, *baseline, *editor;
    bool without_source;
};

static void take_option(struct request *request, struct arguments *arguments)
{
    if (argument_is(arguments, "--no-source"))
        request->without_source = true;
    else if (!outputs_take(&request->outputs, arguments, true) &&
             !argument_has(arguments, "--baseline", NULL, &request->baseline) &&
             !argument_has(arguments, "--options", NULL, &request->options) &&
             !argument_has(arguments, "--editor", NULL, &request->editor))
        argument_unknown(arguments);
    const char *problem = request->editor ? report_page_editor_problem(request->editor) : NULL;
    if (problem && !arguments->code)
        arguments_fail(arguments, "--editor='%s': %s", request->editor, problem);
}

/* Options may stand behind the file, too. */
static void parse(struct request *request, struct arguments *arguments)
{
    while (!arguments->code && arguments->at < arguments->count) {
        if (argument_option(arguments))
            take_option(request, arguments);
        else
            argument_file(arguments, &request->path);
    }
    arguments_need(arguments, request->path);
}

int command_report(int argc, char **argv)
{
    static struct finding_set set = {.command = "report"};
    static struct request request;
    struct arguments arguments = arguments_of("report", usage, argc, argv);
    parse(&request, &arguments);
    if (!arguments.code)
        arguments.code = finding_set_options(&set, request.options);
    if (!arguments.code && request.baseline)
        snprintf(set.options.baseline, sizeof set.options.baseline, "%s", request.baseline);
    if (!arguments.code)
        outputs_settle(
            &request.outputs, &arguments,
            (const char *const[]){request.path, set.options.baseline, set.options.suppressions}, 3);
    if (arguments.code)
        return arguments_exit_code(arguments.code);
    set.editor = request.editor;
    set.without_source = request.without_source;
    int code = finding_set_add(&set, request.path);
    if (set.process_count) {
        finding_set_compare(&set);
        int written = outputs_write(&request.outputs, &set);
        code = code ? code : written;
    }
    finding_set_free(&set);
    return code;
}
