/* `csan explore PROGRAM`: shows which of the reported races change what the program computes.
 *
 * The program runs on the embedded device under many schedules: eager, lazy and reverse; for each
 * race some that change the order of its two accesses and as little else as possible; then random
 * ones. csan compares the bytes that copies brought to the host, memory when it was freed or left
 * at exit, standard output and exit status.
 *
 * Two runs confirm a race if they end differently, and if of all reported races only this one's
 * accesses came in another order. If those of other races did so, too, and no runs distinguish
 * them, they are confirmed together. If two runs end differently although no reported race went
 * another way, csan missed a race. But that does not count if the program does not even end the
 * same when one schedule is replayed. */
#include "runtime/cli/process/child.h"
#include "runtime/cli/command.h"
#include "runtime/cli/explore/explore.h"
#include "runtime/cli/shown.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_RACE = 66, EXIT_UNREPORTED = 67, EXIT_INTERRUPTED = 128, FIXED_SCHEDULES = 3 };

/* No item has this number: what is held for it runs when the host waits for it, and not before. */
#define NEVER UINT64_C(1000000000000)

/* ---- The command line ---- */

static void usage(FILE *out)
{
    fputs(
        "usage: csan explore [OPTION...] [--] PROGRAM [ARGUMENT...]\n\n"
        "Runs PROGRAM on the embedded device under many schedules, all of them legal. Says which\n"
        "of the races that csan reports change its results, with two schedules to show it.\n"
        "Compared are the bytes copied to the host, memory when it is freed or left at exit\n"
        "(device, pinned, managed), standard output and exit status. PROGRAM reads nothing from\n"
        "standard input.\n\n"
        "  --runs=N            so many schedules: eager, lazy, reverse, then ones that turn each\n"
        "                      race around, then random ones (100)\n"
        "  --until=confirmed   stop as soon as all reported races are confirmed\n"
        "  --timeout=SECONDS   stop a run that takes longer (60)\n"
        "  --keep=DIR          keep the schedules that show something there as files: a new\n"
        "                      directory, or an empty one (commands name schedules, not files)\n"
        "  --format=json       one document on standard output; csan-explore.schema.json,\n"
        "                      beside csan.h, describes it\n"
        "  --options=...       as CSAN_OPTIONS\n\n"
        "Exit code: 0    no race was reported, and all runs ended equal\n"
        "           66   races were reported, or possible ones confirmed\n"
        "           67   runs differ in a way that no reported race explains; or the program went\n"
        "                another way in some, and ended differently\n"
        "           130  interrupted before anything was found (SIGTERM: 143)\n"
        "           2, 126, 127   wrong usage, or PROGRAM cannot be run\n",
        out);
}

static void take_option(struct explorer *explorer, struct arguments *arguments)
{
    const char *value;
    unsigned long seconds;
    if (argument_has(arguments, "--until", NULL, &value)) {
        explorer->until_confirmed = true;
        if (strcmp(value, "confirmed") != 0 && !arguments->code)
            arguments_fail(arguments, "there is no --until=%s; write --until=confirmed", value);
    } else if (argument_has_number(arguments, "--timeout", 1000000, &seconds)) {
        explorer->settings.timeout = (double)seconds;
    } else if (argument_has(arguments, "--keep", NULL, &explorer->keep)) {
        if (!*explorer->keep && !arguments->code)
            arguments_fail(arguments, "--keep= lacks the name of a directory");
    } else if (argument_has(arguments, "--options", NULL, &value)) {
        program_add_options(value);
    } else if (!argument_has_json(arguments, &explorer->json) &&
               !argument_has_number(arguments, "--runs", 100000000, &explorer->wanted)) {
        argument_unknown(arguments);
    }
}

/* 0: go on. -1: done (help). Else the exit code. */
static int parse(struct explorer *explorer, int argc, char **argv)
{
    struct arguments arguments = arguments_of("explore", usage, argc, argv);
    arguments.code = program_set_embedded(&explorer->program);
    while (argument_option(&arguments))
        take_option(explorer, &arguments);
    return program_take_arguments(&explorer->program, &arguments);
}

