/* `csan merge FILE...`: makes one report of the recordings or JSON reports of many processes, such
 * as the ranks of an MPI job or of torchrun. Each race is reported once, with the ranks that saw
 * it. Exit code: as a checked program's, 66 if there were races; 2 if one of the files cannot be
 * read, after what could be read. */
#include "runtime/cli/command.h"
#include "runtime/cli/findings/linked_run.h"
#include "runtime/cli/findings/report_outputs.h"
#include "runtime/cli/shown.h"

#include <stdlib.h>
#include <string.h>

static void usage(FILE *out)
{
    fprintf(
        out,
        "usage: csan merge [OPTION...] FILE...\n\n"
        "Makes one report of many recordings (csan record) or reports in JSON. The ranks of a\n"
        "job leave such files (log_path or record with %%r in it). It has each race once, with\n"
        "the ranks that saw it. No FILE is written over. The exit code is 66 when there are\n"
        "findings, and 2 when a file cannot be read. The other files are merged then.\n\n"
        "%s"
        "  --order            also replay all recordings together, in the order that shared\n"
        "                     events and declared messages make, and report accesses of\n"
        "                     different processes to shared memory that nothing orders\n"
        "  --baseline=FILE    only what is new since this report in JSON or recording\n"
        "  --options=...      as CSAN_OPTIONS; csan help lists them\n",
        outputs_usage);
}

struct request {
    struct report_outputs outputs;
    const char *options, *baseline;
    bool order;
    const char **files; /* then the baseline and the suppressions, which are read, too */
    size_t file_count;
};

static void take_option(struct request *request, struct arguments *arguments)
{
    if (argument_is(arguments, "--order"))
        request->order = true;
    else if (!outputs_take(&request->outputs, arguments, false) &&
             !argument_has(arguments, "--baseline", NULL, &request->baseline) &&
             !argument_has(arguments, "--options", NULL, &request->options))
        argument_unknown(arguments);
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

static bool fails(const struct finding_set *set)
{
    return set->stats.races || set->stats.errors ||
           (set->stats.possible && strcmp(set->options.fail_on, "possible") == 0);
}

static int merge(struct finding_set *set, const struct request *request)
{
    struct shown_pace pace = {0};
    int code = 0;
    for (size_t i = 0; i < request->file_count; i++) {
        if (shown_is_due(&pace))
            shown_progress("csan merge: file %zu of %zu, %s", i + 1, request->file_count,
                           request->files[i]);
        int bad = finding_set_add(set, request->files[i]);
        code = code ? code : bad;
    }
    shown_done(&pace);
    if (request->order) {
        int bad = linked_run_add(set);
        code = code ? code : bad;
    }
    finding_set_compare(set);
    int written = outputs_write(&request->outputs, set);
    code = code ? code : written;
    return !code && fails(set) ? set->options.exitcode : code;
}

int command_merge(int argc, char **argv)
{
    static struct finding_set set = {.command = "merge"};
    static struct request request;
    struct arguments arguments = arguments_of("merge", usage, argc, argv);
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
    int code = arguments.code ? arguments_exit_code(arguments.code) : merge(&set, &request);
    finding_set_free(&set);
    free(request.files);
    return code;
}
