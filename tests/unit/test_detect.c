/* The detector through csan.h: one test per rule, then random programs against brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/csan.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was reported */

enum { RACES_MAX = 1 << 16 };
static struct csan_race *found;
static size_t found_count;

static void remember(void *user, const struct csan_race *race)
{
    (void)user;
    if (found_count < RACES_MAX)
        found[found_count++] = *race;
}

static csan_context *create(const char *options)
{
    char message[256] = "";
    found = found ? found : calloc(RACES_MAX, sizeof(*found));
    found_count = 0;
    csan_context *context = csan_context_create(options, remember, NULL, message, sizeof(message));
    if (!context)
        fail_msg("%s", message);
    return context;
}

static csan_site site(csan_context *context, const char *name)
{
    static const char *const arguments[] = {"p", "q", "r", "s"};
    const void *frame = name;
    return csan_site_intern(context, name, arguments, 4, &frame, 1);
}

static void touch(csan_context *context, csan_lane lane, const char *name, int kind, int bound,
                  uint64_t base, uint64_t bytes)
{
    struct csan_access access = {
        .base = base, .bytes = bytes, .kind = (uint8_t)kind, .bound = (uint8_t)bound};
    csan_op(context, lane, site(context, name), CSAN_LEVEL_RANGES, &access, 1);
}
static void reads(csan_context *context, csan_lane lane, uint64_t base, uint64_t bytes)
{
    touch(context, lane, "reader", CSAN_READ, CSAN_EXACT, base, bytes);
}
static void writes(csan_context *context, csan_lane lane, uint64_t base, uint64_t bytes)
{
    touch(context, lane, "writer", CSAN_WRITE, CSAN_EXACT, base, bytes);
}

/* Two lanes and one allocation of 4096 bytes at 0x10000. */
enum { BASE = 0x10000, SIZE = 4096 };
struct world {
    csan_context *context;
    csan_lane a, b;
};
static struct world world_create(const char *options)
{
    struct world world = {.context = create(options)};
    world.a = csan_lane_create(world.context, 0xa, "stream 10");
    world.b = csan_lane_create(world.context, 0xb, "stream 11");
    csan_memory_create(world.context, CSAN_MEMORY_DEVICE, BASE, SIZE, CSAN_HOST,
                       site(world.context, "cuMemAlloc"));
    return world;
}

/* ---- one rule each */

static void write_then_read_unordered_is_a_race(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, SIZE);
    reads(w.context, w.b, BASE + 100, 50);
    assert_int_equal(found_count, 1);
    const struct csan_race *race = &found[0];
    assert_int_equal(race->kind, CSAN_RACE_DATA);
    assert_int_equal(race->possible, 0);
    assert_int_equal(race->address, BASE + 100);
    assert_int_equal(race->bytes, 50);
    assert_int_equal(race->allocation, BASE);
    assert_int_equal(race->allocation_bytes, SIZE);
    assert_int_equal(race->current.stream, 0xb);
    assert_int_equal(race->current.kind, CSAN_READ);
    assert_string_equal(race->current.name, "reader");
    assert_string_equal(race->current.lane, "stream 11");
    assert_string_equal(race->current.arguments, "p");
    assert_int_equal(race->previous.stream, 0xa);
    assert_int_equal(race->previous.kind, CSAN_WRITE);
    assert_string_equal(race->previous.name, "writer");
    assert_int_equal(race->allocation_frame_count, 1);
    csan_context_destroy(w.context);
}

static void reads_do_not_race(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    reads(w.context, w.a, BASE, SIZE);
    reads(w.context, w.b, BASE, SIZE);
    assert_int_equal(found_count, 0);
    csan_context_destroy(w.context);
}

static void neighbours_do_not_race(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 100);
    writes(w.context, w.b, BASE + 100, 100);
    assert_int_equal(found_count, 0);
    writes(w.context, w.b, BASE + 99, 1);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].bytes, 1);
    csan_context_destroy(w.context);
}

static void an_event_orders(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_event *event = csan_event_create(w.context);
    csan_event_wait(w.context, event, w.b); /* never recorded: no order */
    writes(w.context, w.a, BASE, 8);
    csan_event_record(w.context, event, w.a);
    csan_event_wait(w.context, event, w.b);
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 0);
    writes(w.context, w.a, BASE + 8, 8); /* after the record */
    reads(w.context, w.b, BASE + 8, 8);
    assert_int_equal(found_count, 1);
    csan_event_destroy(w.context, event);
    csan_context_destroy(w.context);
}

static void the_last_record_wins(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_event *event = csan_event_create(w.context);
    csan_lane c = csan_lane_create(w.context, 0xc, "stream 12");
    writes(w.context, w.a, BASE, 8);
    csan_event_record(w.context, event, w.a);
    csan_event_record(w.context, event, c); /* c has seen nothing of a */
    csan_event_wait(w.context, event, w.b);
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    csan_event_destroy(w.context, event);
    csan_context_destroy(w.context);
}

/* A snapshot must not grow with the lane it was taken of. */
static void a_snapshot_is_of_its_moment(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = csan_lane_create(w.context, 0xc, "stream 12");
    writes(w.context, c, BASE, 8);
    csan_snapshot *snapshot = csan_snapshot_take(w.context, w.a);
    csan_lane_waits(w.context, w.a, c); /* a learns of c after the snapshot */
    csan_snapshot_join(w.context, w.b, snapshot);
    csan_snapshot_release(w.context, snapshot);
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    csan_context_destroy(w.context);
}

static void order_is_transitive_and_the_host_orders_all(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = csan_lane_create(w.context, 0xc, "stream 12");
    writes(w.context, w.a, BASE, 8);
    csan_lane_waits(w.context, w.b, w.a);
    csan_lane_waits(w.context, c, w.b);
    writes(w.context, c, BASE, 8);
    csan_lane_waits(w.context, CSAN_HOST, c);
    writes(w.context, w.a, BASE, 8); /* enqueued after the host waited */
    reads(w.context, CSAN_HOST, BASE + 64, 8);
    assert_int_equal(found_count, 0);
    csan_context_destroy(w.context);
}

static void a_host_access_races_with_a_stream(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    reads(w.context, CSAN_HOST, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_string_equal(found[0].current.lane, "the host");
    csan_context_destroy(w.context);
}

static void reports_are_de_duplicated_by_site(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    for (int i = 0; i < 10; i++) {
        writes(w.context, w.a, BASE, 8);
        reads(w.context, w.b, BASE, 8);
    }
    /* read after write, and write after read: the same two sites, one race */
    assert_int_equal(found_count, 1);
    struct csan_stats stats;
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.races, 1);
    assert_true(stats.duplicates >= 18);
    csan_context_destroy(w.context);
}

static void all_arguments_of_a_race_are_named(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    struct csan_access accesses[] = {
        {.base = BASE, .bytes = 8, .kind = CSAN_READ, .argument = 1},
        {.base = BASE, .bytes = 8, .kind = CSAN_WRITE, .argument = 0},
    };
    csan_op(w.context, w.b, site(w.context, "both"), CSAN_LEVEL_RANGES, accesses, 2);
    assert_int_equal(found_count, 1);
    assert_string_equal(found[0].current.arguments, "p, q");
    assert_int_equal(found[0].current.kind, CSAN_WRITE);
    csan_context_destroy(w.context);
}

static void a_bounded_side_makes_it_possible(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    touch(w.context, w.a, "maybe", CSAN_WRITE, CSAN_BOUND_DIRECTION, BASE + 16, CSAN_TO_END);
    reads(w.context, w.b, BASE + 8, 16);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].possible, 1);
    assert_int_equal(found[0].previous.bound, CSAN_BOUND_DIRECTION);
    assert_int_equal(found[0].address, BASE + 16);
    assert_int_equal(found[0].bytes, 8);
    csan_context_destroy(w.context);
}

/* A may-write forgets nothing: the exact write before it is still there to race with. */
static void a_bounded_write_hides_nothing(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    csan_lane_waits(w.context, w.b, w.a);
    touch(w.context, w.b, "maybe", CSAN_WRITE, CSAN_BOUND_GUARD, BASE, 8);
    csan_lane c = csan_lane_create(w.context, 0xc, "stream 12");
    reads(w.context, c, BASE, 8);
    assert_int_equal(found_count, 2);
    assert_int_equal(found[0].possible, 0); /* certain ones first */
    assert_string_equal(found[0].previous.name, "writer");
    assert_int_equal(found[1].possible, 1);
    csan_context_destroy(w.context);
}

static void atomics(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    struct csan_access four = {.base = BASE, .bytes = 64, .kind = CSAN_ATOMIC, .element_bytes = 4};
    struct csan_access eight = four;
    eight.element_bytes = 8;
    csan_op(w.context, w.a, site(w.context, "four"), CSAN_LEVEL_RANGES, &four, 1);
    csan_op(w.context, w.b, site(w.context, "four too"), CSAN_LEVEL_RANGES, &four, 1);
    assert_int_equal(found_count, 0);
    csan_lane c = csan_lane_create(w.context, 0xc, "stream 12");
    csan_op(w.context, c, site(w.context, "eight"), CSAN_LEVEL_RANGES, &eight, 1);
    assert_int_equal(found_count, 2); /* overlap in part with both */
    assert_int_equal(found[0].kind, CSAN_RACE_ATOMIC);
    csan_lane d = csan_lane_create(w.context, 0xd, "stream 13");
    reads(w.context, d, BASE + 60, 4);
    assert_int_equal(found_count, 5); /* plain against each atomic */
    csan_context_destroy(w.context);
}

