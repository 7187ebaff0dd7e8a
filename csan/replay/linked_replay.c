/* See linked_replay.h. */
#include "csan/replay/linked_replay.h"
#include "csan/detector/context.h"
#include "csan/replay/linked_process.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TURN_ENTRIES = 512,
    PROGRESS_ENTRIES = 4096,
    LINE_BYTES = PATH_MAX + 512,
    SAID_MAX = 8,
    BEGINNING_OF_TIME = 1
};
/* In nanoseconds: how far the clocks of two recordings may be apart. */
static const uint64_t clock_margin = 10000000;

struct reading {
    struct recording_reader *reader;
    struct recorded recorded; /* the newest entry */
    bool waits;               /* it was not taken yet */
    bool over;
    uint64_t time; /* since 1970, as far as the recording says */
    uint64_t now;  /* of its own clock */
    uint64_t offset;
    uint64_t scanned; /* entries of the first reading: a file may have grown since */
};

struct linked_replay {
    struct linked linked;
    struct link_scan *scan;
    struct interleaving *interleaving; /* NULL: nobody wants it */
    struct replay_definitions code;
    const struct linked_source *sources;
    struct reading *readings;
    struct linked_counts counts;
    uint64_t missed; /* waits for what never came */
    bool doubts, unlinked;
    uint64_t time;     /* the latest of an entry that was taken */
    uint64_t cut_time; /* what comes later a process may order whose recording is cut off */
    void (*say)(void *user, const char *line);
    void (*progress)(void *user); /* or NULL */
    uint64_t shown;               /* entries at its last call */
    void *user;
};

/* ---- Time ----------------------------------------------------------------------------------- */

static void clock_take(struct reading *reading, const struct recorded *recorded)
{
    if (recorded->kind == RECORDED_CLOCK)
        reading->offset = recorded->value[FIELD_NANOSECONDS] - reading->now;
    if (recorded->kind == RECORDED_TIME)
        reading->now += recorded->value[FIELD_NANOSECONDS];
    reading->time = reading->now + reading->offset;
}

