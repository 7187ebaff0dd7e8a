/* `csan fix PROGRAM`: proves what reports propose, by running the program with it.
 *
 * The program runs as it is, twice; then once for each missing order with that order put in by the
 * hooks (option add_order), and, where no race is left, under many schedules, which must end equal;
 * then with all orders that hold. */
#include "runtime/cli/fix.h"
#include "runtime/cli/command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_UNTRIED = 1, EXIT_RACES = 66, EXIT_INTERRUPTED = 128 /* and the signal */ };
enum { RUNS = 20, LIMIT = 60, GPU_RUNS = 5 };

static void usage(FILE *out)
{
    fprintf(
        out,
        "usage: csan fix [--runs=N] [--timeout=SECONDS] [--device=...] [--format=json]\n"
        "                [--options=KEY=VALUE:...] [--] PROGRAM [ARGUMENT...]\n\n"
        "Runs PROGRAM, and for each race that csan reports runs it again with the order that\n"
        "the report proposes: an event recorded and waited for at the two places, a dependency\n"
        "of a graph, a launch that does not overlap, a copy or set in another stream. Says\n"
        "whether that order alone removes the race and brings no other, whether the program\n"
        "then ends the same under N schedules, and how much can no longer run at the same time.\n"
        "At last it runs with all orders that hold. PROGRAM reads nothing from standard input,\n"
        "and its output is dropped.\n\n"
        "  --runs=N           so many schedules for each order (%d); on a GPU so many runs (%d),\n"
        "                     whose times are told, too\n"
        "  --timeout=SECONDS  stop a run that takes longer (%d)\n"
        "  --device=auto      a GPU where there is one, else the embedded device (the default)\n"
        "  --device=gpu       the NVIDIA driver of this machine\n"
        "  --device=embedded  csan's CUDA device in software, where schedules can be chosen\n"
        "  --format=json      one document on standard output\n"
        "  --options=...      as CSAN_OPTIONS\n"
        "  --verbose          say which device and libraries are used\n\n"
        "Exit code: 0 when every race has an order that holds and with all of them none is left,\n"
        "or there is no race; %d when a proposal does not hold, cannot be put in, or a race is\n"
        "left; %d when it cannot be tried: it uses no CUDA, uses it in several processes, or does\n"
        "not end; 130 when it is interrupted (SIGTERM: 143), after it said what it knows; 2, 126,\n"
        "127 as for csan run.\n",
        RUNS, GPU_RUNS, LIMIT, EXIT_RACES, EXIT_UNTRIED);
}

/* ---- Options ---- */

static int parse_format(struct fixing *fixing, const char *format)
{
    fixing->json = strcmp(format, "json") == 0;
    if (fixing->json || strcmp(format, "text") == 0)
        return 0;
    return program_fail(&fixing->program, EXIT_USAGE, "there is no format '%s'; write text or json",
                        format);
}

static int parse_option(struct fixing *fixing, const char *option)
{
    unsigned long seconds;
    int code = 0;
    if (strncmp(option, "--runs=", 7) == 0)
        code = program_parse_number(&fixing->program, option, 1000000, &fixing->runs);
    else if (strncmp(option, "--timeout=", 10) == 0) {
        code = program_parse_number(&fixing->program, option, 1000000, &seconds);
        fixing->settings.timeout = (double)seconds;
    } else if (strncmp(option, "--format=", 9) == 0)
        code = parse_format(fixing, option + 9);
    else if (strncmp(option, "--device=", 9) == 0)
        code = program_set_device(&fixing->program, option + 9);
    else if (strncmp(option, "--options=", 10) == 0)
        program_add_options(option + 10);
    else if (strcmp(option, "--verbose") == 0)
        fixing->program.verbose = true;
    else
        code = program_fail(&fixing->program, EXIT_USAGE,
                            "there is no option '%s'; `csan fix --help` lists them", option);
    return code;
}

