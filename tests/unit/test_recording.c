/* Recordings: random programs recorded while the detector looks on, and replayed: the races must be
 * the same, one by one. Then the same files cut off, with bits flipped, of another version or no
 * recordings at all: what can be read is, and the rest is said with file and byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/context.h"
#include "csan/output.h"
#include "csan/recording_block.h"
#include "csan/recording_read.h"
#include "csan/recording_write.h"
#include "csan/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char scratch[] = "/tmp/csan-recording-XXXXXX";
static char noted[1024];

static uint64_t random_state = 1;
static uint32_t random_below(uint32_t bound)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((random_state >> 33) % bound);
}

static const char *in_scratch(const char *name)
{
    static char paths[4][128];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

static void note(const char *line)
{
    snprintf(noted, sizeof noted, "%s", line);
}

/* ---- races, as text */

struct races {
    char *text;
    size_t length, capacity;
    size_t count;
};

static void race_keep(void *user, const struct csan_race *race)
{
    struct races *races = user;
    char line[1024];
    const struct csan_race_access *sides[] = {&race->current, &race->previous};
    int length =
        snprintf(line, sizeof line, "%llu: %d %d %llx+%llu of %llx+%llu at %llx %s\n",
                 (unsigned long long)race->number, race->kind, race->possible,
                 (unsigned long long)race->address, (unsigned long long)race->bytes,
                 (unsigned long long)race->allocation, (unsigned long long)race->allocation_bytes,
                 (unsigned long long)race->pointer, race->unpromised ? race->unpromised : "");
    for (int i = 0; i < 2; i++)
        length += snprintf(line + length, sizeof line - (size_t)length,
                           "  %llx %s %s(%s) %d %d #%llu %zu frames, first %p\n",
                           (unsigned long long)sides[i]->stream, sides[i]->lane, sides[i]->name,
                           sides[i]->arguments, sides[i]->kind, sides[i]->bound,
                           (unsigned long long)sides[i]->sequence, sides[i]->frame_count,
                           sides[i]->frame_count ? sides[i]->frames[0] : NULL);
    if (races->length + (size_t)length + 1 > races->capacity) {
        races->capacity = races->capacity * 2 + 4096;
        races->text = realloc(races->text, races->capacity);
        assert_non_null(races->text);
    }
    memcpy(races->text + races->length, line, (size_t)length + 1);
    races->length += (size_t)length;
    races->count++;
}

static void races_free(struct races *races)
{
    free(races->text);
    *races = (struct races){0};
}

/* ---- a program */

enum { LANES = 6, EVENTS = 5, SNAPSHOTS = 5, BLOCKS = 8, TICKETS = 4, SITES = 9 };
static const uint64_t memory = 0x7f0000000000;

struct program {
    csan_context *context;
    struct recording *recording;
    struct races races;
    csan_lane lanes[LANES]; /* CSAN_NO_LANE: none; the first is the host */
    csan_event *events[EVENTS];
    csan_snapshot *snapshots[SNAPSHOTS];
    uint64_t tickets[TICKETS];
    bool live[BLOCKS]; /* allocations of 4 KiB */
    csan_site sites[SITES];
    struct csan_access accesses[4]; /* of the newest op */
    struct csan_dim dims[4][CSAN_MAX_DIMS];
    size_t access_count;
    uint64_t ops;
};

static const char options[] = "dedup=0:pending_timeout_ms=0:pending_limit=20";

static struct program *program_create(const char *path, int check)
{
    struct program *program = calloc(1, sizeof *program);
    char message[256];
    program->context = csan_context_create(options, race_keep, &program->races, message, 256);
    assert_non_null(program->context);
    if (path) {
        unlink(path);
        noted[0] = '\0';
        program->recording = recording_create(path, 0, "maker test\n", note);
        assert_non_null(program->recording);
        context_record(program->context, program->recording, check);
    }
    for (int i = 1; i < LANES; i++)
        program->lanes[i] = CSAN_NO_LANE;
    for (uint32_t i = 0; i < SITES; i++) {
        static const char *const arguments[] = {"a", "b"};
        const void *const frames[] = {(void *)(uintptr_t)(0x1000 + i), (void *)0x2000};
        char name[16];
        snprintf(name, sizeof name, "site_%u", i);
        program->sites[i] =
            csan_site_intern(program->context, name, arguments, i % 3, frames, i % 3);
    }
    return program;
}

