/* What the tests of recordings share: a random program that is recorded while the detector looks
 * on, its races as text, and a replay of the file. */
#ifndef TESTS_UNIT_RECORDING_TEST_RECORDING_H
#define TESTS_UNIT_RECORDING_TEST_RECORDING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/detector/context.h"
#include "csan/recording/recording_read.h"
#include "csan/recording/recording_write.h"
#include "csan/replay/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch[] = "/tmp/csan-recording-XXXXXX";
static char noted[1024];

static uint64_t random_state = 1;
static inline uint32_t random_below(uint32_t bound)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((random_state >> 33) % bound);
}

static inline const char *in_scratch(const char *name)
{
    static char paths[4][128];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

static inline void note(const char *line)
{
    snprintf(noted, sizeof noted, "%s", line);
}

/* ---- races, as text */

struct races {
    char *text;
    size_t length, capacity;
    size_t count;
};

static inline const char *or_none(const char *text)
{
    return text ? text : "-";
}

static inline int error_line(const struct csan_error *error, char *line, size_t bytes)
{
    return snprintf(line, bytes,
                    "  %s, %s, '%s', %s, %s: %d %llu, %d %d %x %u, %llu %s by %zu frames, %llu "
                    "%llu %llu\n",
                    or_none(error->exception), or_none(error->code), error->detail,
                    or_none(error->function), or_none(error->place), error->where,
                    (unsigned long long)error->distance, error->has_thread, error->device,
                    error->grid[0], error->thread[1], (unsigned long long)error->threads,
                    or_none(error->reported_by), error->reported_frame_count,
                    (unsigned long long)error->launches_since, (unsigned long long)error->count,
                    (unsigned long long)error->total);
}

static inline int out_of_memory_line(const struct csan_out_of_memory *out_of_memory, char *line,
                                     size_t bytes)
{
    int length = snprintf(line, bytes, "  %d %d %llu %llu %llu: ", out_of_memory->host,
                          out_of_memory->device, (unsigned long long)out_of_memory->asked,
                          (unsigned long long)out_of_memory->free,
                          (unsigned long long)out_of_memory->more_bytes);
    for (size_t i = 0; i < out_of_memory->held_count; i++)
        length += snprintf(
            line + length, bytes - (size_t)length, "%s %llu %llu by %zu, ",
            or_none(out_of_memory->held[i].name), (unsigned long long)out_of_memory->held[i].bytes,
            (unsigned long long)out_of_memory->held[i].newest, out_of_memory->held[i].frame_count);
    return length + snprintf(line + length, bytes - (size_t)length, "\n");
}

static inline void race_keep(void *user, const struct csan_race *race)
{
    struct races *races = user;
    char line[8192];
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
    if (race->error)
        length += error_line(race->error, line + length, sizeof line - (size_t)length);
    if (race->error && race->error->out_of_memory)
        length += out_of_memory_line(race->error->out_of_memory, line + length,
                                     sizeof line - (size_t)length);
    if (races->length + (size_t)length + 1 > races->capacity) {
        races->capacity = races->capacity * 2 + sizeof line;
        races->text = realloc(races->text, races->capacity);
        assert_non_null(races->text);
    }
    memcpy(races->text + races->length, line, (size_t)length + 1);
    races->length += (size_t)length;
    races->count++;
}

static inline void races_free(struct races *races)
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
    uint64_t ops, number; /* of the newest op that has one */
};

static const char options[] = "dedup=0:pending_timeout_ms=0:pending_limit=20";

static inline struct program *program_create(const char *path, int check)
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

static inline void program_destroy(struct program *program)
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

static inline csan_lane lane_any(struct program *program)
{
    uint32_t i = random_below(LANES);
    if (program->lanes[i] == CSAN_NO_LANE) {
        char label[32];
        snprintf(label, sizeof label, "stream %u", random_below(1000));
        program->lanes[i] = csan_lane_create(program->context, random_below(1000), label);
    }
    return program->lanes[i];
}

static inline csan_site site_any(struct program *program)
{
    return random_below(10) ? program->sites[random_below(SITES)] : 0;
}

