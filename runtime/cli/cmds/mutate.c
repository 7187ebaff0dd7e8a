/* `csan mutate PROGRAM`: leaves out the program's synchronizations, one in each run, and says which
 * of them an access needs, because csan reports a race without it.
 *
 * The program first runs unchanged, twice. The other runs are compared with its races, its exit
 * code and its output. Synchronizations made at one place (an API call and its stack) are printed
 * together. */
#include "runtime/cli/command.h"
#include "runtime/cli/explore/mutation.h"
#include "runtime/cli/shown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_UNTRIED = 1, EXIT_RACES = 66, EXIT_INTERRUPTED = 128 /* and the signal */ };
enum { RUNS = 256, LEAST_LIMIT = 10, LIMIT_FACTOR = 10 };

static void usage(FILE *out)
{
    fprintf(
        out,
        "usage: csan mutate [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
        "Leaves out PROGRAM's synchronizations (stream waits for events; event, stream and\n"
        "device synchronize), one in each run, and says which of them are needed: without\n"
        "it csan reports a race. The others are needed by no access that csan sees. The CPU\n"
        "may still read what they wait for, so that is no proof that one can go.\n"
        "Needs the embedded device; PROGRAM is run without input, and its output is dropped.\n\n"
        "  --runs=N           leave out at most N of them (%d), spread over all places\n"
        "  --timeout=SECONDS  end a run after this time (ten times as long as the program\n"
        "                     takes, and %d seconds at least)\n"
        "  --schedule=...     as for csan run; lazy where nothing is said, so that a missing\n"
        "                     wait is most likely to show in the program's output, too\n"
        "  --format=json      one document on standard output; csan-mutate.schema.json,\n"
        "                     beside csan.h, describes it\n"
        "  --options=...      as CSAN_OPTIONS\n"
        "  --verbose          say which device and libraries are used\n\n"
        "Exit code: 0    all was tried\n"
        "           %d   PROGRAM has races as it is; they are left aside\n"
        "           %d    it cannot be tried: it makes no synchronization, or does not end\n"
        "           2, 126, 127   as for csan run\n",
        RUNS, LEAST_LIMIT, EXIT_RACES, EXIT_UNTRIED);
}

/* ---- Options ---- */

static void take_option(struct mutation *mutation, struct arguments *arguments)
{
    const char *value;
    unsigned long seconds;
    if (argument_has_number(arguments, "--timeout", 1000000, &seconds)) {
        mutation->settings.limit = (double)seconds;
    } else if (argument_has(arguments, "--schedule", NULL, &value)) {
        program_set_schedule(value);
    } else if (argument_has(arguments, "--options", NULL, &value)) {
        program_add_options(value);
    } else if (argument_is(arguments, "--verbose")) {
        mutation->program.verbose = true;
    } else if (!argument_has_json(arguments, &mutation->json) &&
               !argument_has_number(arguments, "--runs", 1000000, &mutation->runs)) {
        argument_unknown(arguments);
    }
}

/* 0: go on. -1: done (help). Else the exit code. */
static int parse(struct mutation *mutation, int argc, char **argv)
{
    struct program *program = &mutation->program;
    struct arguments arguments = arguments_of("mutate", usage, argc, argv);
    arguments.code = program_set_embedded(program);
    while (argument_option(&arguments))
        take_option(mutation, &arguments);
    setenv("CSAN_SCHEDULE", "lazy", 0);
    int code = program_take_arguments(program, &arguments);
    return code ? code : program_check_schedule(program, getenv("CSAN_SCHEDULE"));
}

/* ---- The program as it is ---- */