static void program_destroy(struct program *program)
{
    for (int i = 0; i < SNAPSHOTS; i++)
        if (program->snapshots[i])
            csan_snapshot_release(program->context, program->snapshots[i]);
    for (int i = 0; i < EVENTS; i++)
        csan_event_destroy(program->context, program->events[i]);
    csan_context_drain(program->context);
    if (program->recording)
        recording_finish(program->recording, "");
    csan_context_destroy(program->context);
    recording_destroy(program->recording);
    races_free(&program->races);
    free(program);
}

static csan_lane lane_any(struct program *program)
{
    uint32_t i = random_below(LANES);
    if (program->lanes[i] == CSAN_NO_LANE) {
        char label[32];
        snprintf(label, sizeof label, "stream %u", random_below(1000));
        program->lanes[i] = csan_lane_create(program->context, random_below(1000), label);
    }
    return program->lanes[i];
}

static csan_site site_any(struct program *program)
{
    return random_below(10) ? program->sites[random_below(SITES)] : 0;
}

static size_t accesses_any(struct csan_access *accesses, struct csan_dim dims[][CSAN_MAX_DIMS],
                           size_t most)
{
    size_t count = random_below((uint32_t)most + 1);
    for (size_t i = 0; i < count; i++) {
        accesses[i] = (struct csan_access){
            .base = memory + random_below(BLOCKS) * 8192ull + random_below(6) * 256ull,
            .bytes = random_below(8) ? 1 + random_below(300) : CSAN_TO_END,
            .kind = (uint8_t)(CSAN_READ + random_below(3)),
            .bound = (uint8_t)(random_below(3) ? 0 : random_below(CSAN_BOUND_OBJECT + 1)),
            .element_bytes = (uint8_t)(random_below(2) * 4),
            .argument = random_below(3) ? (uint16_t)random_below(3) : CSAN_NO_ARGUMENT,
            .dims = dims[i]};
        if (random_below(4) == 0 && accesses[i].bytes != CSAN_TO_END) {
            accesses[i].bytes = 4;
            accesses[i].dim_count = (uint8_t)(1 + random_below(2));
            dims[i][0] = (struct csan_dim){8 + random_below(3) * 8, 1 + random_below(20)};
            dims[i][1] = (struct csan_dim){-(int64_t)random_below(600), 1 + random_below(3)};
        }
    }
    return count;
}

static void op_any(struct program *program, csan_context *context, csan_lane lane)
{
    const struct csan_access *accesses = program->accesses;
    if (program->ops++ % 3 == 0) /* the others are of the same set */
        program->access_count = accesses_any(program->accesses, program->dims, 4);
    size_t count = program->access_count;
    uint32_t t = random_below(TICKETS);
    enum csan_level level = (enum csan_level)random_below(CSAN_LEVEL_COUNT);
    if (context != program->context || random_below(12)) {
        csan_op(context, lane, site_any(program), level, accesses, count);
    } else if (!program->tickets[t]) {
        program->tickets[t] =
            csan_op_pending(context, lane, site_any(program), level, accesses, count);
    } else {
        csan_op_resolve(context, program->tickets[t], level, accesses, count);
        program->tickets[t] = 0;
    }
}

static void snapshot_any(struct program *program)
{
    csan_context *context = program->context;
    csan_snapshot **snapshot = &program->snapshots[random_below(SNAPSHOTS)];
    if (!*snapshot) {
        csan_event *event = program->events[random_below(EVENTS)];
        uint32_t how = random_below(6);
        *snapshot = how == 0            ? csan_snapshot_take_all(context)
                    : how == 1          ? csan_snapshot_promise(context)
                    : how == 2 && event ? csan_event_snapshot(context, event)
                                        : csan_snapshot_take(context, lane_any(program));
        return;
    }
    switch (random_below(3)) {
    case 0:
        csan_snapshot_join(context, lane_any(program), *snapshot);
        return;
    case 1:
        csan_snapshot_keep(context, *snapshot, lane_any(program));
        return;
    default:
        csan_snapshot_release(context, *snapshot);
        *snapshot = NULL;
    }
}

static void event_any(struct program *program)
{
    csan_context *context = program->context;
    csan_event **event = &program->events[random_below(EVENTS)];
    csan_snapshot *snapshot = program->snapshots[random_below(SNAPSHOTS)];
    if (!*event)
        *event = csan_event_create(context);
    switch (random_below(12)) {
    case 0:
        csan_event_destroy(context, *event);
        *event = NULL;
        return;
    case 1:
        if (snapshot)
            csan_event_record_snapshot(context, *event, snapshot);
        return;
    case 2:
    case 3:
    case 4:
        csan_event_record(context, *event, lane_any(program));
        return;
    default:
        csan_event_wait(context, *event, lane_any(program));
    }
}