/* What it did behind that is lost, and may order others. */
static void cut_note(struct linked_replay *replay, const struct reading *reading)
{
    const uint64_t time = reading->time > clock_margin ? reading->time - clock_margin : 0;
    if (time < replay->cut_time)
        replay->cut_time = time;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static bool scan_one(struct linked_replay *replay, size_t process, char *message,
                     size_t message_bytes)
{
    char links[8];
    struct link_scan *scan = replay->scan;
    struct reading *scanned = &replay->readings[process];
    struct recording_reader *reader =
        recording_reader_open(replay->sources[process].path, message, message_bytes);
    struct recorded recorded;
    bool taken = true, outside = true;
    replay->unlinked |=
        reader && !recording_reader_fact(reader, "links", NULL, links, sizeof links);
    enum recorded_status status = RECORDED_ENTRY;
    while (reader && taken &&
           (status = recording_reader_next(reader, &recorded)) == RECORDED_ENTRY) {
        scanned->scanned++;
        clock_take(scanned, &recorded);
        if (recorded.kind == RECORDED_CONTEXT)
            outside = recorded.value[FIELD_CONTEXT] == 0;
        taken = !outside || link_scan_take(scan, process, &recorded);
    }
    if (status == RECORDED_DAMAGED)
        cut_note(replay, scanned);
    scanned->now = scanned->offset = scanned->time = 0;
    recording_reader_close(reader);
    if (!taken)
        snprintf(message, message_bytes, "out of memory");
    return reader && taken;
}

static bool scan_all(struct linked_replay *replay, char *message, size_t message_bytes)
{
    for (size_t i = 0; i < replay->linked.count; i++)
        if (!scan_one(replay, i, message, message_bytes))
            return false;
    return link_scan_resolve(replay->scan);
}

static bool open_all(struct linked_replay *replay, char *message, size_t message_bytes)
{
    struct linked *linked = &replay->linked;
    for (size_t i = 0; i < linked->count; i++) {
        replay->readings[i].reader =
            recording_reader_open(replay->sources[i].path, message, message_bytes);
        if (!replay->readings[i].reader)
            return false;
        linked->processes[i] = linked_process_create(linked, i, replay->sources[i].name);
        if (!linked->processes[i])
            return false;
    }
    return true;
}

static void op_entered(void *user, uint64_t sequence, csan_lane lane, csan_site site, int before)
{
    struct linked_replay *replay = user;
    (void)lane, (void)site, (void)before;
    linked_origin_note(&replay->linked, sequence);
}

struct linked_replay *linked_replay_create(csan_context *context,
                                           const struct linked_source *sources, size_t count,
                                           char *message, size_t message_bytes)
{
    struct linked_replay *replay = calloc(1, sizeof *replay);
    snprintf(message, message_bytes, "out of memory");
    if (!replay)
        return NULL;
    struct linked *linked = &replay->linked;
    replay->sources = sources;
    replay->cut_time = UINT64_MAX;
    replay->scan = link_scan_create(count);
    replay->readings = calloc(count + 1, sizeof *replay->readings);
    linked->processes = calloc(count + 1, sizeof(struct linked_process *));
    linked->context = context;
    linked->scan = replay->scan;
    linked->messages = message_table_create(context);
    linked->code = &replay->code;
    linked->count = count;
    if (!replay->scan || !replay->readings || !linked->processes || !linked->messages ||
        !scan_all(replay, message, message_bytes) || !open_all(replay, message, message_bytes)) {
        linked_replay_destroy(replay);
        return NULL;
    }
    csan_context_observe(context, op_entered, replay);
    context_set_time(context, BEGINNING_OF_TIME, CSAN_TIME_UNKNOWN);
    return replay;
}

void linked_replay_destroy(struct linked_replay *replay)
{
    if (!replay)
        return;
    struct linked *linked = &replay->linked;
    for (size_t i = 0; i < linked->count; i++) {
        if (replay->readings)
            recording_reader_close(replay->readings[i].reader);
        if (linked->processes)
            linked_process_destroy(linked->processes[i]);
    }
    csan_context_observe(linked->context, NULL, NULL);
    message_table_destroy(linked->messages);
    interleaving_destroy(replay->interleaving);
    free(linked->origins);
    link_scan_destroy(replay->scan);
    replay_definitions_clear(&replay->code);
    free(linked->processes);
    free(linked->site_process);
    free(replay->readings);
    free(replay);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

static void say(const struct linked_replay *replay, const char *line)
{
    if (replay->say)
        replay->say(replay->user, line);
}

static void end(struct linked_replay *replay, size_t process, const char *why)
{
    char line[LINE_BYTES];
    struct reading *reading = &replay->readings[process];
    reading->over = true;
    linked_process_end(replay->linked.processes[process]);
    if (!why)
        return;
    snprintf(line, sizeof line, "%s: %s; what it did after that is not compared with others",
             replay->sources[process].name, why);
    say(replay, line);
}

/* The next entry into reading->recorded. False: there is none. */
static bool next(struct linked_replay *replay, size_t process)
{
    struct reading *reading = &replay->readings[process];
    if (reading->waits)
        return true;
    enum recorded_status status = recording_reader_next(reading->reader, &reading->recorded);
    if (status == RECORDED_ENTRY && !reading->scanned)
        status = RECORDED_END;
    if (status != RECORDED_ENTRY) {
        end(replay, process,
            status == RECORDED_DAMAGED ? recording_reader_message(reading->reader) : NULL);
        return false;
    }
    reading->waits = true;
    reading->scanned--;
    replay->counts.entries++;
    clock_take(reading, &reading->recorded);
    return true;
}

static void count(struct linked_replay *replay, const struct recorded *recorded)
{
    if (recorded->kind != RECORDED_LINK)
        return;
    const uint64_t kind = recorded->value[FIELD_FLAGS];
    replay->counts.messages +=
        kind == CSAN_LINK_RECEIVE || (kind == CSAN_LINK_TAKE && recorded->value[FIELD_HANDLE]);
    replay->counts.bytes += kind == CSAN_LINK_NEXT ? recorded->value[FIELD_BYTES] : 0;
    replay->counts.collectives += kind == CSAN_LINK_LEAVE;
    replay->counts.waits += kind == CSAN_LINK_WAIT && !recorded->value[FIELD_LAST];
    replay->counts.shared += kind == CSAN_LINK_OPEN || kind == CSAN_LINK_MAP;
}

static void take(struct linked_replay *replay, size_t process)
{
    struct reading *reading = &replay->readings[process];
    count(replay, &reading->recorded);
    if (replay->interleaving)
        interleaving_add(replay->interleaving, process);
    if (reading->time > replay->time)
        replay->time = reading->time;
    const char *wrong = linked_process_take(replay->linked.processes[process], &reading->recorded);
    reading->waits = false;
    if (!wrong)
        return;
    recording_reader_refuse(reading->reader, wrong);
    end(replay, process, recording_reader_message(reading->reader));
}

static bool is_ready(struct linked_replay *replay, size_t process)
{
    struct linked_want want;
    const struct reading *reading = &replay->readings[process];
    return !reading->over &&
           (!reading->waits ||
            linked_process_ready(replay->linked.processes[process], &reading->recorded, &want));
}

static void turn(struct linked_replay *replay, size_t process)
{
    struct linked_want want;
    const struct linked_process *of = replay->linked.processes[process];
    for (int i = 0; i < TURN_ENTRIES && next(replay, process); i++) {
        if (!linked_process_ready(of, &replay->readings[process].recorded, &want))
            return;
        take(replay, process);
        if (replay->readings[process].over)
            return;
    }
}

/* The one that is behind; `count`: there is none. */
static size_t behind(struct linked_replay *replay, bool ready)
{
    size_t found = replay->linked.count;
    for (size_t i = 0; i < replay->linked.count; i++) {
        const struct reading *reading = &replay->readings[i];
        if (!reading->over && (!ready || is_ready(replay, i)) &&
            (found == replay->linked.count || reading->time < replay->readings[found].time))
            found = i;
    }
    return found;
}

/* ---- What is missing ------------------------------------------------------------------------- */

static void say_missed(struct linked_replay *replay, size_t process)
{
    static const char *const words[] = {
        [WANT_MESSAGE] = "received a message",
        [WANT_COLLECTIVE] = "left a collective call or barrier",
        [WANT_EVENT] = "waited for an event",
        [WANT_HANDLE] = "opened memory",
        [WANT_VALUE] = "read a value of a store",
        [WANT_RECEIVE] = "ended a send that waits for its receive,",
        [WANT_LOCK] = "had a lock",
    };
    static const char *const lacks[] = {
        [WANT_MESSAGE] = "that no recording sends",
        [WANT_COLLECTIVE] = "that not all of its processes enter in the recordings",
        [WANT_EVENT] = "whose record is missing",
        [WANT_HANDLE] = "whose handle is missing",
        [WANT_VALUE] = "that no recording sets",
        [WANT_RECEIVE] = "which no recording posts",
        [WANT_LOCK] = "that another process does not give back in the recordings",
    };
    struct linked_want want;
    char line[LINE_BYTES];
    linked_process_ready(replay->linked.processes[process], &replay->readings[process].recorded,
                         &want);
    snprintf(line, sizeof line, "%s %s %s: races found from here on are possible ones",
             replay->sources[process].name, words[want.what], lacks[want.what]);
    if (replay->missed++ < SAID_MAX)
        say(replay, line);
}

/* All that go on wait. */
static void go_on_without(struct linked_replay *replay, size_t process)
{
    say_missed(replay, process);
    replay->doubts = true;
    take(replay, process);
}

static void say_lack(struct linked_replay *replay, size_t process, const char *what)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s: %s: all races between processes are possible ones",
             replay->sources[process].name, what);
    say(replay, line);
    replay->doubts = true;
}