static inline size_t accesses_any(struct csan_access *accesses,
                                  struct csan_dim dims[][CSAN_MAX_DIMS], size_t most)
{
    size_t count = random_below((uint32_t)most + 1);
    for (size_t i = 0; i < count; i++) {
        accesses[i] = (struct csan_access){
            .base = memory + random_below(BLOCKS) * 8192ull + random_below(6) * 256ull,
            .bytes = random_below(8) ? 1 + random_below(300) : CSAN_TO_END,
            .kind = (uint8_t)(CSAN_READ + random_below(3)),
            .bound = (uint8_t)(random_below(3) ? 0 : random_below(CSAN_BOUND_OBJECT + 1)),
            .element_bytes = (uint8_t)(random_below(2) * 4),
            .order = (uint8_t)random_below(4),
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

static inline void op_any(struct program *program, csan_context *context, csan_lane lane)
{
    const struct csan_access *accesses = program->accesses;
    if (program->ops++ % 3 == 0) /* the others are of the same set */
        program->access_count = accesses_any(program->accesses, program->dims, 4);
    size_t count = program->access_count;
    uint32_t t = random_below(TICKETS);
    enum csan_level level = (enum csan_level)random_below(CSAN_LEVEL_COUNT);
    if (context == program->context && program->number && random_below(5) == 0)
        csan_op_same_operator(context, lane, lane_any(program),
                              program->number - random_below((uint32_t)program->number % 8 + 1),
                              program->number);
    if (context != program->context || random_below(12)) {
        program->number = csan_op(context, lane, site_any(program), level, accesses, count);
    } else if (!program->tickets[t]) {
        program->tickets[t] =
            csan_op_pending(context, lane, site_any(program), level, accesses, count);
    } else {
        csan_op_resolve(context, program->tickets[t], level, accesses, count);
        program->tickets[t] = 0;
    }
}

static inline void snapshot_any(struct program *program)
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
    switch (random_below(4)) {
    case 0:
        csan_snapshot_join(context, lane_any(program), *snapshot);
        return;
    case 3:
        csan_snapshot_seen_by_pool(context, *snapshot);
        return;
    case 1:
        csan_snapshot_keep(context, *snapshot, lane_any(program));
        return;
    default:
        csan_snapshot_release(context, *snapshot);
        *snapshot = NULL;
    }
}

static inline void event_any(struct program *program)
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

static inline void memory_any(struct program *program)
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

static inline void branch_any(struct program *program)
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

/* A finding that the detector does not come to by itself. */
static inline void finding_any(struct program *program)
{
    static const int kinds[] = {CSAN_RACE_DEVICE_EXCEPTION, CSAN_RACE_LEAK, CSAN_RACE_OUT_OF_BOUNDS,
                                CSAN_RACE_USE_AFTER_FREE};
    struct context_finding finding = {
        .kind = kinds[random_below(4)],
        .lane = lane_any(program),
        .site = site_any(program),
        .level = (enum csan_level)random_below(CSAN_LEVEL_COUNT),
        .access = (int)random_below(CSAN_FREE + 1),
        .address = memory + random_below(BLOCKS) * 8192ull + random_below(8192),
        .bytes = random_below(3),
        .argument = (uint16_t)random_below(3),
        .reported = site_any(program),
        .error = {.exception = random_below(3) ? "illegal memory access" : NULL,
                  .detail = random_below(2) ? "Words with \n and \" in them." : "",
                  .place = random_below(2) ? "a.cu:7" : NULL,
                  .reported_by = random_below(2) ? "cuLaunchKernel" : NULL,
                  .launches_since = random_below(3),
                  .threads = random_below(40),
                  .total = random_below(2) ? UINT64_MAX : 0}};
    if (random_below(2)) {
        finding.error.has_thread = 1;
        finding.error.thread[1] = random_below(1000);
        finding.error.grid[0] = random_below(2) * UINT32_MAX;
        finding.error.device = (int)random_below(8);
    }
    context_find(program->context, &finding);
}

static inline void step(struct program *program)
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
            csan_lane_observed_wait(context, lane_any(program), random_below(2) ? "cuA" : "cuB");
        else if (random_below(3) == 0)
            finding_any(program);
        return;
    default:
        op_any(program, context, lane_any(program));
    }
}

static inline void run(struct program *program, uint64_t seed, int steps)
{
    random_state = seed;
    for (int i = 0; i < steps; i++)
        step(program);
    csan_context_drain(program->context);
}

/* ---- replaying */

static inline enum recorded_status replay_file(const char *path, struct races *races,
                                               struct csan_stats *stats, char *message,
                                               size_t bytes)
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

static inline int make_scratch(void **state)
{
    (void)state;
    return mkdtemp(scratch) ? 0 : -1;
}

static inline int remove_scratch(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    return system(command);
}

#endif