/* 0: go on. -1: done (help). Else the exit code. */
static int parse(struct fixing *fixing, int argc, char **argv)
{
    int i = 1, code = program_device_of_environment(&fixing->program);
    for (; !code && i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            usage(stdout);
            return -1;
        }
        code = parse_option(fixing, argv[i]);
    }
    if (!code && i == argc) {
        usage(stderr);
        return EXIT_USAGE;
    }
    fixing->program.arguments = argv + i;
    return code;
}

static bool on_gpu(const struct fixing *fixing)
{
    return fixing->program.device == PROGRAM_GPU;
}

static void progress(const struct fixing *fixing, const char *what)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, *what ? "\r\033[Kcsan fix: %s, run %u" : "\r\033[K", what,
                fixing->numbered + 1);
}

/* ---- The median of times ---- */

static int by_time(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double median(double *times, size_t count)
{
    if (!count)
        return 0;
    qsort(times, count, sizeof *times, by_time);
    return count % 2 ? times[count / 2] : (times[count / 2 - 1] + times[count / 2]) / 2;
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
        program_fail(program, 0, "note: as it is the program ends %s:", how);
        run_print_errors(run, &fixing->settings);
    }
    return 0;
}

static int cut_short(void)
{
    return child_interrupted() ? EXIT_INTERRUPTED + child_interrupted() : EXIT_CANNOT_RUN;
}

/* Which races come back, which parts of the results mean nothing, and which streams are meant. */
static int run_again(struct fixing *fixing)
{
    struct fix_trial asks = {.leader = 0};
    struct fix_run again;
    const size_t count = fixing->plain.report.finding_count;
    fixing->returned = calloc(count + 1, sizeof *fixing->returned);
    fixing->streams = calloc(count + 1, sizeof *fixing->streams);
    if (!fixing->returned || !fixing->streams)
        return program_fail(&fixing->program, EXIT_CANNOT_RUN, "out of memory");
    fix_order_numbers(fixing, &asks);
    progress(fixing, "as it is");
    if (!fix_run_make(fixing, &again, asks.order, "eager"))
        return cut_short();
    for (size_t i = 0; i < count; i++)
        fixing->returned[i] =
            fix_run_find(&again, fixing->plain.report.findings[i]->fingerprint) != NULL;
    fix_order_take_numbers(fixing, &again);
    part_set_add(&fixing->ignored, &fixing->plain.run, &again.run);
    fix_run_free(fixing, &again);
    return 0;
}

/* On a GPU: how long the program takes. */
static int measure(struct fixing *fixing, const char *order, double *seconds)
{
    double *times = calloc(fixing->runs, sizeof *times);
    size_t count = 0;
    while (times && count < fixing->runs) {
        struct fix_run run;
        progress(fixing, *order ? "with an order" : "as it is");
        if (!fix_run_make(fixing, &run, order, "eager"))
            break;
        times[count++] = run.run.seconds;
        fix_run_free(fixing, &run);
    }
    const bool whole = count == fixing->runs;
    *seconds = whole ? median(times, count) : 0;
    free(times);
    return whole ? 0 : cut_short();
}

static int run_plain(struct fixing *fixing)
{
    progress(fixing, "as it is");
    if (!fix_run_make(fixing, &fixing->plain, "", "eager"))
        return cut_short();
    int code = check_plain(fixing, &fixing->plain.run);
    if (!code && fixing->plain.report.finding_count)
        code = run_again(fixing);
    if (!code && on_gpu(fixing) && fixing->plain.report.finding_count)
        code = measure(fixing, "", &fixing->seconds);
    return code;
}

/* ---- With an order ---- */

static void settle(struct fix_trial *trial, enum fix_verdict verdict, const char *detail)
{
    free(trial->detail);
    trial->verdict = verdict;
    trial->detail = strdup(detail);
}

/* False: it ended otherwise. */
static bool ended_alike(const struct fixing *fixing, struct fix_trial *trial, const struct run *run)
{
    char detail[160], how[64];
    if (!run->timed_out && run->status == fixing->plain.run.status)
        return true;
    child_describe_end(run->status, how, sizeof how);
    if (run->timed_out)
        snprintf(detail, sizeof detail, "the program did not end within %g s",
                 fixing->settings.timeout);
    else
        snprintf(detail, sizeof detail, "the program ends %s", how);
    settle(trial, FIX_FAILED, detail);
    return false;
}

