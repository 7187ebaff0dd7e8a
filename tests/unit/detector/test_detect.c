/* The detector through csan.h: one test per rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/detector/test_detect.h"

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

/* What a call did before it returned is ordered by its joins, and races with the host's side alone.
 */
static void a_call_races_with_functions_of_the_host(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane calls = csan_lane_create_as(w.context, CSAN_LANE_CALL, 0xa, "stream 10", CSAN_HOST);
    csan_lane function =
        csan_lane_create_as(w.context, CSAN_LANE_FUNCTION, 0xa, "a host function", CSAN_HOST);
    csan_snapshot *before = csan_snapshot_take(w.context, CSAN_HOST);
    writes(w.context, function, BASE, 8);
    writes(w.context, w.a, BASE + 8, 8);
    csan_lane_waits(w.context, CSAN_HOST, function); /* the host as it is when the call returns */
    csan_lane_destroy(w.context, function);
    assert_int_not_equal(csan_lane_create(w.context, 0xc, "stream 12"), function);
    csan_snapshot_join(w.context, calls, before);
    csan_snapshot_release(w.context, before);
    reads(w.context, calls, BASE, 16);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].address, BASE);
    assert_int_equal(found[0].current.at_call, 1);
    assert_int_equal(found[0].previous.at_call, 0);
    csan_lane_waits(w.context, w.a, calls); /* its stream goes on after it */
    csan_lane_waits(w.context, CSAN_HOST, w.a);
    writes(w.context, CSAN_HOST, BASE, 16);
    assert_int_equal(found_count, 1);
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

static void a_run_of_common_bytes_is_one_whatever_was_there_before(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.b, BASE + 16, 16);
    csan_lane_waits(w.context, w.a, w.b);
    writes(w.context, w.a, BASE, 16);
    touch(w.context, w.a, "maybe", CSAN_WRITE, CSAN_BOUND_DATA, BASE + 8, 40);
    csan_lane c = csan_lane_create(w.context, 0xc, "stream 12");
    touch(w.context, c, "maybe too", CSAN_WRITE, CSAN_BOUND_DATA, BASE, 64);
    size_t i = 0;
    while (i < found_count && strcmp(found[i].previous.name, "maybe") != 0)
        i++;
    assert_true(i < found_count);
    assert_int_equal(found[i].address, BASE + 8);
    assert_int_equal(found[i].bytes, 40);
    csan_context_destroy(w.context);
}

static void a_race_says_how_its_accesses_are_known(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    const struct csan_access access = {
        .base = BASE, .bytes = 8, .kind = CSAN_WRITE, .argument = CSAN_NO_ARGUMENT};
    csan_op(w.context, w.a, site(w.context, "learned"), CSAN_LEVEL_LEARNED, &access, 1);
    uint64_t ticket =
        csan_op_pending(w.context, w.b, site(w.context, "traced"), CSAN_LEVEL_UNKNOWN, NULL, 0);
    csan_op_resolve(w.context, ticket, CSAN_LEVEL_TRACED, &access, 1);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].possible, 0);
    assert_int_equal(found[0].previous.level, CSAN_LEVEL_LEARNED);
    assert_int_equal(found[0].current.level, CSAN_LEVEL_TRACED);
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

static uint64_t writes_as(struct world w, csan_lane lane, const char *name)
{
    struct csan_access access = {.base = BASE, .bytes = 8, .kind = CSAN_WRITE};
    return csan_op(w.context, lane, site(w.context, name), CSAN_LEVEL_OPERATOR, &access, 1);
}

/* Ops of the same operator are given by lane and number, for one op. */
static void ops_of_one_operator_do_not_race(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = csan_lane_create(w.context, 0xc, "stream 12");
    uint64_t number = writes_as(w, w.a, "first part");
    assert_int_equal(number, 2); /* after the allocation */
    csan_op_same_operator(w.context, w.b, w.a, number, number);
    assert_int_equal(writes_as(w, c, "nobody's operator"), 3);
    assert_int_equal(found_count, 1);
    csan_op_same_operator(w.context, w.b, w.a, number, number + 1); /* not that op's lane */
    writes_as(w, w.b, "second part");
    assert_int_equal(found_count, 2); /* with nobody's operator, which hides the first */
    csan_context_destroy(w.context);

    w = world_create(NULL);
    number = writes_as(w, w.a, "first part");
    csan_op_same_operator(w.context, w.b, w.a, number - 1, number);
    writes_as(w, w.b, "second part");
    assert_int_equal(found_count, 0);
    number = writes_as(w, w.a, "before");
    assert_int_equal(found_count, 1); /* with the second part: nobody said otherwise */
    csan_op_same_operator(w.context, w.b, w.a, number + 1, number + 9);
    writes_as(w, w.b, "after");
    assert_int_equal(found_count, 2);
    number = writes_as(w, w.a, "between");
    csan_op_same_operator(w.context, w.b, w.a, number, number);
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 3); /* the one between raced with the one after */
    reads(w.context, w.b, BASE, 4);
    assert_int_equal(found_count, 4); /* the op after it has none */
    csan_context_destroy(w.context);
}