static int make_scratch(struct explorer *explorer)
{
    struct scratch *scratch = &explorer->settings.scratch;
    explorer->settings.program = &explorer->program;
    return explorer->keep ? scratch_take(scratch, &explorer->program, explorer->keep)
                          : scratch_make(scratch, &explorer->program);
}

/* ---- Races ---- */

/* The report of that race; NULL: the run has none. */
static struct finding *find_report(const struct finding_report *report, const struct run_race *race)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        struct finding *finding = report->findings[i];
        if (finding->kind == race->kind && finding->accesses[1].number == race->sides[0].op &&
            finding->accesses[0].number == race->sides[1].op)
            return finding;
    }
    return NULL;
}

/* The race's whole report below the line of ='s, with the number that it has here. Newly allocated,
 * or NULL. */
static char *report_text(const struct finding_report *report, const struct run_race *race,
                         uint64_t number)
{
    static const char ruler[] = "============================\n";
    struct finding *finding = find_report(report, race);
    if (!finding)
        return NULL;
    finding_renumber(finding, number);
    const char *text = finding->text;
    return strdup(strncmp(text, ruler, sizeof ruler - 1) == 0 ? text + sizeof ruler - 1 : text);
}

/* Only a run with symbols knows its report, and whether a suppression matches. */
static void take_words(struct explored_race *finding, const struct run *symbolized,
                       const struct finding_report *report, uint64_t number)
{
    for (size_t i = 0; i < symbolized->race_count; i++) {
        const struct run_race *race = &symbolized->races[i];
        if (race_equal(race, &finding->race)) {
            finding->race.suppressed = race->suppressed;
            finding->text = race->suppressed ? NULL : report_text(report, race, number);
            return;
        }
    }
}

static struct explored_race *find(struct explorer *explorer, const struct run_race *race)
{
    for (size_t i = 0; i < explorer->finding_count; i++)
        if (race_equal(&explorer->findings[i].race, race))
            return &explorer->findings[i];
    return NULL;
}

/* Races this run is the first to report; `symbolized` is the same schedule's run with symbols, and
 * `report` what it reported. */
static void add_races(struct explorer *explorer, const struct run *run,
                      const struct run *symbolized, const struct finding_report *report)
{
    for (size_t i = 0; i < run->race_count; i++) {
        const struct run_race *race = &run->races[i];
        struct explored_race *known = find(explorer, race);
        if (known) {
            known->race.possible &= race->possible;
            continue;
        }
        if (explorer->finding_count == MOST_RACES) {
            explorer->untracked++;
            continue;
        }
        struct explored_race *finding = &explorer->findings[explorer->finding_count++];
        finding->race = *race;
        snprintf(finding->schedule, sizeof finding->schedule, "%.*s", SCHEDULE_BYTES - 1,
                 run->schedule);
        for (int k = 0; k < 2; k++)
            finding->items[k] = run_item_of(run, &race->sides[k]);
        take_words(finding, symbolized, report, explorer->finding_count);
    }
}

static bool has_news(struct explorer *explorer, const struct run *run)
{
    for (size_t i = 0; i < run->race_count; i++)
        if (!find(explorer, &run->races[i]) && explorer->finding_count < MOST_RACES)
            return true;
    return false;
}

static uint64_t alone_mask(const struct explorer *explorer)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < explorer->finding_count; i++)
        mask |= (uint64_t)explorer->findings[i].alone << i;
    return mask;
}

static uint64_t turned_mask(const struct explorer *explorer, const struct run *a,
                            const struct run *b)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < explorer->finding_count; i++)
        if (compare_order(a, b, &explorer->findings[i].race))
            mask |= UINT64_C(1) << i;
    return mask;
}

/* ---- Evidence ---- */

/* Make a run under a schedule, as the next number. */
static bool make(struct explorer *explorer, struct run *run, const char *schedule, bool symbolize)
{
    return run_make(run, &explorer->settings, ++explorer->numbered, schedule, symbolize);
}

static bool replay(struct explorer *explorer, const struct run *original, struct run *again,
                   bool symbolize)
{
    char path[SCRATCH_PATH], schedule[SCRATCH_PATH + 16];
    run_schedule_path(original, &explorer->settings, path);
    snprintf(schedule, sizeof schedule, "replay:%s", path);
    return make(explorer, again, schedule, symbolize);
}