/* A race that the program has not as it is. */
static const struct finding *new_race(const struct fixing *fixing, const struct fix_run *run)
{
    for (size_t i = 0; i < run->report.finding_count; i++)
        if (!fix_run_find(&fixing->plain, run->report.findings[i]->fingerprint))
            return run->report.findings[i];
    return NULL;
}

/* Was any of the orders put in? */
static bool was_reached(const struct fix_run *run, const char *orders)
{
    for (const char *order = orders; *order; order += strspn(order, ",")) {
        unsigned long long recorded = 0, waited = 0, edges = 0, changed = 0;
        const char *note = fix_run_note(run, order);
        if (note && strncmp(note, "-0000000000000000", 17) == 0)
            note += 17; /* of an order at one place */
        if (note &&
            sscanf(note, ": recorded %llu, waited %llu, edges %llu, changed %llu", &recorded,
                   &waited, &edges, &changed) == 4 &&
            waited + edges + changed > 0)
            return true;
        order += strcspn(order, ",");
    }
    return false;
}

/* What the report of a run with the order shows; `leader`: it is one group's alone. */
static void judge(const struct fixing *fixing, struct fix_trial *trial, const struct fix_run *run,
                  bool alone)
{
    const struct finding_report *plain = &fixing->plain.report;
    const struct finding *other = new_race(fixing, run), *stays = NULL;
    trial->left = 0;
    for (size_t i = 0; i < plain->finding_count; i++) {
        const struct finding *same = fix_run_find(run, plain->findings[i]->fingerprint);
        trial->removed[i] = !same;
        trial->left += same != NULL;
        if (same && !stays && (!alone || fix_is_member(fixing, trial, i)))
            stays = plain->findings[i];
    }
    trial->unordered = run->report.stats.unordered;
    if (!ended_alike(fixing, trial, &run->run))
        return;
    if (stays && !was_reached(run, trial->order))
        settle(trial, FIX_UNREACHED, stays->headline);
    else if (stays)
        settle(trial, FIX_REMAINS, stays->headline);
    else if (other)
        settle(trial, FIX_NEW_RACE, other->headline);
    else
        trial->verdict = FIX_VERIFIED;
}

/* Another run with the order, under another schedule, beside the first. False: that is enough. */
static bool compare(const struct fixing *fixing, struct fix_trial *trial,
                    const struct fix_run *first, const struct fix_run *run)
{
    char detail[256];
    const struct finding *other = run->report.finding_count ? run->report.findings[0] : NULL;
    if (!ended_alike(fixing, trial, &run->run))
        return false;
    if (other && fix_run_find(&fixing->plain, other->fingerprint))
        settle(trial, FIX_REMAINS, other->headline);
    else if (other)
        settle(trial, FIX_NEW_RACE, other->headline);
    if (other)
        return false;
    if (!compare_way(&first->run, &run->run)) {
        trial->other_way++;
        return true;
    }
    const struct difference difference = compare_results(&first->run, &run->run, &fixing->ignored);
    if (difference.count) {
        difference_describe(&difference, detail, sizeof detail);
        settle(trial, FIX_OUTPUT, detail);
        return false;
    }
    trial->schedules++;
    return true;
}

/* No race is left: the program must end the same whatever the schedule. */
static int try_schedules(struct fixing *fixing, struct fix_trial *trial,
                         const struct fix_run *first)
{
    char schedule[32];
    double *times = calloc(fixing->runs + 1, sizeof *times);
    size_t count = 0;
    bool goes_on = times != NULL;
    if (times)
        times[count++] = first->run.seconds;
    while (goes_on && count <= fixing->runs) {
        struct fix_run run;
        snprintf(schedule, sizeof schedule, "random:%zu", count);
        progress(fixing, "with an order");
        if (!fix_run_make(fixing, &run, trial->order, schedule))
            break;
        times[count++] = run.run.seconds;
        goes_on = compare(fixing, trial, first, &run);
        fix_run_free(fixing, &run);
    }
    const bool whole = !goes_on || count > fixing->runs;
    if (on_gpu(fixing) && whole)
        trial->seconds = median(times + 1, count - 1);
    free(times);
    return whole ? 0 : cut_short();
}