static csan_lane third_lane(struct world *w)
{
    return csan_lane_create(w->context, 0xc, "stream 12");
}

/* What races with the atomics of one width does not race with those of another. */
static void atomics_of_two_widths_are_remembered(void **state)
{
    (void)state;
    for (int strided = 0; strided <= 1; strided++) {
        struct world w = world_create(NULL);
        struct csan_dim rows = {64, 4};
        struct csan_access eight = {.base = BASE,
                                    .bytes = 32,
                                    .dims = &rows,
                                    .dim_count = (uint8_t)strided,
                                    .kind = CSAN_ATOMIC,
                                    .element_bytes = 8};
        struct csan_access four = eight;
        four.element_bytes = 4;
        csan_op(w.context, w.a, site(w.context, "eight"), CSAN_LEVEL_RANGES, &eight, 1);
        csan_op(w.context, w.a, site(w.context, "four"), CSAN_LEVEL_RANGES, &four, 1);
        csan_lane_waits(w.context, w.b, w.a);
        csan_op(w.context, w.b, site(w.context, "four after"), CSAN_LEVEL_RANGES, &four, 1);
        assert_int_equal(found_count, 0);
        csan_op(w.context, third_lane(&w), site(w.context, "four beside"), CSAN_LEVEL_RANGES, &four,
                1);
        assert_int_equal(found_count, 1);
        assert_string_equal(found[0].previous.name, "eight");
        csan_context_destroy(w.context);
    }
}

static void strided_accesses_stay_what_they_are(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    struct csan_dim rows = {64, 32};
    struct csan_access left = {
        .base = BASE, .bytes = 32, .dims = &rows, .dim_count = 1, .kind = CSAN_WRITE};
    struct csan_access right = left;
    right.base += 32;
    csan_op(w.context, w.a, site(w.context, "left"), CSAN_LEVEL_RANGES, &left, 1);
    csan_op(w.context, w.b, site(w.context, "right"), CSAN_LEVEL_RANGES, &right, 1);
    assert_int_equal(found_count, 0);
    right.base -= 4;
    csan_op(w.context, w.b, site(w.context, "off by one"), CSAN_LEVEL_RANGES, &right, 1);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].address, BASE + 28);
    assert_int_equal(found[0].bytes, 4);
    csan_lane c = csan_lane_create(w.context, 0xc, "stream 12");
    reads(w.context, c, BASE + 64 + 32, 16); /* only what was right, row 1 */
    assert_int_equal(found_count, 3);        /* right, and off by one up to +28+32 */
    csan_context_destroy(w.context);
}

/* Column `column` of eight bytes of a matrix of 16 rows, 256 bytes apart. */
static void column(struct world w, csan_lane lane, const char *name, int kind, uint64_t column)
{
    struct csan_dim rows = {256, 16};
    struct csan_access access = {.base = BASE + 8 * column,
                                 .bytes = 8,
                                 .dims = &rows,
                                 .dim_count = 1,
                                 .kind = (uint8_t)kind};
    csan_op(w.context, lane, site(w.context, name), CSAN_LEVEL_RANGES, &access, 1);
}

static uint64_t strided_records(struct world w)
{
    struct csan_stats stats;
    csan_context_stats(w.context, &stats);
    return stats.strided_records;
}

/* The same launches for ever, on one stream and handed over from stream to stream by events. */
static void strided_records_do_not_accumulate(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_event *event = csan_event_create(w.context);
    for (int i = 0; i < 1000; i++) {
        csan_lane lane = i % 2 ? w.a : w.b;
        csan_event_wait(w.context, event, lane);
        for (uint64_t k = 0; k < 32; k++)
            column(w, lane, "kernel", k % 2 ? CSAN_WRITE : CSAN_READ, k);
        csan_event_record(w.context, event, lane);
    }
    assert_int_equal(found_count, 0);
    assert_int_equal(strided_records(w), 32);
    writes(w.context, w.a, BASE, SIZE); /* the newest records are a's: covered, all of them */
    assert_int_equal(strided_records(w), 0);
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_string_equal(found[0].previous.name, "writer");
    csan_event_destroy(w.context, event);
    csan_context_destroy(w.context);
}

/* A contiguous write forgets only the records it covers and comes after. */
static void covered_records_go(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    column(w, w.a, "inside", CSAN_WRITE, 1);
    column(w, w.a, "across", CSAN_WRITE, 0);
    column(w, w.b, "unordered", CSAN_READ, 2);
    writes(w.context, w.a, BASE + 8, SIZE - 8);
    assert_int_equal(found_count, 1); /* with the unordered one, which stays */
    assert_string_equal(found[0].previous.name, "unordered");
    assert_int_equal(strided_records(w), 2);
    csan_context_destroy(w.context);
}

/* Patterns that are only read are not compared with each other; once one is written, they are. */
static void a_pattern_that_was_read_is_written(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    struct csan_dim rows = {256, 16};
    struct csan_access half = {
        .base = BASE + 4, .bytes = 8, .dims = &rows, .dim_count = 1, .kind = CSAN_READ};
    for (int i = 0; i < 3; i++) {
        column(w, w.a, "reads", CSAN_READ, 0);
        csan_op(w.context, w.a, site(w.context, "half"), CSAN_LEVEL_RANGES, &half, 1);
    }
    half.kind = CSAN_WRITE;
    csan_op(w.context, w.a, site(w.context, "half"), CSAN_LEVEL_RANGES, &half, 1);
    assert_int_equal(found_count, 0);
    column(w, w.b, "reads too", CSAN_READ, 0);
    assert_int_equal(found_count, 1);
    assert_string_equal(found[0].previous.name, "half");
    assert_int_equal(found[0].address, BASE + 4);
    assert_int_equal(found[0].bytes, 4);
    csan_context_destroy(w.context);
}

/* One pattern meets hundreds of others: more than are listed as neighbours. */
static void a_pattern_with_many_neighbours(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    struct csan_dim words[2] = {{256, 16}, {8, 30}};
    struct csan_access all = {
        .base = BASE, .bytes = 4, .dims = words, .dim_count = 2, .kind = CSAN_WRITE};
    csan_event *event = csan_event_create(w.context);
    for (int i = 0; i < 4; i++) {
        csan_op(w.context, w.a, site(w.context, "all"), CSAN_LEVEL_RANGES, &all, 1);
        csan_event_record(w.context, event, w.a);
        csan_event_wait(w.context, event, w.b);
        struct csan_dim few = {256, 2};
        for (uint64_t k = 0; k < 30 * 15; k++) {
            struct csan_access access = {.base = BASE + k / 30 * 256 + k % 30 * 8,
                                         .bytes = 4,
                                         .dims = &few,
                                         .dim_count = 1,
                                         .kind = CSAN_READ};
            csan_op(w.context, w.b, site(w.context, "few"), CSAN_LEVEL_RANGES, &access, 1);
        }
        assert_int_equal(found_count, 0);
        csan_event_record(w.context, event, w.b);
        csan_event_wait(w.context, event, w.a);
    }
    struct csan_dim last = {256, 2};
    struct csan_access access = {.base = BASE + 14 * 256 + 29 * 8,
                                 .bytes = 4,
                                 .dims = &last,
                                 .dim_count = 1,
                                 .kind = CSAN_READ};
    csan_op(w.context, w.b, site(w.context, "late"), CSAN_LEVEL_RANGES, &access, 1);
    csan_op(w.context, w.a, site(w.context, "all"), CSAN_LEVEL_RANGES, &all, 1);
    assert_int_equal(found_count, 1);
    assert_string_equal(found[0].previous.name, "late");
    assert_int_equal(found[0].address, BASE + 14 * 256 + 29 * 8);
    assert_int_equal(found[0].bytes, 4);
    csan_event_destroy(w.context, event);
    csan_context_destroy(w.context);
}

/* What is known of all cells is known for one op only. */
static void strided_against_cells_of_others(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    column(w, w.a, "own", CSAN_WRITE, 0); /* knows all cells */
    writes(w.context, w.b, BASE + 256 + 64, 8);
    column(w, w.a, "other", CSAN_WRITE, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].address, BASE + 256 + 64);
    csan_context_destroy(w.context);
}

static void the_strided_cap_drops_the_oldest(void **state)
{
    (void)state;
    struct world w = world_create("strided_cap=4");
    struct csan_dim rows = {64, 2};
    for (uint64_t i = 0; i < 6; i++) {
        struct csan_access access = {
            .base = BASE + 256 * i, .bytes = 8, .dims = &rows, .dim_count = 1, .kind = CSAN_WRITE};
        csan_op(w.context, w.a, site(w.context, "strided"), CSAN_LEVEL_RANGES, &access, 1);
    }
    struct csan_stats stats;
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.strided_records, 4);
    assert_int_equal(stats.strided_dropped, 2);
    reads(w.context, w.b, BASE, 8); /* dropped */
    assert_int_equal(found_count, 0);
    reads(w.context, w.b, BASE + 256 * 5, 8);
    assert_int_equal(found_count, 1);
    csan_context_destroy(w.context);
}

/* ---- memory that changes hands */

static void a_host_free_waits_and_forgets(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    csan_free *token = csan_memory_free_begin(w.context, BASE, CSAN_HOST, 0, 0);
    assert_non_null(token);
    assert_int_equal(csan_memory_find(w.context, BASE, NULL, NULL, NULL), 0);
    csan_memory_free_end(w.context, token, 0, 1);
    csan_memory_create(w.context, CSAN_MEMORY_DEVICE, BASE, SIZE, CSAN_HOST, 0);
    writes(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 0);
    csan_context_destroy(w.context);
}