/* What the processes themselves say that nobody follows. */
static void say_lacks(struct linked_replay *replay)
{
    static const char *const lacks[CSAN_LACKS] = {
        [CSAN_LACK_COMMUNICATOR] = "messages of a communicator that csan does not know",
        [CSAN_LACK_ONE_SIDED] = "locks and flushes of windows are not followed",
        [CSAN_LACK_FREED] = "a receive that nobody can wait for (MPI_Request_free)",
        [CSAN_LACK_CANCELLED] = "a send that was cancelled, or a call that failed",
        [CSAN_LACK_GRAPH] = "calls of NCCL in a graph are not followed",
        [CSAN_LACK_STORE] = "calls of a store that do not say who set what (append, num_keys)",
        [CSAN_LACK_UNFOLLOWED] = "calls that move data between processes and are not followed",
        [CSAN_LACK_THREADS] = "threads that send or receive by one communicator",
    };
    for (size_t i = 0; i < replay->linked.count; i++) {
        const struct link_process *process = link_scan_of(replay->scan, i);
        for (unsigned lack = 0; lack < 32; lack++)
            if (process->lacks & 1u << lack)
                say_lack(replay, i,
                         lack < CSAN_LACKS && lacks[lack]
                             ? lacks[lack]
                             : "something that this csan does not know");
        if (process->foreign)
            say_lack(replay, i, "it opened memory of a process that is not among the recordings");
        if (process->uncertain)
            say_lack(replay, i, "a receive that was never over");
        if (process->unordered)
            say_lack(replay, i, "which process had a lock of a window first is not known");
        if (process->exposed)
            say_lack(replay, i,
                     "it read values of a window that others could write at the same time");
    }
}