static int run_plain(struct mutation *mutation, struct mutate_run *run)
{
    const struct program *program = &mutation->program;
    char how[64];
    if (!mutate_run_make(run, &mutation->settings, 0))
        return EXIT_CANNOT_RUN;
    if (child_interrupted())
        return EXIT_INTERRUPTED + child_interrupted();
    if (run->child.timed_out)
        return program_fail(program, EXIT_UNTRIED,
                            "the program did not end within %g s; give it more with "
                            "--timeout=SECONDS",
                            mutation->settings.limit);
    if (run->child.status == 0)
        return 0;
    child_describe_end(run->child.status, how, sizeof how);
    program_fail(program, 0, "note: as it is the program ends %s:", how);
    mutate_run_errors(&mutation->settings);
    return 0;
}

static int check_plain(const struct mutation *mutation)
{
    const struct program *program = &mutation->program;
    if (mutation->plain.processes > 1)
        return program_fail(
            program, EXIT_UNTRIED,
            "%u processes of the program use CUDA, but synchronizations are numbered in "
            "one process; run one process alone",
            mutation->plain.processes);
    if (mutation->plain.sync_count == 0)
        return program_fail(program, EXIT_UNTRIED,
                            "the program makes no synchronization that could be left out (stream "
                            "wait for an event, event, stream or device synchronize)");
    return 0;
}

/* Twice: what differs between two runs of the program as it is shows nothing about others. */
static int plain_run_code(struct mutation *mutation)
{
    struct mutate_run again = {0};
    bool limited = mutation->settings.limit > 0;
    if (!limited)
        mutation->settings.limit = 600;
    int code = run_plain(mutation, &mutation->plain);
    if (!code)
        code = check_plain(mutation);
    if (!code)
        code = run_plain(mutation, &again);
    const struct mutate_run *plain = &mutation->plain;
    mutation->steady = plain->output == again.output;
    if (!code &&
        (plain->sync_count != again.sync_count || plain->child.status != again.child.status))
        program_fail(&mutation->program, 0,
                     "note: two runs of the program differ (%zu and %zu synchronizations), so a "
                     "number may not always name the same one",
                     plain->sync_count, again.sync_count);
    if (!limited)
        mutation->settings.limit = plain->child.seconds * LIMIT_FACTOR > LEAST_LIMIT
                                       ? plain->child.seconds * LIMIT_FACTOR
                                       : LEAST_LIMIT;
    mutate_run_free(&again);
    return code;
}

/* ---- Which to leave out ---- */

/* `share` of those from one place, evenly from the first to the last. */
static void choose_at(struct mutation *mutation, size_t first, size_t count, size_t share)
{
    const struct mutate_run *plain = &mutation->plain;
    size_t seen = 0, taken = 0;
    for (size_t i = first; i < plain->sync_count && taken < share; i++) {
        if (plain->syncs[i].first != first)
            continue;
        size_t next = share == 1 ? count / 2 : taken * (count - 1) / (share - 1);
        if (seen++ != next)
            continue;
        mutation->trials[i].finding = UNREACHED;
        mutation->chosen++;
        taken++;
    }
}

/* The runs are dealt out to the places in turn. */
static bool choose(struct mutation *mutation)
{
    const struct mutate_run *plain = &mutation->plain;
    size_t *counts = calloc(plain->sync_count, sizeof *counts);
    size_t *shares = calloc(plain->sync_count, sizeof *shares);
    mutation->trials = calloc(plain->sync_count, sizeof *mutation->trials);
    bool room = counts && shares && mutation->trials;
    for (size_t i = 0; room && i < plain->sync_count; i++) {
        mutation->trials[i].finding = UNTRIED;
        counts[plain->syncs[i].first]++;
    }
    size_t left = mutation->runs < plain->sync_count ? mutation->runs : plain->sync_count;
    while (room && left)
        for (size_t i = 0; left && i < plain->sync_count; i++)
            if (shares[i] < counts[i]) {
                shares[i]++;
                left--;
            }
    for (size_t i = 0; room && i < plain->sync_count; i++)
        if (shares[i])
            choose_at(mutation, i, counts[i], shares[i]);
    free(counts);
    free(shares);
    return room;
}

/* ---- One left out ---- */

