/* `csan replay FILE`: runs the detector over a recording, and prints the reports that the recorded
 * program would have printed, under options of its own. Exit code: as a checked program's, 66 if
 * there were races; 2 if the recording cannot be read to its end, after what could be read. */
#include "runtime/cli/arguments.h"
#include "runtime/cli/findings/baseline_file.h"
#include "runtime/cli/command.h"
#include "runtime/cli/findings/recorded_run.h"

#include <stdio.h>
#include <string.h>

struct replaying {
    struct recorded_run run;
    struct report_sink *sink;
    bool failed;
};

static void usage(FILE *out)
{
    fputs(
        "usage: csan replay [OPTION...] FILE\n\n"
        "Reports the data races of a recording that csan record made, as csan run would have.\n"
        "The exit code is 66 when there are findings, and 2 when the recording cannot be read to\n"
        "its end: what could be read is reported.\n\n"
        "  --format=text      in words, on standard error (the default)\n"
        "  --format=json      one document on standard output, as csan report writes it\n"
        "  --format=sarif     likewise\n"
        "  --baseline=FILE    only what is new since this report in JSON or recording\n"
        "  --options=...      as CSAN_OPTIONS; help=1 lists them. Those that say what is looked\n"
        "                     at (host_order, implicit_sync, ...) are the recorded run's\n",
        out);
}

static bool fails(const struct replaying *replaying, bool possible)
{
    return !possible || strcmp(replaying->run.options.fail_on, "possible") == 0;
}

static void race_found(void *user, const struct csan_race *race)
{
    struct replaying *replaying = user;
    report_race(replaying->sink, race, false);
    if (!fails(replaying, race->possible))
        return;
    replaying->failed = true;
    if (replaying->run.options.halt_on_error == 1)
        recorded_run_halt(&replaying->run);
}

/* A document goes to standard output, unless an option says where. */
static int set_format(struct recorded_run *run, const char *format)
{
    char text[64], message[256];
    if (format && (snprintf(text, sizeof text, "format='%s'", format) >= (int)sizeof text ||
                   options_parse(&run->options, text, message, sizeof message) != 0))
        return recorded_run_fail(run, RECORDED_RUN_BAD,
                                 "there is no format '%s'; write text, json "
                                 "or sarif",
                                 format);
    if (strcmp(run->options.format, "text") != 0 && strcmp(run->options.log_path, "stderr") == 0)
        strcpy(run->options.log_path, "stdout");
    return 0;
}

/* 0: go on. -1: done (help). Else the exit code. */
static int parse(struct recorded_run *run, int argc, char **argv)
{
    const char *options = NULL, *format = NULL, *baseline = NULL;
    struct arguments arguments = arguments_of("replay", usage, argc, argv);
    while (!arguments.code && arguments.at < argc) {
        if (!argument_option(&arguments)) {
            argument_file(&arguments, &run->path);
        } else if (!argument_has(&arguments, "--format", NULL, &format) &&
                   !argument_has(&arguments, "--baseline", NULL, &baseline) &&
                   !argument_has(&arguments, "--options", NULL, &options)) {
            argument_unknown(&arguments);
        }
    }
    arguments_need(&arguments, run->path);
    if (arguments.code)
        return arguments.code;
    int code = recorded_run_set_options(run, options);
    if (!code && baseline)
        snprintf(run->options.baseline, sizeof run->options.baseline, "%s", baseline);
    return code ? code : set_format(run, format);
}

static int play(struct replaying *replaying)
{
    struct recorded_run *run = &replaying->run;
    int code = recorded_run_open(run, race_found, replaying);
    if (!code && !(replaying->sink = recorded_run_report(run)))
        code = recorded_run_fail(run, RECORDED_RUN_BAD, "out of memory");
    if (code)
        return code;
    struct baseline *baseline = baseline_file_read("replay", run->options.baseline);
    if (baseline)
        report_use_baseline(replaying->sink, baseline);
    code = recorded_run_play(run);
    if (run->options.print_summary && !run->halted)
        recorded_run_summarize(run, replaying->sink);
    if (report_finish(replaying->sink) != 0)
        return RECORDED_RUN_BAD;
    return code ? code : replaying->failed ? run->options.exitcode : 0;
}

int command_replay(int argc, char **argv)
{
    static struct replaying replaying = {.run = {.command = "replay"}};
    int code = parse(&replaying.run, argc, argv);
    if (code)
        return code < 0 ? 0 : code;
    code = play(&replaying);
    report_close(replaying.sink);
    recorded_run_close(&replaying.run);
    return code;
}