static int try_order(struct fixing *fixing, struct fix_trial *trial, bool alone)
{
    struct fix_run run;
    int code = 0;
    if (!trial->removed)
        trial->removed = calloc(fixing->plain.report.finding_count + 1, sizeof *trial->removed);
    if (!trial->removed)
        return program_fail(&fixing->program, EXIT_CANNOT_RUN, "out of memory");
    progress(fixing, alone ? "with an order" : "with all orders");
    if (!fix_run_make(fixing, &run, trial->order, "eager"))
        return cut_short();
    judge(fixing, trial, &run, alone);
    if (trial->verdict == FIX_VERIFIED && !run.report.finding_count)
        code = try_schedules(fixing, trial, &run);
    else if (trial->verdict == FIX_VERIFIED && on_gpu(fixing))
        code = measure(fixing, trial->order, &trial->seconds);
    fix_run_free(fixing, &run);
    return code;
}

static int try_group(struct fixing *fixing, struct fix_trial *trial)
{
    if (!fix_order_choose(fixing, trial))
        return 0;
    int code = try_order(fixing, trial, true);
    /* One order for all of them does not do it, or not alone. */
    if (!code && trial->verdict == FIX_REMAINS && trial->from && fix_order_each(fixing, trial))
        code = try_order(fixing, trial, true);
    return code;
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

static int try_together(struct fixing *fixing)
{
    struct fix_trial *together = &fixing->together;
    for (size_t i = 0; i < fixing->trial_count; i++) {
        const struct fix_trial *trial = &fixing->trials[i];
        if (trial->verdict == FIX_VERIFIED && fix_order_add(together, trial->order))
            fixing->together_count++;
    }
    if (fixing->together_count < 2)
        return 0;
    return try_order(fixing, together, false);
}

/* ---- The command ---- */

static int run_all(struct fixing *fixing)
{
    int code = run_plain(fixing);
    if (!code && !make_trials(fixing))
        code = program_fail(&fixing->program, EXIT_CANNOT_RUN, "out of memory");
    for (size_t i = 0; !code && i < fixing->trial_count; i++)
        code = try_group(fixing, &fixing->trials[i]);
    if (!code)
        code = try_together(fixing);
    progress(fixing, "");
    return code;
}

static void trial_clear(struct fix_trial *trial)
{
    free(trial->detail);
    free(trial->removed);
}

static void finish(struct fixing *fixing)
{
    for (size_t i = 0; i < fixing->trial_count; i++)
        trial_clear(&fixing->trials[i]);
    trial_clear(&fixing->together);
    free(fixing->trials);
    free(fixing->returned);
    free(fixing->streams);
    free(fixing->ignored.parts);
    fix_run_free(fixing, &fixing->plain);
    scratch_close(&fixing->settings.scratch, NULL, NULL);
}

/* The program is found, and the environment prepared. */
static int fix(struct fixing *fixing)
{
    fixing->settings.program = &fixing->program;
    if (!fixing->runs)
        fixing->runs = on_gpu(fixing) ? GPU_RUNS : RUNS;
    if (fixing->settings.timeout <= 0)
        fixing->settings.timeout = LIMIT;
    int code = scratch_make(&fixing->settings.scratch, &fixing->program);
    if (code)
        return code;
    child_watch_signals();
    code = run_all(fixing);
    if (!code || (child_interrupted() && fixing->plain.report.finding_count))
        fix_report(fixing);
    if (!code && !fix_all_hold(fixing))
        code = EXIT_RACES;
    finish(fixing);
    return code;
}

int fix_verify(const struct program *program, FILE *out)
{
    static struct fixing fixing;
    fixing = (struct fixing){.program = *program, .out = out};
    fixing.program.command = "fix";
    return fix(&fixing);
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
