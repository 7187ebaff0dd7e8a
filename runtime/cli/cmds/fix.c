/* `csan fix PROGRAM`: proves what reports propose, by running the program with it.
 *
 * The program runs unchanged, twice. Then it runs once for each missing order, with that order
 * added by the hooks (option add_order). If no race is left, it runs with the order under many
 * schedules, which must end equal. Last, it runs with all orders that hold. */
#include "runtime/cli/explore/fix.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/command.h"

#include <stdlib.h>
#include <string.h>

enum { EXIT_UNTRIED = 1, EXIT_RACES = 66 };
enum { RUNS = 20, LIMIT = 60, GPU_RUNS = 5 };

static void usage(FILE *out)
{
    fprintf(
        out,
        "usage: csan fix [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
        "Runs PROGRAM, and for each race runs it again with the order that its report\n"
        "proposes. That may be an event recorded and waited for at the two places, or a\n"
        "dependency of a graph. It may be a launch that does not overlap, or a copy or set in\n"
        "another stream. Says whether that order alone removes the race and brings no other. Says, "
        "too, whether the\n"
        "program then ends the same under N schedules, and how much can no longer run at the\n"
        "same time. At last it runs with all orders that hold. PROGRAM reads nothing from\n"
        "standard input, and its output is dropped.\n\n"
        "  --runs=N           so many schedules for each order (%d); on a GPU so many runs (%d),\n"
        "                     which are timed, too\n"
        "  --timeout=SECONDS  stop a run that takes longer (%d)\n"
        "  --device=auto      a GPU where there is one, else the embedded device (the default)\n"
        "  --device=gpu       the NVIDIA driver of this machine\n"
        "  --device=embedded  csan's CUDA device in software, where schedules can be chosen\n"
        "  --schedule=...     of the first run with each order, and without, as for csan run "
        "(eager)\n"
        "  --format=json      one document on standard output; csan-fix.schema.json, beside\n"
        "                     csan.h, describes it\n"
        "  --options=...      as CSAN_OPTIONS\n"
        "  --verbose          say which device and libraries are used\n\n"
        "Exit code: 0    every race has an order that holds, and with all of them none is left;\n"
        "                or there is no race\n"
        "           %d   a proposal does not hold, cannot be put in, or a race is left\n"
        "           %d    it cannot be tried: it uses no CUDA, uses it in several processes, or\n"
        "                does not end\n"
        "           130  interrupted, after it said what it knows (SIGTERM: 143)\n"
        "           2, 126, 127   as for csan run\n",
        RUNS, GPU_RUNS, LIMIT, EXIT_RACES, EXIT_UNTRIED);
}

/* ---- Options ---- */

static void take_option(struct fixing *fixing, struct arguments *arguments)
{
    const char *value;
    unsigned long seconds;
    if (argument_has_number(arguments, "--timeout", 1000000, &seconds)) {
        fixing->settings.timeout = (double)seconds;
    } else if (argument_has(arguments, "--device", NULL, &value)) {
        if (!arguments->code)
            arguments->code = program_set_device(&fixing->program, value);
    } else if (argument_has(arguments, "--schedule", NULL, &value)) {
        fixing->program.schedule = setenv("CSAN_SCHEDULE", value, 1) == 0;
    } else if (argument_has(arguments, "--options", NULL, &value)) {
        program_add_options(value);
    } else if (argument_is(arguments, "--verbose")) {
        fixing->program.verbose = true;
    } else if (!argument_has_json(arguments, &fixing->json) &&
               !argument_has_number(arguments, "--runs", 1000000, &fixing->runs)) {
        argument_unknown(arguments);
    }
}

/* 0: go on. ARGUMENTS_HELPED: done. Else the exit code. */
static int parse(struct fixing *fixing, int argc, char **argv)
{
    struct arguments arguments = arguments_of("fix", usage, argc, argv);
    arguments.code = program_device_of_environment(&fixing->program);
    while (argument_option(&arguments))
        take_option(fixing, &arguments);
    int code = program_take_arguments(&fixing->program, &arguments);
    return code ? code : program_check_schedule(&fixing->program, getenv("CSAN_SCHEDULE"));
}

/* ---- The program as it is ---- */

static int check_plain(const struct fixing *fixing, const struct run *run)
{
    const struct program *program = &fixing->program;
    char how[64];
    child_describe_end(run->status, how, sizeof how);
    if (run->timed_out)
        return program_fail(program, EXIT_UNTRIED,
                            "the program did not end within %g s; give it more with "
                            "--timeout=SECONDS",
                            fixing->settings.timeout);
    if (run->processes > 1)
        return program_fail(
            program, EXIT_UNTRIED,
            "%u processes of the program use CUDA, and orders are put into one; run "
            "one process alone",
            run->processes);
    if (!run->processes) {
        program_fail(program, 0, "'%s' used no CUDA, or did not get that far; it ended %s",
                     program->path, how);
        run_print_errors(run, &fixing->settings);
        return EXIT_UNTRIED;
    }
    if (run->status) {
        program_fail(program, 0, "note: without any fix the program ends %s:", how);
        run_print_errors(run, &fixing->settings);
    }
    return 0;
}