/* Does the same schedule give the same results again? What it does not is ignored from now on. */
static bool is_steady(struct explorer *explorer, const struct run *run)
{
    struct run again;
    if (!replay(explorer, run, &again, false))
        return false;
    bool steady = compare_results(run, &again, &explorer->ignored).count == 0;
    if (!steady) {
        explorer->unsteady = true;
        part_set_add(&explorer->ignored, run, &again);
    }
    run_delete(&again, &explorer->settings, false);
    run_free(&again);
    return steady;
}

static void set_evidence(struct evidence *evidence, const struct run *a, const struct run *b,
                         const struct difference *difference)
{
    const struct run *runs[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        evidence->runs[i] = runs[i]->number;
        snprintf(evidence->schedules[i], SCHEDULE_BYTES, "%.*s", SCHEDULE_BYTES - 1,
                 runs[i]->schedule);
    }
    difference_describe(difference, evidence->what, sizeof evidence->what);
}

/* The runs differ, and these races went another way. */
static void weigh(struct explorer *explorer, const struct run *a, const struct run *b,
                  const struct difference *difference, uint64_t turned)
{
    bool single = (turned & (turned - 1)) == 0;
    for (size_t i = 0; i < explorer->finding_count; i++) {
        struct explored_race *finding = &explorer->findings[i];
        bool fewer = !finding->together ||
                     __builtin_popcountll(turned) < __builtin_popcountll(finding->together);
        if (!(turned >> i & 1) || finding->alone)
            continue;
        /* What a race that is confirmed by itself explains says nothing of the others. */
        if (!single && (!fewer || (turned & alone_mask(explorer))))
            continue;
        finding->alone = single;
        finding->together = single ? 0 : turned;
        set_evidence(&finding->evidence, a, b, difference);
    }
}

/* Would this difference say anything new? */
static bool is_conclusive(const struct explorer *explorer, uint64_t turned)
{
    if (!turned)
        return !explorer->unreported.runs[0];
    for (size_t i = 0; i < explorer->finding_count; i++)
        if ((turned >> i & 1) && !explorer->findings[i].alone)
            return true;
    return false;
}

/* Compare a run with one that is kept. True when they end equal. */
static bool compare_with(struct explorer *explorer, const struct run *kept, const struct run *run)
{
    struct difference difference = compare_results(kept, run, &explorer->ignored);
    if (!difference.count)
        return true;
    uint64_t turned = turned_mask(explorer, kept, run);
    if (is_conclusive(explorer, turned)) {
        if (!is_steady(explorer, run) || !is_steady(explorer, kept))
            difference = compare_results(kept, run, &explorer->ignored);
        if (!difference.count || child_interrupted())
            return true;
        if (turned)
            weigh(explorer, kept, run, &difference, turned);
        else
            set_evidence(&explorer->unreported, kept, run, &difference);
    }
    explorer->unreported_runs += turned == 0;
    return false;
}

/* The program made other calls than in the kept run: it learned something of the device. Does it
 * end differently then? */
static void compare_other_way(struct explorer *explorer, const struct run *kept,
                              const struct run *run)
{
    struct difference difference = compare_ends(kept, run, &explorer->ignored);
    if (!difference.count || explorer->parted.runs[0])
        return;
    if (!is_steady(explorer, run) || !is_steady(explorer, kept))
        difference = compare_ends(kept, run, &explorer->ignored);
    if (difference.count && !child_interrupted())
        set_evidence(&explorer->parted, kept, run, &difference);
}

/* Compare with all that are kept, and keep it when its results are new. */
static void classify(struct explorer *explorer, struct run *run)
{
    bool known = false, same_way = false;
    for (size_t i = 0; i < explorer->kept_count; i++) {
        if (!compare_way(&explorer->kept[i], run)) {
            compare_other_way(explorer, &explorer->kept[i], run);
            continue;
        }
        same_way = true;
        known |= compare_with(explorer, &explorer->kept[i], run);
    }
    explorer->ways += !same_way;
    if (known && compare_way(&explorer->kept[0], run)) {
        const struct run *first = &explorer->kept[0];
        bool equal = !compare_results(first, run, &explorer->ignored).count;
        uint64_t turned = equal ? turned_mask(explorer, first, run) : 0;
        for (size_t i = 0; i < explorer->finding_count; i++)
            explorer->findings[i].in_vain += turned >> i & 1;
    }
    run_delete(run, &explorer->settings, true);
    if (known || explorer->kept_count == MOST_KEPT)
        run_free(run);
    else
        explorer->kept[explorer->kept_count++] = *run;
}