/* Behind a pending op, same-operator statements wait with their op. */
static void ops_of_one_operator_wait_in_the_queue(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = csan_lane_create(w.context, 0xc, "stream 12");
    uint64_t ticket =
        csan_op_pending(w.context, c, site(w.context, "kernel"), CSAN_LEVEL_UNKNOWN, NULL, 0);
    uint64_t number = writes_as(w, w.a, "first part");
    assert_true(number > 0);
    csan_op_same_operator(w.context, w.b, w.a, number, number);
    writes_as(w, w.b, "second part");
    csan_op_resolve(w.context, ticket, CSAN_LEVEL_TRACED, NULL, 0);
    csan_context_drain(w.context);
    assert_int_equal(found_count, 0);
    csan_context_destroy(w.context);
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

/* An event of a reused lane still has its earlier knowledge. */
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
/* A branch checks its own lanes against each other, and nothing else. */
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
static void a_branch_touches_freed_memory(void **state)
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
    csan_lane_create_after(w.context, 8, "stream 8", busy); /* it has the last one's number */
    reads(w.context, sleeping, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_string_equal(found[0].previous.lane, "an earlier stream");
    assert_int_equal(found[0].previous.stream, 0);
    csan_context_destroy(w.context);
}

/* What a call of a library started, as MPI_Isend. */
static csan_lane request(csan_context *context)
{
    csan_lane lane = csan_lane_create(context, 77, "the request of a call");
    csan_lane_describe(context, lane, CSAN_LANE_REQUEST, 0);
    return lane;
}

static void a_wait_for_the_device_is_none_for_a_request(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane sent = request(w.context);
    reads(w.context, sent, BASE, 8);
    csan_snapshot *all = csan_snapshot_take_all(w.context);
    csan_snapshot_join(w.context, CSAN_HOST, all);
    csan_snapshot_release(w.context, all);
    writes(w.context, w.a, BASE, 8);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].previous.lane_kind, CSAN_LANE_REQUEST);
    assert_string_equal(found[0].previous.lane, "the request of a call");
    csan_lane_waits(w.context, CSAN_HOST, sent);
    csan_lane_destroy(w.context, sent);
    all = csan_snapshot_take_all(w.context); /* which knows what the host does */
    csan_snapshot_join(w.context, w.b, all);
    csan_snapshot_release(w.context, all);
    csan_lane_waits(w.context, w.b, w.a);
    writes(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    csan_context_destroy(w.context);
}

static void a_free_that_waits_for_the_device_waits_for_no_request(void **state)
{
    (void)state;
    for (int waited = 0; waited < 2; waited++) {
        struct world w = world_create(NULL);
        csan_lane sent = request(w.context);
        writes(w.context, w.a, BASE, 8); /* the free waits for it */
        csan_lane_waits(w.context, sent, w.a);
        reads(w.context, sent, BASE, 8);
        if (waited)
            csan_lane_waits(w.context, CSAN_HOST, sent);
        csan_memory_free_end(w.context, csan_memory_free_begin(w.context, BASE, CSAN_HOST, 0, 0), 0,
                             CSAN_FREE_FORGOTTEN);
        assert_int_equal(found_count, waited ? 0 : 1);
        if (!waited)
            assert_int_equal(found[0].kind, CSAN_RACE_FREE);
        csan_context_destroy(w.context);
    }
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
        cmocka_unit_test(a_call_races_with_functions_of_the_host),
        cmocka_unit_test(reports_are_de_duplicated_by_site),
        cmocka_unit_test(all_arguments_of_a_race_are_named),
        cmocka_unit_test(a_bounded_side_makes_it_possible),
        cmocka_unit_test(a_race_says_how_its_accesses_are_known),
        cmocka_unit_test(a_run_of_common_bytes_is_one_whatever_was_there_before),
        cmocka_unit_test(a_bounded_write_hides_nothing),
        cmocka_unit_test(atomics),
        cmocka_unit_test(atomics_of_two_widths_are_remembered),
        cmocka_unit_test(ops_of_one_operator_do_not_race),
        cmocka_unit_test(ops_of_one_operator_wait_in_the_queue),
        cmocka_unit_test(strided_accesses_stay_what_they_are),
        cmocka_unit_test(strided_records_do_not_accumulate),
        cmocka_unit_test(covered_records_go),
        cmocka_unit_test(a_pattern_that_was_read_is_written),
        cmocka_unit_test(a_pattern_with_many_neighbours),
        cmocka_unit_test(strided_against_cells_of_others),
        cmocka_unit_test(the_strided_cap_drops_the_oldest),
        cmocka_unit_test(a_lane_is_recycled_only_when_the_host_knows_it),
        cmocka_unit_test(an_old_event_survives_recycling),
        cmocka_unit_test(many_streams_reuse_few_lanes),
        cmocka_unit_test(marks_and_clearing),
        cmocka_unit_test(bad_calls_do_no_harm),
        cmocka_unit_test(a_branch_is_judged_apart),
        cmocka_unit_test(a_branch_touches_freed_memory),
        cmocka_unit_test(a_failed_free_leaves_live_memory),
        cmocka_unit_test(cells_do_not_accumulate),
        cmocka_unit_test(a_thread_that_waits_orders_itself_alone),
        cmocka_unit_test(what_all_threads_know_is_forgotten),
        cmocka_unit_test(a_sleeping_thread_does_not_use_up_the_lanes),
        cmocka_unit_test(a_wait_for_the_device_is_none_for_a_request),
        cmocka_unit_test(a_free_that_waits_for_the_device_waits_for_no_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
