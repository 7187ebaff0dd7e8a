/* `csan report FILE...`: prints the races of recordings, or of reports in JSON, in other forms.
 * Recordings of several processes are also replayed together, as csan merge --order does. Exit
 * code: 0, with races or without; 2 for wrong usage, and if the file cannot be read to its end,
 * after what could be read. */
#include "runtime/cli/command.h"
#include "runtime/cli/findings/linked_run.h"
#include "runtime/cli/findings/report_outputs.h"
#include "runtime/cli/findings/report_page.h"
#include "runtime/cli/timeline/other_trace.h"
#include "runtime/cli/timeline/report_trace.h"

#include <stdlib.h>
#include <string.h>

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
        "  --with=FILE        in that trace, too: what PyTorch's profiler (export_chrome_trace) "
        "or\n"
        "                     Nsight Systems (nsys export --type sqlite) recorded of the same run\n"
        "  --from=SECONDS     of that trace, what was called so long after the first call, or "
        "later\n"
        "  --to=SECONDS       ... or earlier\n"
        "  --stream=NAME      ... streams whose names have this in them; may be given again\n"
        "  --race=NUMBER      ... what is around this race\n"
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
    struct trace_choice choice;
    const char *with;
};

/* Whether it is that option; its value is a time. */
static bool has_seconds(struct arguments *arguments, const char *name, bool *has, double *seconds)
{
    const char *value;
    char *end;
    if (!argument_has(arguments, name, NULL, &value))
        return false;
    *seconds = strtod(value, &end);
    *has = true;
    if ((end == value || *end || !(*seconds >= 0)) && !arguments->code)
        arguments_fail(arguments, "%s='%s' is no number of seconds", name, value);
    return true;
}

static bool choice_take(struct trace_choice *choice, struct arguments *arguments)
{
    const char *value;
    unsigned long race;
    if (has_seconds(arguments, "--from", &choice->has_from, &choice->from) ||
        has_seconds(arguments, "--to", &choice->has_to, &choice->to))
        return true;
    if (argument_has_number(arguments, "--race", 1000000000, &race)) {
        choice->race = race;
        return true;
    }
    if (!argument_has(arguments, "--stream", NULL, &value))
        return false;
    if (choice->stream_count == TRACE_STREAMS_MAX)
        arguments_fail(arguments, "that is more than %d streams", TRACE_STREAMS_MAX);
    else
        choice->streams[choice->stream_count++] = value;
    return true;
}

static void take_option(struct request *request, struct arguments *arguments)
{
    if (argument_is(arguments, "--no-source"))
        request->without_source = true;
    else if (!outputs_take(&request->outputs, arguments, true) &&
             !argument_has(arguments, "--baseline", NULL, &request->baseline) &&
             !argument_has(arguments, "--options", NULL, &request->options) &&
             !argument_has(arguments, "--editor", NULL, &request->editor) &&
             !argument_has(arguments, "--with", NULL, &request->with) &&
             !choice_take(&request->choice, arguments))
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

/* --with and the others choose what --perfetto writes. */
static void choice_check(const struct request *request, struct arguments *arguments)
{
    const struct trace_choice *choice = &request->choice;
    bool drawn = false;
    for (size_t i = 0; i < request->outputs.count; i++)
        drawn |= request->outputs.items[i].output == OUTPUT_TRACE;
    if (!drawn && !arguments->code &&
        (request->with || choice->race || choice->stream_count || choice->has_from ||
         choice->has_to))
        arguments_fail(arguments, "--with, --from, --to, --stream and --race are for --perfetto");
}

static void left_out_say(const struct request *request, const struct other_trace *other)
{
    const char *line = other->left_out.length ? other->left_out.data : "";
    for (size_t length; *line; line += length + 1) {
        length = strcspn(line, "\n");
        fprintf(stderr, "csan report: --with='%s': %.*s\n", request->with, (int)length, line);
    }
}

/* Read before anything is written. */
static void other_read(struct request *request, struct other_trace *other,
                       struct arguments *arguments)
{
    char message[256];
    if (!request->with || arguments->code)
        return;
    if (other_trace_read(other, request->with, message, sizeof message))
        request->choice.other = other;
    else
        arguments_fail(arguments, "--with='%s': %s", request->with, message);
    left_out_say(request, other);
}

/* Whether a trace can be drawn around the race that was asked for. */
static bool race_is_there(const struct finding_set *set, uint64_t number)
{
    for (size_t i = 0; i < set->finding_count; i++)
        if (set->findings[i]->number == number)
            return true;
    if (number)
        fprintf(
            stderr,
            "csan report: --race=%llu: no report has that number; csan report FILE shows them\n",
            (unsigned long long)number);
    return !number;
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
    if (!race_is_there(set, request->choice.race))
        return 2;
    int written = outputs_write(&request->outputs, set);
    return code ? code : written;
}

int command_report(int argc, char **argv)
{
    static struct finding_set set = {.command = "report", .drawn = true};
    static struct request request;
    static struct other_trace other;
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
    choice_check(&request, &arguments);
    other_read(&request, &other, &arguments);
    set.choice = &request.choice;
    set.editor = request.editor;
    set.without_source = request.without_source;
    int code = arguments.code ? arguments_exit_code(arguments.code) : report(&set, &request);
    finding_set_free(&set);
    other_trace_free(&other);
    free(request.files);
    return code;
}
