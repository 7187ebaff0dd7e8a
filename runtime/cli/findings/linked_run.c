/* See linked_run.h. */
#include "runtime/cli/findings/linked_run.h"
#include "csan/detector/context.h"
#include "csan/replay/linked_replay.h"
#include "csan/base/text.h"
#include "csan/report/proposal.h"
#include "csan/report/report.h"
#include "csan/stack/symbolizer.h"
#include "runtime/cli/findings/recorded_lines.h"
#include "runtime/cli/shown.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BAD = 2 };

struct linked_run {
    struct finding_set *set;
    struct options options;
    struct linked_source *sources;
    csan_context *context;
    struct linked_replay *replay;
    struct symbolizer *symbolizer;
    struct report_sink *sink;
    uint64_t found, possible;
    struct shown_pace pace;
    bool unfollowed; /* messages of MPI may order what nothing else does */
};

static int fail(const struct linked_run *run, const char *message)
{
    fprintf(stderr, "csan %s: %s\n", run->set->command, message);
    return BAD;
}

/* ---- Races ----------------------------------------------------------------------------------- */

/* Of two processes: what one process did to itself its own replay has found. */
static bool is_between(const struct linked_run *run, const struct csan_race *race, size_t *earlier,
                       size_t *later)
{
    return linked_replay_process(run->replay, race->previous.site, earlier) &&
           linked_replay_process(run->replay, race->current.site, later) && *earlier != *later;
}

static bool passes_by(void *user, const struct csan_race *race)
{
    const struct linked_run *run = user;
    size_t earlier, later;
    return !run->replay || csan_is_error(race) || !is_between(run, race, &earlier, &later);
}

/* The line that begins so says this instead. */
static void line_replace(char **whole, const char *begin, const char *as, const char *line)
{
    struct text text = {0};
    char *at = strstr(*whole, begin), *rest = at ? strchr(at + 1, '\n') : NULL;
    if (!rest)
        return;
    text_add(&text, "%.*s%s%s%s", (int)(at - *whole), *whole, as, line, rest);
    if (!text.data || text.cut) {
        text_free(&text);
        return;
    }
    free(*whole);
    *whole = text.data;
}

static void string_replace(char **string, const char *by)
{
    char *copy = strdup(by);
    if (!copy)
        return;
    free(*string);
    *string = copy;
}

static bool is_put(const struct finding_access *access)
{
    return access->name && strcmp(access->name, "ncclPutSignal") == 0;
}

/* What would order the two accesses: a put has a signal already. */
static void fix_write(char *fix, size_t size, const struct finding *finding, const char *earlier,
                      const char *later)
{
    const bool put_is_later = is_put(&finding->accesses[0]);
    const char *other = put_is_later ? earlier : later;
    if (put_is_later || is_put(&finding->accesses[1]))
        snprintf(fix, size,
                 "if the put is to come first, wait for its signal in %s (ncclWaitSignal) before "
                 "the other access. If it is to come second, signal in %s (ncclSignal) behind the "
                 "other access, and wait for that in %s before the put.",
                 other, other, put_is_later ? later : earlier);
    else
        snprintf(fix, size,
                 "in %s, wait for the earlier access (cudaStreamSynchronize), then send a message "
                 "that %s receives before the later one. Or, so that no host waits: record an "
                 "event that both have (cudaIpcGetEventHandle) before the message, and wait for it "
                 "(cudaStreamWaitEvent) behind it. csan_send and csan_receive declare messages "
                 "that csan cannot see.",
                 earlier, later);
}

/* What orders streams of one process does not order two processes. `was_possible`: without the
 * doubts, too. */
static void reword(struct linked_run *run, struct finding *finding, bool was_possible,
                   const char *earlier, const char *later)
{
    char cause[512], fix[1024], origin[256];
    const bool doubts = run->unfollowed || linked_replay_doubts(run->replay);
    snprintf(cause, sizeof cause, "%s",
             doubts
                 ? "no message, barrier or event in the recordings orders the two processes; the "
                   "recordings lack something, which may have ordered them."
                 : "no message, barrier or event orders the two processes.");
    fix_write(fix, sizeof fix, finding, earlier, later);
    snprintf(origin, sizeof origin, "%s (the earlier access) and %s.", earlier, later);
    line_replace(&finding->text, "\nCause: ", "\nCause: ", cause);
    line_replace(&finding->text, "\nFix: ", "\nFix: ", fix);
    line_replace(&finding->text, "\nIn process ", "\nBetween ", origin);
    if (doubts && !was_possible)
        line_replace(&finding->text, "whether their strides overlap", "",
                     "whether the two processes are in order is not known.");
    string_replace(&finding->cause, cause);
    string_replace(&finding->fix, fix);
    finding->proposal.kind = PROPOSAL_NONE;
}

/* Ops have the numbers of their own recordings. */
static void numbers_change(const struct linked_run *run, struct finding *finding)
{
    for (size_t i = 0; i < 2; i++)
        finding->accesses[i].number = linked_replay_op(run->replay, finding->accesses[i].number);
    for (size_t i = 0; i < finding->other_count; i++)
        finding->others[i].number = linked_replay_op(run->replay, finding->others[i].number);
}