/* Which races come back, which parts of the results mean nothing, and which streams are meant. */
static int run_again(struct fixing *fixing)
{
    struct fix_trial asks = {.leader = 0};
    fixing->streams = calloc(fixing->plain.report.finding_count + 1, sizeof *fixing->streams);
    if (!fixing->streams)
        return program_fail(&fixing->program, EXIT_CANNOT_RUN, "out of memory");
    fix_order_numbers(fixing, &asks);
    fix_progress(fixing, "as it is");
    if (!fix_run_make(fixing, &fixing->again, asks.order, fixing->schedule))
        return fix_cut_short();
    fix_order_take_numbers(fixing, &fixing->again);
    part_set_add(&fixing->ignored, &fixing->plain.run, &fixing->again.run);
    return fix_on_gpu(fixing) ? fix_measure(fixing, "", &fixing->seconds) : 0;
}

static bool make_trials(struct fixing *fixing)
{
    const struct finding_report *plain = &fixing->plain.report;
    fixing->trials = calloc(plain->finding_count + 1, sizeof *fixing->trials);
    for (size_t i = 0; fixing->trials && i < plain->finding_count; i++)
        if (plain->findings[i]->group == plain->findings[i]->number)
            fixing->trials[fixing->trial_count++].leader = i;
    return fixing->trials != NULL;
}

static int run_plain(struct fixing *fixing)
{
    fix_progress(fixing, "as it is");
    if (!fix_run_make(fixing, &fixing->plain, "", fixing->schedule))
        return fix_cut_short();
    int code = check_plain(fixing, &fixing->plain.run);
    if (!code && !make_trials(fixing))
        code = program_fail(&fixing->program, EXIT_CANNOT_RUN, "out of memory");
    return !code && fixing->trial_count ? run_again(fixing) : code;
}

/* ---- The command ---- */

static int run_all(struct fixing *fixing)
{
    int code = run_plain(fixing);
    for (size_t i = 0; !code && i < fixing->trial_count; i++)
        code = fix_try_group(fixing, &fixing->trials[i]);
    if (!code)
        code = fix_try_together(fixing);
    fix_progress(fixing, "");
    return code;
}

static void finish(struct fixing *fixing)
{
    for (size_t i = 0; i < fixing->trial_count; i++)
        fix_trial_clear(&fixing->trials[i]);
    fix_trial_clear(&fixing->together);
    free(fixing->trials);
    free(fixing->streams);
    free(fixing->schedule);
    free(fixing->ignored.parts);
    fix_run_free(fixing, &fixing->plain);
    fix_run_free(fixing, &fixing->again);
    scratch_close(&fixing->settings.scratch, NULL, NULL);
}

int fix(struct fixing *fixing)
{
    fixing->settings.program = &fixing->program;
    if (!fixing->runs)
        fixing->runs = fix_on_gpu(fixing) ? GPU_RUNS : RUNS;
    const char *schedule = getenv("CSAN_SCHEDULE"); /* each run sets its own */
    fixing->schedule = strdup(schedule && *schedule ? schedule : "eager");
    if (!fixing->schedule)
        return program_fail(&fixing->program, EXIT_CANNOT_RUN, "out of memory");
    if (fixing->settings.timeout <= 0)
        fixing->settings.timeout = LIMIT;
    child_watch_signals(); /* before there are files that it would leave behind */
    int code = scratch_make(&fixing->settings.scratch, &fixing->program);
    if (code) {
        free(fixing->schedule);
        return code;
    }
    code = run_all(fixing);
    const bool is_known = !code || (child_interrupted() && fixing->plain.report.finding_count);
    if (!code && !fix_all_hold(fixing))
        code = EXIT_RACES;
    if (!fixing->json)
        shown_wrap();
    if (is_known)
        fix_report(fixing, code);
    finish(fixing);
    return code;
}

void fix_after_run(const struct program *program)
{
    static struct fixing fixing;
    unsetenv("CSAN_TREE"); /* the runs from here on are not the program's */
    fixing = (struct fixing){.program = *program, .out = stderr};
    fixing.program.command = "fix";
    fix(&fixing);
}

int command_fix(int argc, char **argv)
{
    static struct fixing fixing = {.program = {.command = "fix"}};
    fixing.out = stdout;
    int code = parse(&fixing, argc, argv);
    if (!code)
        code = program_prepare(&fixing.program);
    if (!code)
        code = fix(&fixing);
    return code < 0 ? 0 : code;
}