static void a_failed_free_changes_nothing(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    csan_memory_free_end(w.context, csan_memory_free_begin(w.context, BASE, CSAN_HOST, 1, 0), 1, 1);
    assert_int_equal(found_count, 0);
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_DATA);
    csan_context_destroy(w.context);
}

static void strict_free_reports_what_only_the_free_orders(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    csan_memory_free_end(
        w.context, csan_memory_free_begin(w.context, BASE, CSAN_HOST, 1, site(w.context, "free")),
        0, 1);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_FREE);
    csan_context_destroy(w.context);
}

static void a_wait_that_nothing_promises_is_no_order_but_is_said(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    csan_lane_seen_to_wait(w.context, w.a, "cuSlow");
    writes(w.context, w.a, BASE + 64, 8); /* after the call: the wait did not cover it */
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_string_equal(found[0].unpromised, "cuSlow");
    writes(w.context, w.b, BASE + 64, 8);
    assert_int_equal(found_count, 2);
    assert_null(found[1].unpromised);
    csan_context_destroy(w.context);
}

static void a_wait_for_all_that_nothing_promises(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    csan_lane_seen_to_wait(w.context, w.b, "cuOther");
    csan_lane_seen_to_wait(w.context, CSAN_NO_LANE, "cuAll");
    csan_lane_seen_to_wait(w.context, CSAN_NO_LANE, "cuAll");
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_string_equal(found[0].unpromised, "cuAll");
    for (int i = 0; i < 100; i++) { /* more calls than are told apart do no harm */
        static char names[100][16];
        snprintf(names[i], sizeof names[i], "cu%d", i);
        csan_lane_seen_to_wait(w.context, w.b, names[i]);
    }
    csan_context_destroy(w.context);
}

static csan_context *stream_world(csan_lane *a, csan_lane *b)
{
    csan_context *context = create(NULL);
    *a = csan_lane_create(context, 0xa, "stream 10");
    *b = csan_lane_create(context, 0xb, "stream 11");
    csan_memory_create(context, CSAN_MEMORY_STREAM, BASE, SIZE, *a, site(context, "alloc"));
    return context;
}

static void free_on(csan_context *context, csan_lane lane)
{
    csan_free *token = csan_memory_free_begin(context, BASE, lane, 1, site(context, "free"));
    assert_non_null(token);
    csan_memory_free_end(context, token, 0, 0);
}

static void use_before_birth(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    writes(context, a, BASE, 8);
    assert_int_equal(found_count, 0);
    writes(context, b, BASE + 64, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_BIRTH);
    assert_string_equal(found[0].previous.name, "alloc");
    csan_context_destroy(context);
}

static void free_while_in_use(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    csan_lane_waits(context, b, a);
    writes(context, b, BASE, 8);
    free_on(context, a);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_FREE);
    assert_string_equal(found[0].current.name, "free");
    writes(context, b, BASE + 64, 8); /* later, still unordered with the free */
    assert_int_equal(found_count, 1); /* the same two sites */
    touch(context, b, "later", CSAN_READ, CSAN_EXACT, BASE, 8);
    assert_int_equal(found_count, 2);
    assert_int_equal(found[1].kind, CSAN_RACE_FREE);
    assert_string_equal(found[1].previous.name, "free");
    csan_context_destroy(context);
}

static void use_after_free_on_the_same_stream(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    free_on(context, a);
    reads(context, a, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_USE_AFTER_FREE);
    csan_context_destroy(context);
}

/* The driver's pool hands the address to another stream: it knows the free is done. */
static void a_driver_pool_reuse_is_no_race(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    writes(context, a, BASE, SIZE);
    free_on(context, a);
    csan_memory_create(context, CSAN_MEMORY_STREAM, BASE + 256, 512, b, site(context, "alloc 2"));
    writes(context, b, BASE + 256, 512);
    assert_int_equal(found_count, 0);
    /* what is left of the old one is still freed */
    touch(context, b, "stale", CSAN_READ, CSAN_EXACT, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_FREE);
    csan_context_destroy(context);
}

/* But work that was not ordered before the free is still out there. */
static void a_driver_pool_reuse_keeps_what_the_free_raced_with(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    csan_lane_waits(context, b, a);
    csan_lane c = csan_lane_create(context, 0xc, "stream 12");
    writes(context, b, BASE, SIZE);
    free_on(context, a); /* a race in itself */
    csan_memory_create(context, CSAN_MEMORY_STREAM, BASE, SIZE, c, site(context, "alloc 2"));
    touch(context, c, "next owner", CSAN_WRITE, CSAN_EXACT, BASE, SIZE);
    assert_int_equal(found_count, 2);
    assert_int_equal(found[1].kind, CSAN_RACE_REUSE);
    assert_string_equal(found[1].previous.name, "writer");
    csan_context_destroy(context);
}

static void a_failed_stream_free_is_undone(void **state)
{
    (void)state;
    csan_lane a, b;
    csan_context *context = stream_world(&a, &b);
    csan_lane_waits(context, b, a);
    writes(context, b, BASE, 8);
    csan_memory_free_end(context, csan_memory_free_begin(context, BASE, a, 1, 0), 1, 0);
    assert_int_equal(found_count, 0);
    reads(context, b, BASE, 8);
    assert_int_equal(found_count, 0);
    csan_context_destroy(context);
}

static void a_told_pool_orders_nothing(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_memory_pool_alloc(w.context, BASE + 512, 256, w.a, site(w.context, "block"));
    reads(w.context, w.b, BASE + 512, 256); /* side stream, no record_stream */
    csan_memory_pool_free(w.context, BASE + 512, w.a, 0);
    csan_memory_pool_alloc(w.context, BASE + 512, 128, w.a, site(w.context, "block 2"));
    writes(w.context, w.a, BASE + 512, 128);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_REUSE);
    assert_int_equal(found[0].allocation, BASE + 512);
    assert_int_equal(found[0].allocation_bytes, 128);
    csan_context_destroy(w.context);
}

static void a_told_pool_with_order_is_silent(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_memory_pool_alloc(w.context, BASE, 256, w.a, 0);
    reads(w.context, w.b, BASE, 256);
    csan_memory_pool_free(w.context, BASE, w.a, 0);
    csan_lane_waits(w.context, w.a, w.b); /* what record_stream makes the pool do */
    csan_memory_pool_alloc(w.context, BASE, 256, w.a, 0);
    writes(w.context, w.a, BASE, 256);
    assert_int_equal(found_count, 0);
    csan_context_destroy(w.context);
}

static void a_told_block_owns_its_bytes(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    uint64_t base = 0, bytes = 0;
    csan_memory_pool_alloc(w.context, BASE + 512, 256, w.a, 0);
    assert_int_equal(csan_memory_owner(w.context, BASE + 600, &base, &bytes), 1);
    assert_int_equal(base, BASE + 512);
    assert_int_equal(bytes, 256);
    assert_int_equal(csan_memory_owner(w.context, BASE + 768, &base, &bytes), 1);
    assert_int_equal(base, BASE); /* past it: the allocation */
    csan_memory_pool_free(w.context, BASE + 512, w.a, 0);
    assert_int_equal(csan_memory_owner(w.context, BASE + 600, &base, &bytes), 1);
    assert_int_equal(base, BASE);
    assert_int_equal(csan_memory_owner(w.context, BASE - 1, &base, &bytes), 0);
    csan_context_destroy(w.context);
}

/* What waits may hold a newer block than the one that is known. */
static void a_told_block_is_not_trusted_behind_the_queue(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    uint64_t base = 0, bytes = 0;
    csan_memory_pool_alloc(w.context, BASE + 512, 256, w.a, 0);
    uint64_t ticket = csan_op_pending(w.context, w.a, 0, CSAN_LEVEL_UNKNOWN, NULL, 0);
    csan_memory_pool_free(w.context, BASE + 512, w.a, 0);
    csan_memory_pool_alloc(w.context, BASE + 512, 512, w.a, 0);
    assert_int_equal(csan_memory_owner(w.context, BASE + 600, &base, &bytes), 1);
    assert_int_equal(base, BASE);
    csan_op_resolve(w.context, ticket, CSAN_LEVEL_UNKNOWN, NULL, 0);
    assert_int_equal(csan_memory_owner(w.context, BASE + 600, &base, &bytes), 1);
    assert_int_equal(bytes, 512);
    csan_context_destroy(w.context);
}

/* Blocks that lie in no allocation csan knows, of changing sizes. */
static void told_blocks_anywhere(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    enum { FAR = 0x900000 };
    csan_memory_pool_alloc(w.context, FAR, 256, w.a, 0);
    csan_memory_pool_alloc(w.context, FAR + 256, 256, w.a, 0);
    writes(w.context, w.b, FAR + 256, 16);
    csan_memory_pool_free(w.context, FAR, w.a, 0);
    csan_memory_pool_free(w.context, FAR + 256, w.a, 0);
    csan_memory_pool_alloc(w.context, FAR + 128, 256, w.a, site(w.context, "across"));
    touch(w.context, w.a, "new owner", CSAN_READ, CSAN_EXACT, FAR + 128, CSAN_TO_END);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_REUSE);
    assert_int_equal(found[0].address, FAR + 256);
    assert_int_equal(found[0].bytes, 16);
    struct csan_stats stats;
    csan_memory_pool_free(w.context, 0x123456, w.a, 0);
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.unknown_frees, 1);
    csan_context_destroy(w.context);
}