static void memory_any(struct program *program)
{
    csan_context *context = program->context;
    uint32_t i = random_below(BLOCKS);
    uint64_t base = memory + i * 8192ull;
    if (random_below(3) == 0) {
        csan_memory_pool_alloc(context, base + 512, 512, lane_any(program), site_any(program));
        if (random_below(2))
            csan_memory_pool_free(context, base + 512, lane_any(program), site_any(program));
    } else if (!program->live[i]) {
        program->live[i] = csan_memory_create(context, (enum csan_memory_kind)random_below(4), base,
                                              4096, lane_any(program), site_any(program)) == 0;
    } else {
        int failed = random_below(4) == 0;
        csan_free *token = csan_memory_free_begin(context, base, lane_any(program),
                                                  (int)random_below(2), site_any(program));
        op_any(program, context, lane_any(program));
        csan_memory_free_end(context, token, failed, (int)random_below(2));
        program->live[i] = failed != 0;
    }
}

static void branch_any(struct program *program)
{
    csan_context *branch = csan_context_branch(program->context);
    csan_lane lanes[2] = {csan_lane_create(branch, 0, "branch 1"),
                          csan_lane_create(branch, 0, "branch 2")};
    csan_snapshot *snapshot = NULL;
    for (int i = 0; i < 6; i++) {
        op_any(program, branch, lanes[random_below(2)]);
        if (i == 2)
            op_any(program, program->context, lane_any(program));
        if (i == 3 && random_below(2))
            csan_snapshot_join(branch, lanes[1], snapshot = csan_snapshot_take(branch, lanes[0]));
    }
    if (snapshot)
        csan_snapshot_release(branch, snapshot);
    csan_context_destroy(branch);
}

static void step(struct program *program)
{
    csan_context *context = program->context;
    uint32_t i;
    switch (random_below(16)) {
    case 0:
        csan_lane_waits(context, lane_any(program), lane_any(program));
        return;
    case 1:
    case 2:
        snapshot_any(program);
        return;
    case 3:
    case 4:
    case 5:
        event_any(program);
        return;
    case 6:
        memory_any(program);
        return;
    case 7:
        i = 1 + random_below(LANES - 1);
        csan_lane_destroy(context, program->lanes[i]);
        program->lanes[i] = CSAN_NO_LANE;
        return;
    case 8:
        if (random_below(10) == 0)
            branch_any(program);
        else if (random_below(20) == 0)
            csan_context_races_clear(context);
        else if (random_below(4) == 0)
            csan_lane_seen_to_wait(context, lane_any(program), random_below(2) ? "cuA" : "cuB");
        return;
    default:
        op_any(program, context, lane_any(program));
    }
}

static void run(struct program *program, uint64_t seed, int steps)
{
    random_state = seed;
    for (int i = 0; i < steps; i++)
        step(program);
    csan_context_drain(program->context);
}

/* ---- replaying */

static enum recorded_status replay_file(const char *path, struct races *races,
                                        struct csan_stats *stats, char *message, size_t bytes)
{
    char trouble[256];
    struct recording_reader *reader = recording_reader_open(path, message, bytes);
    if (!reader)
        return RECORDED_DAMAGED;
    csan_context *context = csan_context_create(options, race_keep, races, trouble, sizeof trouble);
    struct replay *replay = replay_create(context);
    enum recorded_status status = replay_run(replay, reader, NULL, NULL);
    snprintf(message, bytes, "%s",
             status == RECORDED_DAMAGED ? recording_reader_message(reader) : "");
    if (stats)
        csan_context_stats(context, stats);
    replay_destroy(replay);
    csan_context_destroy(context);
    recording_reader_close(reader);
    return status;
}

