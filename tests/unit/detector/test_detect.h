/* What the tests of the detector share: a context with two lanes and an allocation, and the races
 * that it reported. */
#ifndef TESTS_UNIT_DETECTOR_TEST_DETECT_H
#define TESTS_UNIT_DETECTOR_TEST_DETECT_H

#include <csan/csan.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was reported */

enum { RACES_MAX = 1 << 16 };
static struct csan_race *found;
static size_t found_count;

static inline void remember(void *user, const struct csan_race *race)
{
    (void)user;
    if (found_count < RACES_MAX)
        found[found_count++] = *race;
}

static inline csan_context *create(const char *options)
{
    char message[256] = "";
    found = found ? found : calloc(RACES_MAX, sizeof(*found));
    found_count = 0;
    csan_context *context = csan_context_create(options, remember, NULL, message, sizeof(message));
    if (!context)
        fail_msg("%s", message);
    return context;
}

static inline csan_site site(csan_context *context, const char *name)
{
    static const char *const arguments[] = {"p", "q", "r", "s"};
    const void *frame = name;
    return csan_site_intern(context, name, arguments, 4, &frame, 1);
}

static inline void touch(csan_context *context, csan_lane lane, const char *name, int kind,
                         int bound, uint64_t base, uint64_t bytes)
{
    struct csan_access access = {
        .base = base, .bytes = bytes, .kind = (uint8_t)kind, .bound = (uint8_t)bound};
    csan_op(context, lane, site(context, name), CSAN_LEVEL_RANGES, &access, 1);
}
static inline void reads(csan_context *context, csan_lane lane, uint64_t base, uint64_t bytes)
{
    touch(context, lane, "reader", CSAN_READ, CSAN_EXACT, base, bytes);
}
static inline void writes(csan_context *context, csan_lane lane, uint64_t base, uint64_t bytes)
{
    touch(context, lane, "writer", CSAN_WRITE, CSAN_EXACT, base, bytes);
}

/* Two lanes and one allocation of 4096 bytes at 0x10000. */
enum { BASE = 0x10000, SIZE = 4096 };
struct world {
    csan_context *context;
    csan_lane a, b;
};
static inline struct world world_create(const char *options)
{
    struct world world = {.context = create(options)};
    world.a = csan_lane_create(world.context, 0xa, "stream 10");
    world.b = csan_lane_create(world.context, 0xb, "stream 11");
    csan_memory_create(world.context, CSAN_MEMORY_DEVICE, BASE, SIZE, CSAN_HOST,
                       site(world.context, "cuMemAlloc"));
    return world;
}

static inline uint64_t strided_records(struct world w)
{
    struct csan_stats stats;
    csan_context_stats(w.context, &stats);
    return stats.strided_records;
}

static inline csan_lane third_lane(struct world *w)
{
    return csan_lane_create(w->context, 0xc, "stream 12");
}

#endif