static void told_blocks_keep_what_was_touched_before(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    enum { FAR = 0x900000 };
    writes(w.context, w.a, FAR + 16, 16);
    csan_memory_pool_alloc(w.context, FAR, 256, w.a, 0);
    reads(w.context, w.b, FAR, 256);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].address, FAR + 16);
    csan_context_destroy(w.context);
}

static void memory_in_no_allocation_is_checked_too(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, 0x7000000, 100);
    reads(w.context, CSAN_HOST, 0x7000000 + 99, 1);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].allocation, 0);
    csan_context_destroy(w.context);
}

/* ---- lanes */

static void a_lane_is_recycled_only_when_the_host_knows_it(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    csan_lane_destroy(w.context, w.a);
    csan_lane next = csan_lane_create(w.context, 0xa, "stream 10 again");
    assert_int_not_equal(next, w.a);
    reads(w.context, next, BASE, 8); /* same handle, another stream */
    assert_int_equal(found_count, 1);
    csan_lane_waits(w.context, CSAN_HOST, w.a == next ? w.b : next);
    csan_snapshot *all = csan_snapshot_take_all(w.context);
    csan_snapshot_join(w.context, CSAN_HOST, all);
    csan_snapshot_release(w.context, all);
    assert_int_equal(csan_lane_create(w.context, 0xe, "recycled"), w.a);
    csan_context_destroy(w.context);
}

/* An event of a lane's former life still tells what it knew then. */
static void an_old_event_survives_recycling(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = csan_lane_create(w.context, 0xc, "stream 12");
    csan_event *event = csan_event_create(w.context);
    writes(w.context, w.a, BASE, 8);
    csan_lane_waits(w.context, CSAN_HOST, w.a);
    writes(w.context, c, BASE + 64, 8);
    csan_lane_waits(w.context, w.a, c); /* a knows c's write, the host does not */
    csan_event_record(w.context, event, w.a);
    csan_lane_destroy(w.context, w.a);
    csan_lane again = csan_lane_create(w.context, 0xe, "again");
    csan_event_wait(w.context, event, again);
    reads(w.context, again, BASE + 64, 8);
    assert_int_equal(found_count, 0);
    csan_event_destroy(w.context, event);
    csan_context_destroy(w.context);
}

static void many_streams_reuse_few_lanes(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane highest = 0;
    for (int i = 0; i < 10000; i++) {
        csan_lane lane = csan_lane_create(w.context, (uint64_t)i, "stream");
        highest = lane > highest ? lane : highest;
        writes(w.context, lane, BASE, 8);
        csan_lane_waits(w.context, CSAN_HOST, lane);
        csan_lane_waits(w.context, lane, w.b); /* a wait that nobody ever observes */
        csan_lane_destroy(w.context, lane);
    }
    assert_true(highest < 8);
    assert_int_equal(found_count, 0);
    csan_context_destroy(w.context);
}

/* ---- what is decided later */

static void a_pending_op_is_decided_in_its_place(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    struct csan_access whole = {
        .base = BASE, .bytes = CSAN_TO_END, .kind = CSAN_WRITE, .bound = CSAN_BOUND_DIRECTION};
    uint64_t ticket =
        csan_op_pending(w.context, w.a, site(w.context, "kernel"), CSAN_LEVEL_DIRECTION, &whole, 1);
    assert_int_not_equal(ticket, 0);
    csan_event *event = csan_event_create(w.context);
    csan_event_record(w.context, event, w.a);
    csan_event_wait(w.context, event, w.b);
    reads(w.context, w.b, BASE, 8); /* ordered */
    csan_lane c = csan_lane_create(w.context, 0xc, "stream 12");
    reads(w.context, c, BASE + 64, 8); /* unordered, disjoint from what it will have touched */
    touch(w.context, c, "racer", CSAN_READ, CSAN_EXACT, BASE + 4, 8);
    assert_int_equal(found_count, 0);
    struct csan_access exact = {.base = BASE, .bytes = 8, .kind = CSAN_WRITE};
    csan_op_resolve(w.context, ticket, CSAN_LEVEL_TRACED, &exact, 1);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].possible, 0);
    assert_string_equal(found[0].current.name, "racer");
    assert_int_equal(found[0].address, BASE + 4);
    assert_int_equal(found[0].bytes, 4);
    struct csan_stats stats;
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.launches[CSAN_LEVEL_TRACED], 1);
    assert_int_equal(stats.launches[CSAN_LEVEL_DIRECTION], 0);
    csan_event_destroy(w.context, event);
    csan_context_destroy(w.context);
}

static void a_full_queue_falls_back(void **state)
{
    (void)state;
    struct world w = world_create("pending_limit=8");
    struct csan_access whole = {
        .base = BASE, .bytes = CSAN_TO_END, .kind = CSAN_WRITE, .bound = CSAN_BOUND_DIRECTION};
    uint64_t ticket =
        csan_op_pending(w.context, w.a, site(w.context, "kernel"), CSAN_LEVEL_DIRECTION, &whole, 1);
    for (int i = 0; i < 20; i++)
        reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].possible, 1);
    csan_op_resolve(w.context, ticket, CSAN_LEVEL_TRACED, NULL, 0); /* too late: ignored */
    struct csan_stats stats;
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.pending_overflows, 1);
    assert_int_equal(stats.launches[CSAN_LEVEL_DIRECTION], 1);
    csan_context_destroy(w.context);
}

static void draining_decides_everything(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    struct csan_access whole = {
        .base = BASE, .bytes = CSAN_TO_END, .kind = CSAN_WRITE, .bound = CSAN_BOUND_DIRECTION};
    csan_op_pending(w.context, w.a, site(w.context, "kernel"), CSAN_LEVEL_DIRECTION, &whole, 1);
    csan_snapshot *promise = csan_snapshot_promise(w.context);
    csan_snapshot_join(w.context, w.b, promise);
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 0);
    csan_context_drain(w.context);
    assert_int_equal(found_count, 1);
    struct csan_stats stats;
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.pending_timeouts, 1);
    assert_int_equal(stats.promises_broken, 1);
    csan_snapshot_release(w.context, promise);
    csan_context_destroy(w.context);
}

/* b waits for a value that a writes later: a's work passes the waiting b. */
static void a_promise_is_kept_from_behind(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_snapshot *promise = csan_snapshot_promise(w.context);
    csan_snapshot_join(w.context, w.b, promise);
    reads(w.context, w.b, BASE, 8);
    writes(w.context, w.a, BASE, 8);
    csan_snapshot_keep(w.context, promise, w.a);
    assert_int_equal(found_count, 0);
    writes(w.context, w.a, BASE, 8); /* after the release: unordered with b's read */
    assert_int_equal(found_count, 1);
    csan_snapshot_release(w.context, promise);
    csan_context_destroy(w.context);
}

/* What is held back sees the other lanes as of its own turn, not as of when it is decided. */
static void held_back_work_keeps_its_moment(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = csan_lane_create(w.context, 0xc, "stream 12");
    csan_event *event = csan_event_create(w.context);
    csan_snapshot *promise = csan_snapshot_promise(w.context);
    csan_event_record(w.context, event, c);
    csan_snapshot_join(w.context, w.b, promise);
    csan_event_wait(w.context, event, w.b); /* of c: nothing yet */
    csan_lane_waits(w.context, w.b, c);     /* likewise */
    reads(w.context, w.b, BASE, 8);         /* the host knows nothing yet either */
    writes(w.context, c, BASE, 8);
    csan_event_record(w.context, event, c);
    csan_lane_waits(w.context, CSAN_HOST, c);
    csan_snapshot_keep(w.context, promise, w.a);
    assert_int_equal(found_count, 1);
    csan_event_destroy(w.context, event);
    csan_snapshot_release(w.context, promise);
    csan_context_destroy(w.context);
}

/* `a` keeps the promise that `b` waits for; meanwhile the host has to get on, as it does when `a`
 * is a host function that runs late. */
static csan_snapshot *promise_to_b(struct world *w)
{
    csan_snapshot *promise = csan_snapshot_promise(w->context);
    csan_snapshot_join(w->context, w->b, promise);
    return promise;
}
static void host_gets_on(struct world *w, csan_snapshot *promise)
{
    struct csan_stats stats;
    reads(w->context, w->a, 0x900000, 16); /* joins the host */
    csan_snapshot_keep(w->context, promise, w->a);
    csan_snapshot_release(w->context, promise);
    csan_context_stats(w->context, &stats);
    assert_int_equal(stats.ops, 2);
    csan_context_drain(w->context);
    csan_context_stats(w->context, &stats);
    assert_int_equal(stats.promises_broken, 0);
}

static void an_event_recorded_anew_waits_for_no_former_record(void **state)
{
    (void)state;
    for (int by_host = 0; by_host <= 1; by_host++) {
        struct world w = world_create(NULL);
        csan_event *event = csan_event_create(w.context);
        csan_lane c = third_lane(&w);
        csan_snapshot *promise = promise_to_b(&w);
        csan_event_record(w.context, event, w.b); /* held back */
        writes(w.context, c, BASE, 16);
        csan_event_record(w.context, event, c);
        if (by_host) {
            csan_snapshot *snapshot = csan_event_snapshot(w.context, event);
            csan_snapshot_join(w.context, CSAN_HOST, snapshot);
            csan_snapshot_release(w.context, snapshot);
        } else {
            csan_lane function = csan_lane_create(w.context, 0xf, "a function of an idle stream");
            csan_event_wait(w.context, event, function);
            csan_lane_waits(w.context, CSAN_HOST, function);
        }
        host_gets_on(&w, promise);
        reads(w.context, w.a, BASE, 16);
        assert_int_equal(found_count, 0);
        csan_event_destroy(w.context, event);
        csan_context_destroy(w.context);
    }
}