static void same_races(void **state)
{
    (void)state;
    const char *path = in_scratch("same");
    size_t found = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct program *program = program_create(path, 1);
        struct races replayed = {0};
        struct csan_stats live, again;
        char message[512];
        run(program, seed, 300);
        csan_context_stats(program->context, &live);
        recording_finish(program->recording, "");
        assert_string_equal(noted, "");
        if (replay_file(path, &replayed, &again, message, sizeof message) != RECORDED_END)
            fail_msg("seed %d: %s", (int)seed, message);
        if (replayed.count != program->races.count ||
            (replayed.text && strcmp(replayed.text, program->races.text) != 0))
            fail_msg("seed %d: the races differ, live and replayed:\n%s\n-----\n%s", (int)seed,
                     program->races.text, replayed.text);
        assert_int_equal(live.ops, again.ops);
        assert_int_equal(live.races, again.races);
        assert_int_equal(live.possible, again.possible);
        assert_memory_equal(live.launches, again.launches, sizeof live.launches);
        assert_int_equal(live.pending_overflows, again.pending_overflows);
        assert_int_equal(live.promises_broken, again.promises_broken);
        found += replayed.count;
        races_free(&replayed);
        program_destroy(program);
    }
    assert_true(found > 1000);
}

/* What is only recorded is found in the replay: as many races as a look at it live finds. */
static void only_recorded(void **state)
{
    (void)state;
    const char *path = in_scratch("only");
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct program *looked = program_create(NULL, 1), *only = program_create(path, 0);
        struct races replayed = {0};
        char message[512];
        run(looked, seed, 200);
        run(only, seed, 200);
        recording_finish(only->recording, "");
        assert_int_equal(only->races.count, 0);
        assert_int_equal(replay_file(path, &replayed, NULL, message, sizeof message), RECORDED_END);
        assert_int_equal(replayed.count, looked->races.count);
        races_free(&replayed);
        program_destroy(looked);
        program_destroy(only);
    }
}

/* A wait that nobody answers is given up in the replay when it was in the run. */
static void times_out_alike(void **state)
{
    (void)state;
    const char *path = in_scratch("time");
    struct races live = {0}, replayed = {0};
    struct csan_stats stats, again;
    char message[512];
    unlink(path);
    csan_context *context =
        csan_context_create("pending_timeout_ms=20", race_keep, &live, message, sizeof message);
    struct recording *recording = recording_create(path, 0, "", note);
    context_record(context, recording, 1);
    csan_lane a = csan_lane_create(context, 1, "a"), b = csan_lane_create(context, 2, "b");
    struct csan_access access = {.base = memory, .bytes = 8, .kind = CSAN_WRITE};
    csan_op_pending(context, a, 0, CSAN_LEVEL_DIRECTION, &access, 1);
    csan_op(context, b, 0, CSAN_LEVEL_RANGES, &access, 1);
    nanosleep(&(struct timespec){0, 60000000}, NULL);
    csan_op(context, b, 0, CSAN_LEVEL_RANGES, &access, 1);
    csan_context_stats(context, &stats);
    assert_int_equal(stats.pending_timeouts, 1);
    csan_context_drain(context);
    recording_finish(recording, "");
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    csan_context *other =
        csan_context_create("pending_timeout_ms=20", race_keep, &replayed, message, sizeof message);
    struct replay *replay = replay_create(other);
    assert_int_equal(replay_run(replay, reader, NULL, NULL), RECORDED_END);
    csan_context_stats(other, &again);
    assert_int_equal(again.pending_timeouts, 1);
    assert_int_equal(live.count, replayed.count);
    replay_destroy(replay);
    csan_context_destroy(other);
    recording_reader_close(reader);
    csan_context_destroy(context);
    recording_destroy(recording);
    races_free(&live);
    races_free(&replayed);
}

/* ---- what a recording keeps */

static const char *fact(struct recording_reader *reader, const char *key)
{
    static char value[4096];
    return recording_reader_fact(reader, key, NULL, value, sizeof value) ? value : NULL;
}

static void keeps_facts(void **state)
{
    (void)state;
    const char *path = in_scratch("facts");
    struct program *program = program_create(path, 1);
    char message[512], number[16];
    struct recorded recorded;
    run(program, 5, 50);
    recording_finish(program->recording, "unmodelled cuA\nunmodelled cuB\n");
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    assert_non_null(reader);
    assert_string_equal(fact(reader, "maker"), "test");
    snprintf(number, sizeof number, "%d", (int)getpid());
    assert_string_equal(fact(reader, "process"), number);
    assert_non_null(strchr(fact(reader, "command"), '/'));
    assert_non_null(fact(reader, "directory"));
    assert_string_equal(fact(reader, "entry"), "1 op lane set");
    assert_null(fact(reader, "unmodelled"));
    while (recording_reader_next(reader, &recorded) == RECORDED_ENTRY)
        ;
    const char *more = recording_reader_fact(reader, "unmodelled", NULL, message, sizeof message);
    assert_string_equal(message, "cuA");
    more = recording_reader_fact(reader, "unmodelled", more, message, sizeof message);
    assert_string_equal(message, "cuB");
    assert_null(recording_reader_fact(reader, "unmodelled", more, message, sizeof message));
    recording_reader_close(reader);
    program_destroy(program);
}