static void race_found(void *user, const struct csan_race *race)
{
    struct linked_run *run = user;
    struct csan_race changed = *race;
    size_t earlier, later;
    if (!run->sink || !is_between(run, race, &earlier, &later) ||
        report_suppresses(run->sink, race))
        return;
    changed.possible |= run->unfollowed || linked_replay_doubts(run->replay);
    struct finding *finding = report_finding(run->sink, &changed);
    if (!finding)
        return;
    reword(run, finding, race->possible, run->set->recordings[earlier].name,
           run->set->recordings[later].name);
    run->found++;
    run->possible += finding->possible;
    numbers_change(run, finding);
    finding_set_take(run->set, finding, run->set->recordings[earlier].process,
                     run->set->recordings[later].process);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool sources_make(struct linked_run *run)
{
    const struct finding_set *set = run->set;
    run->sources = calloc(set->recording_count + 1, sizeof *run->sources);
    for (size_t i = 0; run->sources && i < set->recording_count; i++)
        run->sources[i] = (struct linked_source){set->recordings[i].path, set->recordings[i].name};
    return run->sources != NULL;
}

static bool tools_make(struct linked_run *run, char *message, size_t bytes)
{
    char text[256];
    snprintf(text, sizeof text, "pending_limit=%d:strided_cap=%d:dedup=%d",
             run->options.pending_limit, run->options.strided_cap, run->options.dedup);
    run->context = csan_context_create(text, race_found, run, message, bytes);
    if (!run->context)
        return false;
    context_set_filter(run->context, passes_by, run);
    run->replay =
        linked_replay_create(run->context, run->sources, run->set->recording_count, message, bytes);
    if (!run->replay)
        return false;
    snprintf(message, bytes, "out of memory");
    run->symbolizer =
        symbolizer_create_for(&run->options, &linked_replay_code(run->replay)->modules);
    run->options.baseline[0] = '\0';
    strcpy(run->options.format, "text");
    run->sink = run->symbolizer ? report_open(&run->options, run->symbolizer) : NULL;
    recorded_lines_use(linked_replay_code(run->replay));
    return run->sink != NULL;
}

static void close_all(struct linked_run *run)
{
    recorded_lines_use(NULL);
    if (run->sink)
        report_close(run->sink);
    run->sink = NULL;
    if (run->symbolizer)
        run->symbolizer->destroy(run->symbolizer);
    struct linked_replay *replay = run->replay;
    run->replay = NULL; /* what is decided by ending is passed by */
    linked_replay_destroy(replay);
    if (run->context)
        csan_context_destroy(run->context);
    free(run->sources);
}

static void progress(void *user)
{
    struct linked_run *run = user;
    if (shown_is_due(&run->pace))
        shown_progress("csan %s: %zu processes in order: %" PRIu64 " entries", run->set->command,
                       run->set->recording_count, linked_replay_counts(run->replay).entries);
}

static void say(void *user, const char *line)
{
    shown_done(&((struct linked_run *)user)->pace);
    fail(user, line);
}

/* Recordings of csan's before format 1.11 have no messages of MPI. What those order must not be a
 * certain race. */
static bool lacks_messages(const struct linked_run *run)
{
    const struct finding_set *set = run->set;
    bool uses = false;
    for (size_t i = 0; i < set->note_count; i++)
        uses |= strncmp(set->notes[i], "MPI (", 5) == 0;
    return uses && !linked_replay_has_messages(run->replay);
}

/* What single processes could not see, and all of them together did. */
static void forget_unmodelled(struct finding_set *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->unmodelled_count; i++) {
        char *note = set->unmodelled[i];
        if (strstr(note, "shared with other processes"))
            free(note);
        else
            set->unmodelled[kept++] = note;
    }
    set->unmodelled_count = kept;
}

static void say_counts(const struct linked_run *run)
{
    const struct linked_counts counts = linked_replay_counts(run->replay);
    fprintf(stderr,
            "csan %s: %zu processes in order: %" PRIu64 " entries, %" PRIu64 " messages, %" PRIu64
            " ends of collective calls, %" PRIu64 " waits for shared events, %" PRIu64
            " openings of shared memory: %" PRIu64 " races between processes, %" PRIu64
            " of them possible\n",
            run->set->command, run->set->recording_count, counts.entries, counts.messages,
            counts.collectives, counts.waits, counts.shared, run->found, run->possible);
}

int linked_run_add(struct finding_set *set)
{
    static struct linked_run run;
    char message[PATH_MAX + 256] = "out of memory";
    int code = 0;
    run = (struct linked_run){.set = set, .options = set->options};
    const bool made = sources_make(&run);
    if (made && set->recording_count < 2)
        code = fail(&run, "--order needs the recordings of at least two processes (csan record)");
    else if (!made || !tools_make(&run, message, sizeof message))
        code = fail(&run, message);
    if (!code && (run.unfollowed = lacks_messages(&run)))
        say(&run, "the recordings are of an older csan and lack the messages of MPI: all races "
                  "between processes are possible ones");
    if (!code && set->drawn && !linked_replay_interleaves(run.replay))
        code = fail(&run, message);
    if (!code) {
        linked_replay_on_progress(run.replay, progress);
        linked_replay_run(run.replay, say, &run);
        shown_done(&run.pace);
        if (!run.unfollowed && !linked_replay_doubts(run.replay))
            forget_unmodelled(set);
        set->interleaving = linked_replay_interleaving(run.replay);
        say_counts(&run);
    }
    close_all(&run);
    return code;
}