static void a_free_at_the_host_lets_the_host_get_on(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_snapshot *promise = promise_to_b(&w);
    writes(w.context, w.b, BASE, 16); /* held back */
    csan_free *token =
        csan_memory_free_begin(w.context, BASE, CSAN_HOST, 0, site(w.context, "cuMemFree"));
    host_gets_on(&w, promise);
    csan_memory_free_end(w.context, token, 0, 1);
    assert_int_equal(found_count, 0);
    csan_context_destroy(w.context);
}

/* The second owner of an address, while the queue waits for something else. */
static void memory_changes_hands_in_order(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = third_lane(&w);
    csan_memory_create(w.context, CSAN_MEMORY_STREAM, 0x900000, 256, c, 0);
    csan_free *token = csan_memory_free_begin(w.context, 0x900000, c, 1, 0);
    csan_memory_free_end(w.context, token, 0, 0);
    csan_snapshot *promise = promise_to_b(&w);
    csan_memory_create(w.context, CSAN_MEMORY_STREAM, 0x900000, 256, w.b, 0); /* held back */
    writes(w.context, c, 0x900010, 16);
    csan_snapshot_keep(w.context, promise, w.a);
    csan_snapshot_release(w.context, promise);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_BIRTH); /* not: use after free */
    csan_context_destroy(w.context);
}

/* Whoever uses memory without waiting for its birth does not wait for what the birth waits for. */
static void a_birth_held_back_holds_back_no_other_lane(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = third_lane(&w);
    csan_event *event = csan_event_create(w.context);
    csan_snapshot *promise = promise_to_b(&w);
    csan_event_record(w.context, event, w.b); /* before the birth */
    csan_event_wait(w.context, event, w.a);
    csan_memory_create(w.context, CSAN_MEMORY_STREAM, 0x900000, 256, w.b, 0);
    writes(w.context, c, 0x900010, 16);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_BIRTH);
    csan_lane d = csan_lane_create(w.context, 0xd, "stream 13");
    csan_snapshot_keep(w.context, promise, d);
    csan_snapshot_release(w.context, promise);
    touch(w.context, w.a, "another", CSAN_WRITE, CSAN_EXACT, 0x900040, 16);
    assert_int_equal(found_count, 2);
    writes(w.context, w.b, 0x900080, 16);
    assert_int_equal(found_count, 2);
    csan_event_destroy(w.context, event);
    csan_context_destroy(w.context);
}

/* A free is an op: held back, it takes along the host as of its turn. */
static void a_free_held_back_keeps_its_moment(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = third_lane(&w);
    csan_memory_create(w.context, CSAN_MEMORY_STREAM, 0x900000, 256, w.b, 0);
    csan_lane_waits(w.context, c, w.b);
    writes(w.context, c, 0x900010, 16);
    csan_snapshot *promise = promise_to_b(&w);
    csan_free *token = csan_memory_free_begin(w.context, 0x900000, w.b, 1, 0);
    csan_memory_free_end(w.context, token, 0, 0);
    csan_lane_waits(w.context, CSAN_HOST, c);
    csan_snapshot_keep(w.context, promise, w.a);
    csan_snapshot_release(w.context, promise);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_FREE);
    csan_context_destroy(w.context);
}

/* An op held back knows less than the host does when its turn comes. */
static void what_a_held_op_races_with_is_remembered(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    enum { FAR = 0x900000 };
    csan_lane c = third_lane(&w);
    csan_snapshot *promise = promise_to_b(&w);
    writes(w.context, w.b, FAR, 16); /* held back */
    writes(w.context, c, FAR, 16);
    csan_lane_waits(w.context, CSAN_HOST, c);
    csan_memory_pool_alloc(w.context, FAR, 256, c, 0); /* takes over what is not over */
    csan_snapshot_keep(w.context, promise, w.a);
    csan_snapshot_release(w.context, promise);
    assert_int_equal(found_count, 1);
    csan_context_destroy(w.context);
}

/* ---- reading the races */

static void marks_and_clearing(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 8);
    reads(w.context, w.b, BASE, 8);
    uint64_t mark = csan_context_race_mark(w.context);
    struct csan_race races[4];
    assert_int_equal(csan_context_races_since(w.context, 0, races, 4), 1);
    assert_int_equal(csan_context_races_since(w.context, mark, races, 4), 0);
    touch(w.context, w.b, "second", CSAN_READ, CSAN_EXACT, BASE, 8);
    assert_int_equal(csan_context_races_since(w.context, mark, races, 4), 1);
    assert_string_equal(races[0].current.name, "second");
    csan_context_races_clear(w.context);
    assert_int_equal(csan_context_races_since(w.context, 0, NULL, 0), 0);
    reads(w.context, w.b, BASE, 8); /* may be reported again */
    assert_int_equal(csan_context_races_since(w.context, 0, NULL, 0), 1);
    assert_string_equal(races[0].current.name, "second"); /* what was read stays valid */
    csan_context_destroy(w.context);
}

static void bad_calls_do_no_harm(void **state)
{
    (void)state;
    char message[256];
    assert_null(csan_context_create("no_such_option=1", NULL, NULL, message, sizeof(message)));
    assert_non_null(strstr(message, "no_such_option"));
    struct world w = world_create(NULL);
    reads(w.context, CSAN_NO_LANE, BASE, 8);
    csan_lane_waits(w.context, w.a, CSAN_NO_LANE);
    csan_lane_destroy(w.context, CSAN_HOST);
    assert_int_equal(csan_memory_create(w.context, CSAN_MEMORY_DEVICE, 5, 0, CSAN_HOST, 0), -1);
    assert_int_equal(csan_memory_create(w.context, CSAN_MEMORY_DEVICE, UINT64_MAX, 2, CSAN_HOST, 0),
                     -1);
    assert_null(csan_memory_free_begin(w.context, 0x55, CSAN_HOST, 0, 0));
    csan_memory_free_end(w.context, NULL, 0, 1);
    reads(w.context, w.a, UINT64_MAX - 4, 100);
    csan_op_resolve(w.context, 77, CSAN_LEVEL_TRACED, NULL, 0);
    assert_int_equal(found_count, 0);
    csan_context_destroy(w.context);
}

/* Memory must not grow with the number of ops. */
/* A branch judges its own lanes against each other, and nothing else. */
static void a_branch_is_judged_apart(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, SIZE);
    csan_context *branch = csan_context_branch(w.context);
    csan_lane one = csan_lane_create(branch, 0xb, "stream 11");
    csan_lane other = csan_lane_create(branch, 0xb, "stream 11");
    writes(branch, one, BASE, 100); /* unordered with lane a, which the branch does not know */
    assert_int_equal(found_count, 0);
    csan_lane_waits(branch, other, one);
    writes(branch, other, BASE, 50);
    assert_int_equal(found_count, 0);
    touch(branch, one, "later", CSAN_READ, CSAN_EXACT, BASE + 40, 100);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].allocation, BASE); /* the parent's */
    assert_int_equal(found[0].allocation_frame_count, 1);
    assert_int_equal(found[0].bytes, 10);
    csan_context_destroy(branch);
    struct csan_stats stats;
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.races, 1); /* counted where the program's races are */
    assert_int_equal(csan_context_races_since(w.context, 0, NULL, 0), 1);
    reads(w.context, w.a, BASE, SIZE); /* the branch left nothing behind */
    assert_int_equal(found_count, 1);
    assert_string_equal(found[0].current.name, "later");
    csan_context_destroy(w.context);
}

/* Memory that the parent knows as freed on a stream belongs to nobody in a branch: its accesses are
 * compared all the same, over its ends, too. */
static void a_branch_meets_freed_memory(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_memory_create(w.context, CSAN_MEMORY_STREAM, 0x70000, 256, w.a, 0);
    csan_memory_free_end(w.context, csan_memory_free_begin(w.context, 0x70000, w.a, 1, 0), 0, 0);
    csan_context *branch = csan_context_branch(w.context);
    csan_lane one = csan_lane_create(branch, 0xb, "one"),
              other = csan_lane_create(branch, 0xb, "two");
    writes(branch, one, 0x70000 - 64, 1024);
    assert_int_equal(found_count, 0);
    writes(branch, other, 0x70000 + 200, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].bytes, 8);
    csan_context_destroy(branch);
    csan_context_destroy(w.context);
}

/* A free that failed leaves memory that lives: nothing untouched that other frees age is lost, and
 * the next free finds it. */
static void a_failed_free_leaves_live_memory(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_memory_create(w.context, CSAN_MEMORY_STREAM, 0x70000, 256, w.a, 0);
    csan_memory_free_end(w.context, csan_memory_free_begin(w.context, 0x70000, w.a, 1, 0), 1, 0);
    csan_memory_create(w.context, CSAN_MEMORY_STREAM, 0x80000, 256, w.a, 0);
    csan_memory_free_end(w.context, csan_memory_free_begin(w.context, 0x80000, w.a, 1, 0), 0, 0);
    writes(w.context, w.a, 0x70000, 8);
    writes(w.context, w.b, 0x70000, 8);
    assert_true(found_count > 0);
    assert_int_equal(found[0].allocation, 0x70000);
    csan_memory_free_end(w.context, csan_memory_free_begin(w.context, 0x70000, w.a, 1, 0), 1, 0);
    csan_memory_free_end(w.context, csan_memory_free_begin(w.context, 0x70000, w.a, 1, 0), 0, 0);
    csan_context_destroy(w.context);
}