/* An op of more accesses than a block has room for, or than slots keep. */
static void large_sets(void **state)
{
    (void)state;
    enum { COUNT = 300000 };
    const char *path = in_scratch("large");
    struct program *program = program_create(path, 0);
    struct csan_access *accesses = calloc(COUNT, sizeof *accesses);
    char message[512];
    struct recorded recorded;
    for (size_t round = 0; round < 8; round++) {
        for (size_t i = 0; i < COUNT; i++)
            accesses[i] = (struct csan_access){.base = memory + i * (512 + i % 7) + round % 4,
                                               .bytes = 1 + i % 5 * 1000,
                                               .kind = CSAN_READ,
                                               .argument = (uint16_t)i};
        csan_op(program->context, CSAN_HOST, program->sites[1], CSAN_LEVEL_RANGES, accesses, COUNT);
    }
    recording_finish(program->recording, "");
    assert_string_equal(noted, "");
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    size_t ops = 0;
    enum recorded_status status;
    while ((status = recording_reader_next(reader, &recorded)) == RECORDED_ENTRY) {
        if (recorded.kind != RECORDED_OP)
            continue;
        size_t round = ops++;
        assert_int_equal(recorded.set->count, COUNT);
        for (size_t i = 0; i < COUNT; i += 997) {
            assert_int_equal(recorded.set->accesses[i].base,
                             memory + i * (512 + i % 7) + round % 4);
            assert_int_equal(recorded.set->accesses[i].bytes, 1 + i % 5 * 1000);
            assert_int_equal(recorded.set->accesses[i].argument, (uint16_t)i);
        }
    }
    if (status != RECORDED_END)
        fail_msg("%s", recording_reader_message(reader));
    assert_int_equal(ops, 8);
    recording_reader_close(reader);
    free(accesses);
    program_destroy(program);
}

/* More sets than there are slots, in and out again. */
static void many_sets(void **state)
{
    (void)state;
    enum { SETS = 6000, OPS = 60000 };
    const char *path = in_scratch("many");
    struct program *program = program_create(path, 0);
    char message[512];
    struct recorded recorded;
    random_state = 3;
    for (int i = 0; i < OPS; i++) {
        uint32_t set = random_below(random_below(3) ? 1000 : SETS);
        struct csan_dim dims[3] = {{set, 3}, {-(int64_t)set, 5}, {7, set + 1}};
        struct csan_access access = {.base = memory + set * 64ull,
                                     .bytes = set + 1,
                                     .dims = dims,
                                     .dim_count = (uint8_t)(set % 4),
                                     .kind = CSAN_WRITE};
        csan_op(program->context, CSAN_HOST, program->sites[set % SITES], CSAN_LEVEL_RANGES,
                &access, 1);
    }
    recording_finish(program->recording, "");
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    enum recorded_status status;
    random_state = 3;
    while ((status = recording_reader_next(reader, &recorded)) == RECORDED_ENTRY) {
        if (recorded.kind != RECORDED_OP)
            continue;
        uint32_t set = random_below(random_below(3) ? 1000 : SETS);
        const struct csan_access *access = recorded.set->accesses;
        assert_int_equal(recorded.set->site, program->sites[set % SITES]);
        assert_int_equal(access->base, memory + set * 64ull);
        assert_int_equal(access->bytes, set + 1);
        assert_int_equal(access->dim_count, set % 4);
        if (access->dim_count > 1)
            assert_int_equal(access->dims[1].stride, -(int64_t)set);
    }
    assert_int_equal(status, RECORDED_END);
    recording_reader_close(reader);
    program_destroy(program);
}

/* ---- threads */