bool linked_replay_has_messages(const struct linked_replay *replay)
{
    return !replay->unlinked;
}

void linked_replay_on_progress(struct linked_replay *replay, void (*progress)(void *user))
{
    replay->progress = progress;
}

static void show_progress(struct linked_replay *replay)
{
    if (!replay->progress || replay->counts.entries - replay->shown < PROGRESS_ENTRIES)
        return;
    replay->shown = replay->counts.entries;
    replay->progress(replay->user);
}

void linked_replay_run(struct linked_replay *replay, void (*to)(void *user, const char *line),
                       void *user)
{
    char line[LINE_BYTES];
    replay->say = to;
    replay->user = user;
    say_lacks(replay);
    for (size_t process;;) {
        if ((process = behind(replay, true)) < replay->linked.count)
            turn(replay, process);
        else if ((process = behind(replay, false)) < replay->linked.count)
            go_on_without(replay, process);
        else
            break;
        show_progress(replay);
    }
    const size_t awaiting = message_table_awaiting(replay->linked.messages);
    if (awaiting) {
        snprintf(line, sizeof line,
                 "%zu streams wait for messages or collective calls that are not in the "
                 "recordings: races that waited for them are possible ones",
                 awaiting);
        say(replay, line);
        replay->doubts = true;
    }
    csan_context_drain(replay->linked.context);
    if (replay->missed > SAID_MAX) {
        snprintf(line, sizeof line,
                 "%" PRIu64 " more waits between processes have nothing that they wait for",
                 replay->missed - SAID_MAX);
        say(replay, line);
    }
}

bool linked_replay_interleaves(struct linked_replay *replay)
{
    if (!replay->interleaving)
        replay->interleaving = interleaving_create(replay->scan, replay->linked.count);
    return replay->interleaving != NULL;
}

struct interleaving *linked_replay_interleaving(struct linked_replay *replay)
{
    struct interleaving *interleaving = replay->interleaving;
    replay->interleaving = NULL;
    return interleaving;
}

/* ---- Questions ------------------------------------------------------------------------------- */

bool linked_replay_process(const struct linked_replay *replay, uint32_t site, size_t *process)
{
    const struct linked *linked = &replay->linked;
    if (site >= linked->site_capacity || !linked->site_process[site])
        return false;
    *process = linked->site_process[site] - 1;
    return true;
}

uint64_t linked_replay_op(const struct linked_replay *replay, uint64_t op)
{
    return linked_origin(&replay->linked, op);
}

bool linked_replay_doubts(const struct linked_replay *replay)
{
    struct csan_stats stats;
    if (replay->doubts || replay->time >= replay->cut_time)
        return true;
    context_counts(replay->linked.context, &stats); /* order that was given up */
    return stats.promises_broken || stats.pending_overflows;
}

struct replay_definitions *linked_replay_code(struct linked_replay *replay)
{
    return &replay->code;
}

struct linked_counts linked_replay_counts(const struct linked_replay *replay)
{
    return replay->counts;
}