static void cells_do_not_accumulate(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    struct csan_stats stats;
    for (int i = 0; i < 200000; i++) {
        uint64_t start = (uint64_t)(i * 37 % 3000);
        reads(w.context, i % 2 ? w.a : w.b, BASE + start, 1 + (uint64_t)(i % 90));
        if (i % 1000 == 0)
            csan_lane_waits(w.context, CSAN_HOST, i % 2 ? w.a : w.b);
    }
    csan_context_stats(w.context, &stats);
    assert_true(stats.cells <= SIZE);
    csan_context_destroy(w.context);
}

/* ---- random programs against brute force */

enum { LANES = 5, EVENTS = 3, OPS = 120, BYTES = 48, ACCESSES = 4, PENDING = 4 };

struct brute_access {
    int kind, bound;
    bool touched[BYTES];
};

struct brute_op {
    uint64_t past[2]; /* ops known to be finished: bits */
    int count;
    struct brute_access accesses[ACCESSES];
};

/* How programs of a run are made. */
struct manner {
    bool strided;
    uint32_t accesses; /* of an op at most */
    const char *options;
    bool forgets; /* the options make csan forget: it may miss races, but invents none */
    int threads;  /* lanes 1 to this are host threads; 0: the host is one */
};

struct brute {
    struct brute_op ops[OPS];
    int count;
    uint64_t lanes[LANES][2]; /* what each lane has finished before its next op; [0]: the host */
    uint64_t events[EVENTS][2];
    uint64_t ended[2]; /* what streams did that are no more */
};

/* The program under test: csan's side of it. */
struct program {
    csan_context *context;
    csan_lane lanes[LANES];
    csan_event *events[EVENTS];
    struct pending {
        uint64_t ticket;
        struct csan_access accesses[ACCESSES];
        struct csan_dim dims[ACCESSES][3];
        int count;
    } pending[PENDING];
};

static uint64_t random_state;
static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(random_state >> 33) % limit;
}

static void past_join(uint64_t *past, const uint64_t *other)
{
    past[0] |= other[0];
    past[1] |= other[1];
}

static bool brute_conflict(const struct brute_access *a, const struct brute_access *b)
{
    return !((a->kind == CSAN_READ && b->kind == CSAN_READ) ||
             (a->kind == CSAN_ATOMIC && b->kind == CSAN_ATOMIC));
}

static bool brute_meet(const struct brute_access *a, const struct brute_access *b, uint64_t start,
                       uint64_t end)
{
    for (uint64_t k = start; k < end; k++)
        if (!a->touched[k] || !b->touched[k])
            return false;
    return true;
}

static bool brute_ordered(const struct brute *brute, int earlier, int later)
{
    return brute->ops[later].past[earlier / 64] >> (earlier % 64) & 1;
}

/* Paint what the access touches; false when it leaves the memory. */
static bool paint(const struct csan_access *access, bool *touched)
{
    uint64_t points = 1;
    memset(touched, 0, BYTES * sizeof(*touched));
    for (int i = 0; i < access->dim_count; i++)
        points *= access->dims[i].count;
    for (uint64_t point = 0; point < points; point++) {
        uint64_t rest = point;
        int64_t address = (int64_t)(access->base - BASE);
        for (int i = 0; i < access->dim_count; i++) {
            address += access->dims[i].stride * (int64_t)(rest % access->dims[i].count);
            rest /= access->dims[i].count;
        }
        for (int64_t k = address; k < address + (int64_t)access->bytes; k++) {
            if (k < 0 || k >= BYTES)
                return false;
            touched[k] = true;
        }
    }
    return true;
}

static void random_access(const struct manner *manner, struct csan_access *access,
                          struct csan_dim *dims, struct brute_access *brute)
{
    static const struct {
        int64_t stride;
        uint64_t count;
    } usual[] = {{8, 4}, {12, 4}, {6, 8}, {24, 2}};
    do {
        uint64_t start = random_below(manner->strided ? 40 : 24);
        *access =
            (struct csan_access){.base = BASE + start,
                                 .bytes = 1 + random_below(manner->strided ? 6 : 24),
                                 .dims = dims,
                                 .dim_count = (uint8_t)(manner->strided ? random_below(4) : 0),
                                 .element_bytes = 1};
        for (int i = 0; i < access->dim_count; i++)
            dims[i] = (struct csan_dim){(int64_t)random_below(25) - 8, 1 + random_below(4)};
        if (manner->strided && random_below(3) == 0) { /* few patterns, so that they come again */
            uint32_t which = random_below(4);
            access->base = BASE + random_below(2) * 2;
            access->bytes = 2 + random_below(2);
            access->dim_count = 1;
            dims[0] = (struct csan_dim){usual[which].stride, usual[which].count};
        }
    } while (!paint(access, brute->touched));
    brute->kind = (int[]){CSAN_READ, CSAN_WRITE, CSAN_WRITE, CSAN_ATOMIC}[random_below(4)];
    brute->bound = random_below(4) ? CSAN_EXACT : CSAN_BOUND_DATA;
    access->kind = (uint8_t)brute->kind;
    access->bound = (uint8_t)brute->bound;
}

static void resolve(struct program *program, struct pending *pending)
{
    if (pending->ticket)
        csan_op_resolve(program->context, pending->ticket, CSAN_LEVEL_TRACED, pending->accesses,
                        (size_t)pending->count);
    pending->ticket = 0;
}

/* ---- host threads as lanes */

static int random_thread(const struct manner *manner)
{
    return 1 + (int)random_below((uint32_t)manner->threads);
}

static void lane_waits(struct program *program, struct brute *brute, int lane, int other)
{
    csan_lane_waits(program->context, program->lanes[lane], program->lanes[other]);
    past_join(brute->lanes[lane], brute->lanes[other]);
}

/* The lane of the next op: a thread's own, or a stream's that a thread enqueues on. */
static int random_enqueuer(struct program *program, struct brute *brute,
                           const struct manner *manner)
{
    int lane = 1 + (int)random_below(LANES - 1);
    if (lane > manner->threads)
        lane_waits(program, brute, lane, random_thread(manner));
    return lane;
}

/* A thread waits for the whole device, which is all streams and what those know. */
static void random_device_wait(struct program *program, struct brute *brute,
                               const struct manner *manner)
{
    int thread = random_thread(manner);
    csan_snapshot *all = csan_snapshot_take_all(program->context);
    csan_snapshot_join(program->context, program->lanes[thread], all);
    csan_snapshot_release(program->context, all);
    for (int lane = manner->threads + 1; lane < LANES; lane++)
        past_join(brute->lanes[thread], brute->lanes[lane]);
    past_join(brute->lanes[thread], brute->ended);
}

/* The lane ends and another takes its place, a thread or a stream as it was, made by a thread. */
static void random_new_lane(struct program *program, struct brute *brute,
                            const struct manner *manner)
{
    int lane = 1 + (int)random_below(LANES - 1), maker = random_thread(manner);
    csan_lane former = program->lanes[lane];
    if (lane == maker)
        return;
    if (lane > manner->threads)
        past_join(brute->ended, brute->lanes[lane]);
    memcpy(brute->lanes[lane], brute->lanes[maker], sizeof(brute->lanes[lane]));
    if (lane > manner->threads) { /* what it waited for last counts: somebody may have seen it */
        csan_snapshot_release(program->context, csan_snapshot_take(program->context, former));
        csan_lane_destroy(program->context, former);
        program->lanes[lane] = csan_lane_create_after(program->context, (uint64_t)lane, "stream",
                                                      program->lanes[maker]);
        return;
    }
    program->lanes[lane] = csan_lane_create_host(program->context, "thread", CSAN_HOST_THREAD);
    csan_lane_waits(program->context, program->lanes[lane], program->lanes[maker]);
    csan_lane_destroy(program->context, former);
}

static void random_thread_step(struct program *program, struct brute *brute,
                               const struct manner *manner)
{
    if (random_below(4) == 0)
        random_device_wait(program, brute, manner);
    else if (random_below(2))
        random_new_lane(program, brute, manner);
    else
        lane_waits(program, brute, random_thread(manner), 1 + (int)random_below(LANES - 1));
}

/* An op whose access set is told at once, or later: what csan finds must be the same. */
static void random_op(struct program *program, struct brute *brute, const struct manner *manner)
{
    int lane = (int)random_below(LANES), index = brute->count++;
    struct brute_op *op = &brute->ops[index];
    struct pending *pending = &program->pending[random_below(PENDING)];
    memset(op, 0, sizeof(*op));
    resolve(program, pending);
    if (manner->threads)
        lane = random_enqueuer(program, brute, manner);
    op->count = pending->count = 1 + (int)random_below(manner->accesses);
    for (int i = 0; i < op->count; i++) {
        random_access(manner, &pending->accesses[i], pending->dims[i], &op->accesses[i]);
        pending->accesses[i].argument = (uint16_t)i;
    }
    past_join(brute->lanes[lane], brute->lanes[0]);
    memcpy(op->past, brute->lanes[lane], sizeof(op->past));
    op->past[index / 64] |= 1ull << (index % 64);
    brute->lanes[lane][index / 64] |= 1ull << (index % 64);
    char name[16];
    snprintf(name, sizeof(name), "op%d", index);
    csan_site where = site(program->context, name);
    if (random_below(8))
        csan_op(program->context, program->lanes[lane], where, CSAN_LEVEL_RANGES, pending->accesses,
                (size_t)pending->count);
    else
        pending->ticket = csan_op_pending(program->context, program->lanes[lane], where,
                                          CSAN_LEVEL_UNKNOWN, NULL, 0);
}