static void *launches(void *user)
{
    struct program *program = user;
    csan_lane lane = csan_lane_create(program->context, 7, "thread's");
    csan_event *event = csan_event_create(program->context);
    for (uint64_t i = 0; i < 20000; i++) {
        struct csan_access access = {.base = memory + i % 50 * 16, .bytes = 16, .kind = CSAN_READ};
        csan_op(program->context, lane, program->sites[i % SITES], CSAN_LEVEL_RANGES, &access, 1);
        csan_event_record(program->context, event, lane);
        csan_event_wait(program->context, event, lane);
        if (i % 1000 == 0) {
            char name[64];
            snprintf(name, sizeof name, "site of %p, %d", (void *)&access, (int)i);
            const void *frame = (const void *)(uintptr_t)i;
            csan_site_intern(program->context, name, NULL, 0, &frame, 1);
        }
    }
    csan_event_destroy(program->context, event);
    csan_lane_destroy(program->context, lane);
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    const char *path = in_scratch("threads");
    struct program *program = program_create(path, 1);
    struct races replayed = {0};
    struct csan_stats live, again;
    pthread_t threads[4];
    char message[512];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launches, program), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    csan_context_stats(program->context, &live);
    recording_finish(program->recording, "");
    if (replay_file(path, &replayed, &again, message, sizeof message) != RECORDED_END)
        fail_msg("%s", message);
    assert_int_equal(live.ops, 80000);
    assert_int_equal(again.ops, 80000);
    program_destroy(program);
}

/* AddressSanitizer does not follow a cancelled thread's stack, and checks what it itself keeps
 * there for the signal stack when the thread ends. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "use_sigaltstack=0";
}

/* The thread is cancelled where its first write would be: that is not csan's to follow. */
static void *cancelled_launch(void *user)
{
    csan_context *context = user;
    struct csan_access access = {.base = memory, .bytes = 16, .kind = CSAN_READ};
    pthread_cancel(pthread_self());
    errno = ESRCH;
    csan_site site = csan_site_intern(context, "cancelled", NULL, 0, NULL, 0);
    csan_op(context, CSAN_HOST, site, CSAN_LEVEL_RANGES, &access, 1);
    assert_int_equal(errno, ESRCH); /* the program's */
    pthread_testcancel();
    return NULL;
}

static void a_cancelled_thread(void **state)
{
    (void)state;
    const char *path = in_scratch("cancelled");
    struct races races = {0};
    struct csan_stats stats;
    char message[512];
    pthread_t thread;
    void *end;
    unlink(path);
    csan_context *context = csan_context_create("", race_keep, &races, message, sizeof message);
    struct recording *recording = recording_create(path, 0, "", note);
    context_record(context, recording, 1);
    alarm(60); /* a lock that it took along would never be given back */
    assert_int_equal(pthread_create(&thread, NULL, cancelled_launch, context), 0);
    pthread_join(thread, &end);
    assert_ptr_equal(end, PTHREAD_CANCELED);
    csan_context_drain(context);
    recording_finish(recording, "");
    alarm(0);
    assert_int_equal(replay_file(path, &races, &stats, message, sizeof message), RECORDED_END);
    assert_int_equal(stats.ops, 1);
    csan_context_destroy(context);
    recording_destroy(recording);
    races_free(&races);
}

/* ---- the file */

/* Killed while another thread of it goes on: all but the last tenth of a second is there. */
static void killed(void **state)
{
    (void)state;
    const char *path = in_scratch("killed");
    struct races races = {0};
    struct csan_stats stats;
    char message[512];
    unlink(path);
    pid_t child = fork();
    if (child == 0) {
        struct program *program = program_create(path, 0);
        struct csan_access access = {.base = memory, .bytes = 16, .kind = CSAN_READ};
        for (int i = 0; i < 1000; i++)
            csan_op(program->context, CSAN_HOST, 0, CSAN_LEVEL_RANGES, &access, 1);
        for (;;)
            pause();
    }
    for (int i = 0; i < 100; i++) {
        struct stat status;
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        if (stat(path, &status) == 0 && i > 8)
            break;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(replay_file(path, &races, &stats, message, sizeof message), RECORDED_DAMAGED);
    assert_non_null(strstr(message, "killed"));
    assert_non_null(strstr(message, path));
    assert_int_equal(stats.ops, 1000);
}

static void is_named_by_pattern(void **state)
{
    (void)state;
    char path[256], wanted[256];
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("PMI_RANK");
    setenv("SLURM_PROCID", "12", 1);
    unsetenv("RANK");
    assert_true(output_path_expand(path, sizeof path, "a.%r.csan"));
    assert_string_equal(path, "a.12.csan");
    setenv("RANK", "3", 1);
    assert_true(output_path_expand(path, sizeof path, "%r-%p%%%x"));
    snprintf(wanted, sizeof wanted, "3-%d%%%%x", (int)getpid());
    assert_string_equal(path, wanted);
    setenv("RANK", "../x", 1);
    unsetenv("SLURM_PROCID");
    assert_false(output_path_expand(path, sizeof path, "a.%r"));
    assert_string_equal(path, "a.0");
    assert_false(output_path_expand(path, 3, "abcdef"));
    assert_string_equal(path, "ab");
    unsetenv("RANK");
}

static void leaves_other_files_alone(void **state)
{
    (void)state;
    const char *path = in_scratch("there");
    char beside[160];
    struct stat status;
    snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    struct program *program = program_create(NULL, 1);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("mine", file);
    fclose(file);
    program->recording = recording_create(path, UINT64_MAX, "", note);
    context_record(program->context, program->recording, 1);
    run(program, 1, 10);
    program_destroy(program);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 4);
    assert_int_equal(stat(beside, &status), 0);
    unlink(beside);
}

