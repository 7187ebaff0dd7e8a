/* `csan report FILE...`: prints the races of recordings, or of reports in JSON, in other forms.
 * Recordings of several processes are also replayed together, as csan merge --order does. Exit
 * code: 0, with races or without; 2 for wrong usage, and if the file cannot be read to its end,
 * after what could be read. */
#include "runtime/cli/command.h"
#include "runtime/cli/findings/linked_run.h"
#include "runtime/cli/findings/report_outputs.h"
#include "runtime/cli/findings/report_page.h"

#include <stdlib.h>

static void usage(FILE *out)
{
    fprintf(
        out,
        "usage: csan report [OPTION...] FILE...\n\n"
        "Prints the races of a recording (csan record), or of a report in JSON, for people or for\n"
        "tools: in all forms that are asked for. In the recordings of several processes it also\n"
        "finds the races between them, as csan merge --order does. Pictures have a group of\n"
        "streams for each process. No FILE is written over. The exit code is 0 whether there are\n"
        "races or not, and 2 when a file cannot be read to its end: what could be read is\n"
        "printed.\n\n"
        "%s"
        "  --html=FILE        a page for a browser, one file: each race among the ops and waits\n"
        "                     around it, with its source, memory and stacks\n"
        "  --editor=URL       what opens a line on that page, with {file} and {line} in it: as a\n"
        "                     rule vscode://file/{file}:{line}; empty: no links\n"
        "  --no-source        no lines of source on that page\n"
        "  --dot=FILE         for Graphviz: what happens before what around each race, of a\n"
        "                     recording\n"
        "  --perfetto=FILE    recordings in Chrome's trace format, with an arrow for each wait,\n"
        "                     message and race: for ui.perfetto.dev and chrome://tracing\n"
        "  --gen-suppressions  a file for option suppressions with a rule for each of the races\n"
        "  --baseline=FILE    only what is new since this report in JSON or recording\n"
        "  --options=...      as CSAN_OPTIONS, for a recording; csan help lists them\n",
        outputs_usage);
}

struct request {
    struct report_outputs outputs;
    const char *options, *baseline, *editor;
    const char **files; /* then the baseline and the suppressions, which are read, too */
    size_t file_count;
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

/* Options may stand behind files, too. */
static void parse(struct request *request, struct arguments *arguments)
{
    const char *file;
    request->files = calloc((size_t)arguments->count + 2, sizeof *request->files);
    while (!arguments->code && request->files && arguments->at < arguments->count) {
        if (argument_option(arguments))
            take_option(request, arguments);
        else if ((file = argument_next(arguments)))
            request->files[request->file_count++] = file;
    }
    arguments_need(arguments, request->file_count ? request->files : NULL);
}

static int report(struct finding_set *set, const struct request *request)
{
    int code = 0;
    for (size_t i = 0; i < request->file_count; i++) {
        int bad = finding_set_add(set, request->files[i]);
        code = code ? code : bad;
    }
    if (set->recording_count > 1) {
        int bad = linked_run_add(set);
        code = code ? code : bad;
    }
    if (!set->process_count)
        return code;
    finding_set_compare(set);
    int written = outputs_write(&request->outputs, set);
    return code ? code : written;
}

int command_report(int argc, char **argv)
{
    static struct finding_set set = {.command = "report", .drawn = true};
    static struct request request;
    struct arguments arguments = arguments_of("report", usage, argc, argv);
    parse(&request, &arguments);
    if (!arguments.code)
        arguments.code = finding_set_options(&set, request.options);
    if (!arguments.code && request.baseline)
        snprintf(set.options.baseline, sizeof set.options.baseline, "%s", request.baseline);
    if (!arguments.code) {
        request.files[request.file_count] = set.options.baseline;
        request.files[request.file_count + 1] = set.options.suppressions;
        outputs_settle(&request.outputs, &arguments, request.files, request.file_count + 2);
    }
    set.editor = request.editor;
    set.without_source = request.without_source;
    int code = arguments.code ? arguments_exit_code(arguments.code) : report(&set, &request);
    finding_set_free(&set);
    free(request.files);
    return code;
}