/* The memory is freed at the host, which waits for everything, and allocated again. */
static void random_new_owner(struct program *program, struct brute *brute)
{
    csan_free *token = csan_memory_free_begin(program->context, BASE, CSAN_HOST, 0, 0);
    csan_memory_free_end(program->context, token, 0, 1);
    csan_memory_create(program->context, CSAN_MEMORY_DEVICE, BASE, BYTES, CSAN_HOST, 0);
    for (int i = 0; i < brute->count; i++)
        brute->lanes[0][i / 64] |= 1ull << (i % 64);
}

/* A told pool hands out a part of the memory and takes it back: no order, other names. */
static void random_block(struct program *program)
{
    uint64_t start = random_below(40);
    csan_memory_pool_alloc(program->context, BASE + start,
                           1 + random_below((uint32_t)(BYTES - start)),
                           program->lanes[1 + random_below(LANES - 1)], 0);
    if (random_below(2))
        csan_memory_pool_free(program->context, BASE + start, program->lanes[1], 0);
}

static void random_step(struct program *program, struct brute *brute, const struct manner *manner)
{
    csan_context *context = program->context;
    const csan_lane *lanes = program->lanes;
    int lane = (int)random_below(LANES), other = (int)random_below(LANES);
    int event = (int)random_below(EVENTS);
    if (manner->threads && lane == 0)
        lane = 1;
    switch (random_below(10)) {
    case 0:
        csan_event_record(context, program->events[event], lanes[lane]);
        memcpy(brute->events[event], brute->lanes[lane], sizeof(brute->events[event]));
        break;
    case 1:
    case 2:
        csan_event_wait(context, program->events[event], lanes[lane]);
        past_join(brute->lanes[lane], brute->events[event]);
        break;
    case 3:
        if (random_below(3) || lane == 0 || (manner->threads && other == 0))
            break;
        csan_lane_waits(context, lanes[lane], lanes[other]);
        past_join(brute->lanes[lane], brute->lanes[other]);
        break;
    case 4:
        if (manner->threads)
            random_thread_step(program, brute, manner);
        if (manner->threads || random_below(6))
            break;
        csan_lane_waits(context, CSAN_HOST, lanes[lane]);
        past_join(brute->lanes[0], brute->lanes[lane]);
        break;
    case 5:
        if (random_below(20) == 0 && !manner->threads)
            random_new_owner(program, brute);
        else if (random_below(4) == 0)
            random_block(program);
        resolve(program, &program->pending[random_below(PENDING)]);
        break;
    default:
        random_op(program, brute, manner);
    }
}

static int index_of(const char *name)
{
    return atoi(name + 2);
}

/* A report names its arguments: "p, r" are accesses 0 and 2. */
static bool names(const char *arguments, int access)
{
    return strchr(arguments, "pqrs"[access]) != NULL;
}

/* What the reports say of each byte. A report gives the first common run: it stands for all that
 * the two accesses have in common. */
struct verdicts {
    bool any[BYTES], certain[BYTES];
};

/* Every reported pair is one: some of the named accesses conflict on all of the reported bytes. */
static void take_report(const struct brute *brute, const struct csan_race *race, uint64_t seed,
                        struct verdicts *verdicts)
{
    int later = index_of(race->current.name), earlier = index_of(race->previous.name);
    uint64_t start = race->address - BASE, end = start + race->bytes;
    bool explained = false;
    if (brute_ordered(brute, earlier, later))
        fail_msg("seed %lu: op%d and op%d are ordered", seed, earlier, later);
    if (race->bytes == 0 || end > BYTES)
        fail_msg("seed %lu: op%d and op%d: wrong range", seed, earlier, later);
    for (int i = 0; i < brute->ops[earlier].count; i++)
        for (int j = 0; j < brute->ops[later].count; j++) {
            const struct brute_access *a = &brute->ops[earlier].accesses[i];
            const struct brute_access *b = &brute->ops[later].accesses[j];
            bool possible = a->bound != CSAN_EXACT || b->bound != CSAN_EXACT;
            if (!names(race->previous.arguments, i) || !names(race->current.arguments, j) ||
                a->kind != race->previous.kind || b->kind != race->current.kind ||
                possible != (race->possible != 0) || !brute_conflict(a, b) ||
                !brute_meet(a, b, start, end))
                continue;
            explained = true;
            for (int k = 0; k < BYTES; k++) {
                verdicts->any[k] |= a->touched[k] && b->touched[k];
                verdicts->certain[k] |= a->touched[k] && b->touched[k] && !possible;
            }
        }
    if (!explained)
        fail_msg("seed %lu: op%d and op%d do not race like that on [%lu, %lu)", seed, earlier,
                 later, start, end);
}

/* Every byte with a pair has a report, certain where a certain pair is. */
static void expect_reports(const struct brute *brute, int earlier, int later, uint64_t seed,
                           const struct verdicts *verdicts)
{
    for (int i = 0; i < brute->ops[earlier].count; i++)
        for (int j = 0; j < brute->ops[later].count; j++) {
            const struct brute_access *a = &brute->ops[earlier].accesses[i];
            const struct brute_access *b = &brute->ops[later].accesses[j];
            bool certain = a->bound == CSAN_EXACT && b->bound == CSAN_EXACT;
            for (int k = 0; brute_conflict(a, b) && k < BYTES; k++)
                if (a->touched[k] && b->touched[k] &&
                    (!verdicts->any[k] || (certain && !verdicts->certain[k])))
                    fail_msg("seed %lu: op%d and op%d race on byte %d: not reported", seed, earlier,
                             later, k);
        }
}

static void compare(const struct brute *brute, uint64_t seed, bool forgets)
{
    struct verdicts verdicts = {0};
    for (size_t i = 0; i < found_count; i++)
        take_report(brute, &found[i], seed, &verdicts);
    for (int later = 0; later < brute->count && !forgets; later++)
        for (int earlier = 0; earlier < later; earlier++)
            if (!brute_ordered(brute, earlier, later))
                expect_reports(brute, earlier, later, seed, &verdicts);
}

static void random_program(const struct manner *manner, uint64_t seed)
{
    static struct brute brute;
    static struct program program;
    random_state = seed * 2654435761u;
    memset(&brute, 0, sizeof(brute));
    program = (struct program){.context = create(manner->options), .lanes = {CSAN_HOST}};
    csan_memory_create(program.context, CSAN_MEMORY_DEVICE, BASE, BYTES, CSAN_HOST, 0);
    for (uint64_t i = 1; i < LANES; i++)
        program.lanes[i] = i <= (uint64_t)manner->threads
                               ? csan_lane_create_host(program.context, "thread", CSAN_HOST_THREAD)
                               : csan_lane_create(program.context, i, "stream");
    for (int i = 0; i < EVENTS; i++)
        program.events[i] = csan_event_create(program.context);
    int ops = 2 + (int)random_below(seed % 2 ? 6 : OPS - 2);
    while (brute.count < ops)
        random_step(&program, &brute, manner);
    for (int i = 0; i < PENDING; i++)
        resolve(&program, &program.pending[i]);
    compare(&brute, seed, manner->forgets);
    for (int i = 0; i < EVENTS; i++)
        csan_event_destroy(program.context, program.events[i]);
    csan_context_destroy(program.context);
}

static void random_programs(struct manner manner)
{
    int racy = 0, clean = 0;
    if (!manner.options)
        manner.options = "dedup=0:pending_timeout_ms=0";
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        random_program(&manner, seed);
        if (found_count)
            racy++;
        else
            clean++;
    }
    assert_true(racy > 100 && clean > 100);
}

/* Many records of many extents over more memory: each later read races with just those it meets. */
static void records_are_found_wherever_they_lie(void **state)
{
    (void)state;
    enum { RECORDS = 400, MEMORY = 1 << 16 };
    struct world w = world_create("dedup=0");
    csan_memory_create(w.context, CSAN_MEMORY_DEVICE, 1 << 24, MEMORY, CSAN_HOST, 0);
    static struct csan_dim rows[RECORDS];
    static uint64_t bases[RECORDS];
    random_state = 7;
    for (int i = 0; i < RECORDS; i++) {
        rows[i] =
            (struct csan_dim){8 + 8 * random_below(1 << random_below(12)), 2 + random_below(2)};
        bases[i] = (1 << 24) + 4 * random_below((MEMORY - 4 * 8192) / 4);
        if ((uint64_t)rows[i].stride * rows[i].count > MEMORY / 2)
            rows[i].stride = 8;
        struct csan_access access = {
            .base = bases[i], .bytes = 4, .dims = &rows[i], .dim_count = 1, .kind = CSAN_READ};
        csan_op(w.context, w.a, site(w.context, "strided"), CSAN_LEVEL_RANGES, &access, 1);
    }
    assert_in_range(strided_records(w), RECORDS * 9 / 10, RECORDS);
    size_t expected = 0;
    for (int i = 0; i < 2000; i++) {
        uint64_t start = (1 << 24) + random_below(MEMORY), bytes = 1 + random_below(64);
        found_count = 0;
        csan_lane lane = csan_lane_create(w.context, 0xc, "stream 12");
        touch(w.context, lane, "probe", CSAN_WRITE, CSAN_BOUND_DATA, start, bytes);
        csan_lane_waits(w.context, CSAN_HOST, lane);
        csan_lane_destroy(w.context, lane);
        bool met[RECORDS] = {false};
        size_t meetings = 0;
        for (int k = 0; k < RECORDS; k++) {
            for (uint64_t row = 0; row < rows[k].count; row++) {
                uint64_t at = bases[k] + row * (uint64_t)rows[k].stride;
                met[k] |= at < start + bytes && start < at + 4;
            }
            for (int same = 0; same < k; same++) /* a record stands for all of its pattern */
                if (bases[same] == bases[k] && rows[same].stride == rows[k].stride &&
                    rows[same].count == rows[k].count)
                    met[k] = false;
            meetings += met[k];
        }
        assert_int_equal(found_count, meetings);
        expected += meetings;
    }
    assert_true(expected > 500);
    csan_context_destroy(w.context);
}