static void replaces_older_recordings(void **state)
{
    (void)state;
    const char *path = in_scratch("older");
    char beside[160];
    struct stat before, after;
    snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    program_destroy(program_create(path, 1));
    struct program *program = program_create(path, 1);
    run(program, 1, 1000);
    program_destroy(program);
    assert_int_equal(stat(path, &before), 0);
    program = program_create(NULL, 1);
    program->recording = recording_create(path, UINT64_MAX, "", note);
    context_record(program->context, program->recording, 1);
    csan_lane_create(program->context, 1, "a");
    program_destroy(program);
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_size < before.st_size);
    assert_int_equal(access(beside, F_OK), -1);
}

static void unwritable(void **state)
{
    (void)state;
    struct program *program = program_create("/nonexistent/x.csan", 1);
    run(program, 1, 100);
    assert_non_null(strstr(noted, "cannot open recording '/nonexistent/x.csan': No such file"));
    program_destroy(program);
}

/* A file that may not grow: the process goes on, the recording ends at a whole block. */
static void full_disk(void **state)
{
    (void)state;
    const char *path = in_scratch("full");
    struct races races = {0};
    char message[512];
    unlink(path);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {100000, 100000};
        setrlimit(RLIMIT_FSIZE, &limit);
        struct program *program = program_create(path, 1);
        run(program, 2, 60000);
        recording_finish(program->recording, "");
        _exit(strstr(noted, "cannot write recording") && strstr(noted, "it ends here") ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(replay_file(path, &races, NULL, message, sizeof message), RECORDED_DAMAGED);
    assert_non_null(strstr(message, "cut off"));
    assert_true(races.count > 0);
    races_free(&races);
}

/* ---- damage */

static uint8_t *file_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *contents = malloc(4 << 20);
    *bytes = fread(contents, 1, 4 << 20, file);
    fclose(file);
    return contents;
}

static void file_write(const char *path, const uint8_t *contents, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(contents, 1, bytes, file), bytes);
    fclose(file);
}

/* Damaged where it should be, and what was reported is a beginning of what the whole tells. */
static void expect_damage(const char *path, const struct races *whole)
{
    struct races races = {0};
    char message[512];
    unsigned long long offset;
    assert_int_equal(replay_file(path, &races, NULL, message, sizeof message), RECORDED_DAMAGED);
    if (strncmp(message, path, strlen(path)) != 0 ||
        sscanf(message + strlen(path), ": byte %llu: ", &offset) != 1)
        fail_msg("no file and byte in: %s", message);
    assert_null(strchr(message, '\n'));
    if (races.count)
        assert_true(races.length <= whole->length);
    races_free(&races);
}

static void make_small_blocks(const char *path, struct races *races)
{
    struct program *program = program_create(path, 1);
    random_state = 11;
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 30; k++)
            step(program);
        nanosleep(&(struct timespec){0, 3000000}, NULL); /* now and then one is written */
    }
    csan_context_drain(program->context);
    *races = program->races;
    program->races = (struct races){0};
    program_destroy(program);
}

