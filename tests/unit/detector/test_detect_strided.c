/* The detector and strided accesses: what the shadow keeps of them, and what they hide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/detector/test_detect.h"

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

/* One pattern overlaps hundreds of others: more than are listed as neighbours. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strided_accesses_stay_what_they_are),
        cmocka_unit_test(strided_records_do_not_accumulate),
        cmocka_unit_test(covered_records_go),
        cmocka_unit_test(a_pattern_that_was_read_is_written),
        cmocka_unit_test(a_pattern_with_many_neighbours),
        cmocka_unit_test(strided_against_cells_of_others),
        cmocka_unit_test(the_strided_cap_drops_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