/* ---- host threads */

static csan_lane thread_create(struct world w)
{
    return csan_lane_create_host(w.context, "host thread", CSAN_HOST_THREAD);
}

static void a_thread_that_waits_orders_itself_alone(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane first = thread_create(w), second = thread_create(w);
    csan_lane_waits(w.context, w.a, first);
    writes(w.context, w.a, BASE, 8);
    csan_lane_waits(w.context, first, w.a);
    csan_lane_waits(w.context, w.b, first);
    writes(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 0);
    csan_lane third = csan_lane_create(w.context, 3, "stream 3");
    csan_lane_waits(w.context, third, second);
    writes(w.context, third, BASE, 8);
    assert_int_equal(found_count, 1);
    csan_context_destroy(w.context);
}

/* What one thread knows may not be forgotten while another does not. */
static void what_all_threads_know_is_forgotten(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane first = thread_create(w), second = thread_create(w);
    for (uint64_t at = 0; at < SIZE / 2; at += 2)
        writes(w.context, at % 4 ? w.a : w.b, BASE + at, 1);
    csan_lane_waits(w.context, first, w.a);
    csan_lane_waits(w.context, first, w.b);
    csan_lane third = csan_lane_create(w.context, 3, "stream 3");
    csan_lane_waits(w.context, third, first);
    for (uint64_t at = SIZE / 2; at < SIZE; at += 2)
        reads(w.context, third, BASE + at, 1);
    csan_lane_waits(w.context, third, second);
    reads(w.context, second, BASE, SIZE / 2);
    assert_true(found_count > 0);
    csan_lane_waits(w.context, second, first);
    csan_lane_destroy(w.context, w.a);
    found_count = 0;
    assert_int_equal(csan_lane_create(w.context, 4, "stream 4"), w.a);
    reads(w.context, w.a, BASE, SIZE / 2);
    assert_int_equal(found_count, 0);
    csan_context_destroy(w.context);
}

/* One thread sleeps for ever: others make and end streams without end. */
static void a_sleeping_thread_does_not_use_up_the_lanes(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane sleeping = thread_create(w), busy = thread_create(w);
    csan_lane most = 0;
    for (int i = 0; i < 10000; i++) {
        csan_lane lane = csan_lane_create_after(w.context, 7, "stream 7", busy);
        most = lane > most ? lane : most;
        csan_lane_waits(w.context, lane, busy);
        writes(w.context, lane, BASE, 8);
        csan_lane_waits(w.context, busy, lane);
        csan_lane_destroy(w.context, lane);
    }
    assert_int_equal(found_count, 0);
    assert_in_range(most, 1, 1100);
    reads(w.context, sleeping, BASE, 8);
    assert_int_equal(found_count, 1);
    csan_context_destroy(w.context);
}

static void random_programs_of_intervals(void **state)
{
    (void)state;
    random_programs((struct manner){.accesses = 1});
}
static void random_programs_of_several_intervals(void **state)
{
    (void)state;
    random_programs((struct manner){.accesses = ACCESSES});
}
static void random_programs_of_strided_accesses(void **state)
{
    (void)state;
    random_programs((struct manner){.strided = true, .accesses = 1});
}
static void random_programs_of_several_strided_accesses(void **state)
{
    (void)state;
    random_programs((struct manner){.strided = true, .accesses = ACCESSES});
}
static void random_programs_of_host_threads(void **state)
{
    (void)state;
    random_programs((struct manner){.accesses = 2, .threads = 1});
    random_programs((struct manner){.accesses = 2, .threads = 2});
    random_programs((struct manner){.strided = true, .accesses = 2, .threads = 3});
}
static void random_programs_beyond_the_strided_cap(void **state)
{
    (void)state;
    random_programs((struct manner){.strided = true,
                                    .accesses = 2,
                                    .options = "dedup=0:pending_timeout_ms=0:strided_cap=3",
                                    .forgets = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_then_read_unordered_is_a_race),
        cmocka_unit_test(reads_do_not_race),
        cmocka_unit_test(neighbours_do_not_race),
        cmocka_unit_test(an_event_orders),
        cmocka_unit_test(the_last_record_wins),
        cmocka_unit_test(a_snapshot_is_of_its_moment),
        cmocka_unit_test(order_is_transitive_and_the_host_orders_all),
        cmocka_unit_test(a_host_access_races_with_a_stream),
        cmocka_unit_test(reports_are_de_duplicated_by_site),
        cmocka_unit_test(all_arguments_of_a_race_are_named),
        cmocka_unit_test(a_bounded_side_makes_it_possible),
        cmocka_unit_test(a_bounded_write_hides_nothing),
        cmocka_unit_test(atomics),
        cmocka_unit_test(atomics_of_two_widths_are_remembered),
        cmocka_unit_test(strided_accesses_stay_what_they_are),
        cmocka_unit_test(strided_records_do_not_accumulate),
        cmocka_unit_test(covered_records_go),
        cmocka_unit_test(a_pattern_that_was_read_is_written),
        cmocka_unit_test(a_pattern_with_many_neighbours),
        cmocka_unit_test(strided_against_cells_of_others),
        cmocka_unit_test(the_strided_cap_drops_the_oldest),
        cmocka_unit_test(a_host_free_waits_and_forgets),
        cmocka_unit_test(a_failed_free_changes_nothing),
        cmocka_unit_test(strict_free_reports_what_only_the_free_orders),
        cmocka_unit_test(a_wait_that_nothing_promises_is_no_order_but_is_said),
        cmocka_unit_test(a_wait_for_all_that_nothing_promises),
        cmocka_unit_test(use_before_birth),
        cmocka_unit_test(free_while_in_use),
        cmocka_unit_test(use_after_free_on_the_same_stream),
        cmocka_unit_test(a_driver_pool_reuse_is_no_race),
        cmocka_unit_test(a_driver_pool_reuse_keeps_what_the_free_raced_with),
        cmocka_unit_test(a_failed_stream_free_is_undone),
        cmocka_unit_test(a_told_pool_orders_nothing),
        cmocka_unit_test(a_told_pool_with_order_is_silent),
        cmocka_unit_test(a_told_block_owns_its_bytes),
        cmocka_unit_test(a_told_block_is_not_trusted_behind_the_queue),
        cmocka_unit_test(told_blocks_anywhere),
        cmocka_unit_test(told_blocks_keep_what_was_touched_before),
        cmocka_unit_test(memory_in_no_allocation_is_checked_too),
        cmocka_unit_test(a_lane_is_recycled_only_when_the_host_knows_it),
        cmocka_unit_test(an_old_event_survives_recycling),
        cmocka_unit_test(many_streams_reuse_few_lanes),
        cmocka_unit_test(a_pending_op_is_decided_in_its_place),
        cmocka_unit_test(a_full_queue_falls_back),
        cmocka_unit_test(draining_decides_everything),
        cmocka_unit_test(a_promise_is_kept_from_behind),
        cmocka_unit_test(an_event_recorded_anew_waits_for_no_former_record),
        cmocka_unit_test(a_free_at_the_host_lets_the_host_get_on),
        cmocka_unit_test(memory_changes_hands_in_order),
        cmocka_unit_test(a_birth_held_back_holds_back_no_other_lane),
        cmocka_unit_test(a_free_held_back_keeps_its_moment),
        cmocka_unit_test(what_a_held_op_races_with_is_remembered),
        cmocka_unit_test(held_back_work_keeps_its_moment),
        cmocka_unit_test(marks_and_clearing),
        cmocka_unit_test(bad_calls_do_no_harm),
        cmocka_unit_test(a_branch_is_judged_apart),
        cmocka_unit_test(a_branch_meets_freed_memory),
        cmocka_unit_test(a_failed_free_leaves_live_memory),
        cmocka_unit_test(cells_do_not_accumulate),
        cmocka_unit_test(records_are_found_wherever_they_lie),
        cmocka_unit_test(a_thread_that_waits_orders_itself_alone),
        cmocka_unit_test(what_all_threads_know_is_forgotten),
        cmocka_unit_test(a_sleeping_thread_does_not_use_up_the_lanes),
        cmocka_unit_test(random_programs_of_intervals),
        cmocka_unit_test(random_programs_of_several_intervals),
        cmocka_unit_test(random_programs_of_strided_accesses),
        cmocka_unit_test(random_programs_of_several_strided_accesses),
        cmocka_unit_test(random_programs_of_host_threads),
        cmocka_unit_test(random_programs_beyond_the_strided_cap),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(found);
    return failed;
}