static void damaged(void **state)
{
    (void)state;
    const char *path = in_scratch("damaged"), *other = in_scratch("damaged-now");
    struct races whole = {0};
    size_t bytes;
    make_small_blocks(path, &whole);
    uint8_t *contents = file_read(path, &bytes);
    uint8_t *copy = malloc(bytes + 100);
    assert_true(whole.count > 10 && bytes > 3000);
    for (size_t length = 0; length < bytes;
         length += 1 + (length > 200 && length + 200 < bytes ? random_below(60) : 0)) {
        file_write(other, contents, length);
        expect_damage(other, &whole);
    }
    for (int i = 0; i < 1500; i++) {
        memcpy(copy, contents, bytes);
        size_t at = random_below(i < 400 ? 600 : (uint32_t)bytes);
        copy[at] ^= (uint8_t)(1u << random_below(8));
        file_write(other, copy, bytes);
        expect_damage(other, &whole);
    }
    free(contents);
    free(copy);
    races_free(&whole);
}

static void expect_message(const uint8_t *contents, size_t bytes, const char *text)
{
    const char *path = in_scratch("message");
    struct races races = {0};
    char message[512];
    file_write(path, contents, bytes);
    assert_int_equal(replay_file(path, &races, NULL, message, sizeof message), RECORDED_DAMAGED);
    if (!strstr(message, text))
        fail_msg("'%s' is not in '%s'", text, message);
}

static void foreign_or_newer(void **state)
{
    (void)state;
    const char *path = in_scratch("newer");
    size_t bytes;
    struct program *program = program_create(path, 1);
    run(program, 1, 50);
    program_destroy(program);
    uint8_t *contents = file_read(path, &bytes);
    expect_message((const uint8_t *)"", 0, "byte 0: it is no csan recording");
    expect_message((const uint8_t *)"#!/bin/sh\necho hello, world\n", 28, "no csan recording");
    expect_message(contents, 10, "cut off in its head");
    for (int minor = 0; minor <= 1; minor++) {
        uint8_t *version = contents + 8 + 2 * minor;
        version[0]++;
        expect_message(contents, bytes, "head of the recording is damaged");
        uint32_t crc = recording_crc(0, contents, 12);
        memcpy(contents + 12, &crc, sizeof crc);
        char text[64];
        snprintf(text, sizeof text, "it is of format %d.%d, and this csan reads %d.%d",
                 RECORDING_MAJOR + !minor, RECORDING_MINOR + minor, RECORDING_MAJOR,
                 RECORDING_MINOR);
        expect_message(contents, bytes, text);
        version[0]--;
    }
    free(contents);
    char message[256];
    assert_null(recording_reader_open(in_scratch("absent"), message, sizeof message));
    assert_non_null(strstr(message, "No such file"));
    assert_null(recording_reader_open(scratch, message, sizeof message));
    assert_non_null(strstr(message, "no file"));
}

/* Blocks that are whole, with entries that nobody wrote: refused, or taken without harm. */
static void made_up(void **state)
{
    (void)state;
    const char *path = in_scratch("made-up");
    int refused = 0;
    random_state = 17;
    for (int i = 0; i < 4000; i++) {
        uint8_t entries[200];
        struct block_writer writer;
        struct races races = {0};
        char message[512];
        size_t count = random_below(sizeof entries);
        for (size_t k = 0; k < count; k++)
            entries[k] = (uint8_t)random_below(random_below(3) ? 12 : RECORDED_KINDS + 2);
        int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        assert_int_equal(block_writer_open(&writer, file), 0);
        block_writer_put(&writer, BLOCK_FACTS, "maker test\n", 11);
        block_writer_put(&writer, BLOCK_ENTRIES, entries, count);
        block_writer_put(&writer, BLOCK_END, "", 0);
        block_writer_close(&writer);
        close(file);
        refused += replay_file(path, &races, NULL, message, sizeof message) == RECORDED_DAMAGED;
        races_free(&races);
    }
    assert_true(refused > 2000);
}

static int make_scratch(void **state)
{
    (void)state;
    return mkdtemp(scratch) ? 0 : -1;
}

static int remove_scratch(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_races),
        cmocka_unit_test(only_recorded),
        cmocka_unit_test(times_out_alike),
        cmocka_unit_test(keeps_facts),
        cmocka_unit_test(large_sets),
        cmocka_unit_test(many_sets),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(a_cancelled_thread),
        cmocka_unit_test(killed),
        cmocka_unit_test(is_named_by_pattern),
        cmocka_unit_test(leaves_other_files_alone),
        cmocka_unit_test(replaces_older_recordings),
        cmocka_unit_test(unwritable),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(damaged),
        cmocka_unit_test(foreign_or_newer),
        cmocka_unit_test(made_up),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