static bool is_possible(const char *race)
{
    return strncmp(race, "possible, ", 10) == 0;
}

/* The first race that the program does not have as it is, a certain one before a possible one. */
static const char *new_race(const struct mutation *mutation, const struct mutate_run *run)
{
    const char *best = NULL;
    for (size_t i = 0; i < run->race_count; i++)
        if (!mutate_run_has(&mutation->plain, run->races[i]) &&
            (!best || (is_possible(best) && !is_possible(run->races[i]))))
            best = run->races[i];
    return best;
}

static void classify(const struct mutation *mutation, const struct mutate_run *run,
                     struct trial *trial)
{
    const char *race = new_race(mutation, run);
    trial->status = run->child.status;
    if (!run->dropped)
        trial->finding = UNREACHED;
    else if (race) {
        trial->finding = is_possible(race) ? POSSIBLY_NEEDED : NEEDED;
        trial->race = strdup(race);
    } else if (run->child.timed_out)
        trial->finding = TIMED_OUT;
    else if (run->child.status != mutation->plain.child.status)
        trial->finding = FAILED;
    else
        trial->finding =
            mutation->steady && run->output != mutation->plain.output ? OUTPUT : UNSEEN;
}

static void progress(const struct mutation *mutation, bool done)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (done)
        shown_progress("%s", "");
    else
        shown_progress("csan mutate: %zu of %zu left out", mutation->tried, mutation->chosen);
}

/* False: it could not be run. */
static bool try_one(struct mutation *mutation, size_t index)
{
    struct mutate_run run;
    progress(mutation, false);
    if (!mutate_run_make(&run, &mutation->settings, index + 1))
        return false;
    if (!child_interrupted()) {
        classify(mutation, &run, &mutation->trials[index]);
        mutation->tried++;
    }
    mutate_run_free(&run);
    return true;
}

static int try_all(struct mutation *mutation)
{
    int code = 0;
    for (size_t i = 0; !code && i < mutation->plain.sync_count; i++) {
        if (mutation->trials[i].finding != UNTRIED && !child_interrupted() && !try_one(mutation, i))
            code = EXIT_CANNOT_RUN;
        if (child_interrupted())
            mutation->trials[i].finding = UNTRIED; /* it and all that follow */
    }
    progress(mutation, true);
    return code;
}

/* ---- The command ---- */

static int mutate(struct mutation *mutation)
{
    int code = plain_run_code(mutation);
    if (code)
        return code;
    if (!mutation->json) {
        shown_wrap();
        mutation_print_plain(mutation);
    }
    fflush(stdout);
    if (!choose(mutation))
        return program_fail(&mutation->program, EXIT_CANNOT_RUN, "out of memory");
    code = try_all(mutation);
    if (code)
        return code;
    code = child_interrupted()          ? EXIT_INTERRUPTED + child_interrupted()
           : mutation->plain.race_count ? EXIT_RACES
                                        : 0;
    if (mutation->json)
        mutation_print_json(mutation, code);
    else
        mutation_print(mutation);
    return code;
}

static void finish(struct mutation *mutation)
{
    for (size_t i = 0; mutation->trials && i < mutation->plain.sync_count; i++)
        free(mutation->trials[i].race);
    free(mutation->trials);
    mutate_run_free(&mutation->plain);
    scratch_close(&mutation->settings.scratch, NULL, NULL);
}

int command_mutate(int argc, char **argv)
{
    static struct mutation mutation = {.program = {.command = "mutate"}, .runs = RUNS};
    int code = parse(&mutation, argc, argv);
    if (!code)
        code = program_prepare(&mutation.program);
    if (!code) {
        child_watch_signals();
        code = scratch_make(&mutation.settings.scratch, &mutation.program);
    }
    if (code)
        return code < 0 ? 0 : code;
    mutation.settings.program = &mutation.program;
    code = mutate(&mutation);
    finish(&mutation);
    return code;
}