/* ---- Schedules ---- */

/* One that turns the race's accesses around: the older one is held back until the newer one is
 * done, alone or with all that was enqueued in between. False: there is no more. */
static bool target(struct explored_race *finding, char *schedule, size_t bytes)
{
    uint64_t a = finding->items[0], b = finding->items[1];
    if (!a)
        return false;
    if (b && b < a) {
        uint64_t older = b;
        b = a;
        a = older;
    }
    switch (finding->targeted++) {
    case 0:
        snprintf(schedule, bytes, "hold:%" PRIu64 "-%" PRIu64 ":%" PRIu64, a, a, b ? b : NEVER);
        return true;
    case 1:
        snprintf(schedule, bytes, "hold:%" PRIu64 "-%" PRIu64 ":%" PRIu64, a, b - 1, b);
        return b > a + 1;
    default:
        return false;
    }
}

static bool choose_target(struct explorer *explorer, char *schedule, size_t bytes)
{
    for (size_t i = 0; i < explorer->finding_count; i++)
        if (!explorer->findings[i].alone && target(&explorer->findings[i], schedule, bytes))
            return true;
    return false;
}

static void choose(struct explorer *explorer, char *schedule, size_t bytes)
{
    static const char *const fixed[FIXED_SCHEDULES] = {"eager", "lazy", "reverse"};
    if (explorer->made < FIXED_SCHEDULES)
        snprintf(schedule, bytes, "%s", fixed[explorer->made]);
    else if (!choose_target(explorer, schedule, bytes))
        snprintf(schedule, bytes, "random:%" PRIu64, ++explorer->seed);
}

/* ---- Exploring ---- */

static void progress(const struct explorer *explorer, bool last)
{
    unsigned confirmed = 0;
    if (!isatty(STDERR_FILENO))
        return;
    for (size_t i = 0; i < explorer->finding_count; i++)
        confirmed += finding_confirmed(&explorer->findings[i]);
    if (last)
        shown_progress("%s", "");
    else
        shown_progress("run %u of %lu: %zu race%s, %u confirmed", explorer->made, explorer->wanted,
                       explorer->finding_count, explorer->finding_count == 1 ? "" : "s", confirmed);
}

/* Reports are put into words once a race, by the run that is the first to have it. */
static void take_races(struct explorer *explorer, const struct run *run, bool is_symbolized)
{
    struct finding_report report = {0};
    struct run again;
    if (!has_news(explorer, run)) {
        add_races(explorer, run, run, &report);
    } else if (is_symbolized) {
        run_read_report(run, &explorer->settings, &report);
        add_races(explorer, run, run, &report);
    } else if (replay(explorer, run, &again, true)) {
        run_read_report(&again, &explorer->settings, &report);
        add_races(explorer, run, &again, &report);
        run_delete(&again, &explorer->settings, false);
        run_free(&again);
    }
    finding_report_free(&report);
}

/* The program as it is, under eager. False: it cannot be explored. */
static bool check_first(const struct explorer *explorer, const struct run *run)
{
    const struct program *program = &explorer->program;
    char how[64];
    child_describe_end(run->status, how, sizeof how);
    if (run->timed_out)
        program_fail(
            program, 0,
            "the first run took longer than %.0f seconds; allow more with --timeout=SECONDS",
            explorer->settings.timeout);
    else if (!run->used_device)
        program_fail(program, 0, "'%s' used no CUDA device, or did not get that far; it ended %s",
                     program->path, how);
    else if (run->processes > 1)
        program_fail(
            program, 0,
            "%u processes of the program use CUDA, but a schedule is the order of one process; "
            "explore one of them alone",
            run->processes);
    else if (run->status)
        program_fail(program, 0, "note: under the schedule eager the program ends %s:", how);
    if (run->status)
        run_print_errors(run, &explorer->settings);
    return !run->timed_out && run->used_device && run->processes <= 1;
}

static bool all_confirmed(const struct explorer *explorer)
{
    for (size_t i = 0; i < explorer->finding_count; i++)
        if (!finding_confirmed(&explorer->findings[i]))
            return false;
    return explorer->finding_count > 0;
}

static bool step(struct explorer *explorer, int *code)
{
    char schedule[SCHEDULE_BYTES];
    struct run run;
    bool first = explorer->made == 0;
    choose(explorer, schedule, sizeof schedule);
    if (!make(explorer, &run, schedule, first)) {
        *code = child_interrupted() ? 0 : EXIT_CANNOT_RUN;
        return false;
    }
    explorer->made++;
    if (first && !check_first(explorer, &run)) {
        *code = EXIT_CANNOT_RUN;
        run_delete(&run, &explorer->settings, false);
        run_free(&run);
        return false;
    }
    take_races(explorer, &run, first);
    explorer->threaded |= run.threads > 1;
    if (run.error_count > explorer->errors)
        explorer->errors = run.error_count;
    if (first)
        is_steady(explorer, &run);
    classify(explorer, &run);
    progress(explorer, false);
    return true;
}

/* ---- The end ---- */

/* A race once thought confirmed together with another is not when that other explains it alone. */
static void reconsider(struct explorer *explorer)
{
    uint64_t alone = alone_mask(explorer);
    for (size_t i = 0; i < explorer->finding_count; i++)
        if (explorer->findings[i].together & alone)
            explorer->findings[i].together = 0;
}

static bool names_run(const struct evidence *evidence, unsigned number)
{
    return evidence->runs[0] == number || evidence->runs[1] == number;
}

static bool is_shown(const struct explorer *explorer, unsigned number)
{
    bool shown = names_run(&explorer->unreported, number) || names_run(&explorer->parted, number);
    for (size_t i = 0; i < explorer->finding_count; i++) {
        const struct explored_race *finding = &explorer->findings[i];
        shown |= finding_confirmed(finding) && names_run(&finding->evidence, number);
    }
    return shown;
}

/* For scratch.h: the schedules that show something stay. */
static bool keeps(const char *name, const void *user)
{
    const struct explorer *explorer = user;
    unsigned number;
    int end = 0;
    return sscanf(name, "%u.schedule%n", &number, &end) == 1 && end && !name[end] &&
           is_shown(explorer, number);
}

static int verdict(const struct explorer *explorer)
{
    if (explorer->unreported.runs[0])
        return EXIT_UNREPORTED;
    for (size_t i = 0; i < explorer->finding_count; i++)
        if (!explorer->findings[i].race.suppressed &&
            (!explorer->findings[i].race.possible || finding_confirmed(&explorer->findings[i])))
            return EXIT_RACE;
    if (explorer->parted.runs[0])
        return EXIT_UNREPORTED;
    return child_interrupted() ? EXIT_INTERRUPTED + child_interrupted() : 0;
}

static void release(struct explorer *explorer)
{
    for (size_t i = 0; i < explorer->kept_count; i++)
        run_free(&explorer->kept[i]);
    for (size_t i = 0; i < explorer->finding_count; i++)
        free(explorer->findings[i].text);
    free(explorer->ignored.parts);
}

int command_explore(int argc, char **argv)
{
    static struct explorer explorer = {
        .program = {.command = "explore", .device = PROGRAM_EMBEDDED},
        .wanted = 100,
        .settings.timeout = 60,
    };
    int code = parse(&explorer, argc, argv);
    if (!code)
        code = program_prepare(&explorer.program);
    if (!code) {
        child_watch_signals();
        code = make_scratch(&explorer);
    }
    if (code)
        return code < 0 ? 0 : code;
    while (!code && !child_interrupted() && explorer.made < explorer.wanted &&
           !(explorer.until_confirmed && explorer.made >= FIXED_SCHEDULES &&
             all_confirmed(&explorer)) &&
           step(&explorer, &code))
        reconsider(&explorer);
    progress(&explorer, true);
    if (!explorer.json)
        shown_wrap();
    if (!code) {
        code = verdict(&explorer);
        if (explorer.json)
            explore_report_json(&explorer, code);
        else
            explore_report(&explorer);
    }
    scratch_close(&explorer.settings.scratch, explorer.keep ? keeps : NULL, &explorer);
    release(&explorer);
    return code;
}
