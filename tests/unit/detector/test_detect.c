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
        cmocka_unit_test(a_run_of_common_bytes_is_one_whatever_was_there_before),
        cmocka_unit_test(a_race_says_how_its_accesses_are_known),
        cmocka_unit_test(a_bounded_write_hides_nothing),
        cmocka_unit_test(atomics),
        cmocka_unit_test(atomics_of_two_widths_are_remembered),
        cmocka_unit_test(ops_of_one_operator_do_not_race),
        cmocka_unit_test(ops_of_one_operator_wait_in_the_queue),
        cmocka_unit_test(marks_and_clearing),
        cmocka_unit_test(bad_calls_do_no_harm),
        cmocka_unit_test(a_branch_is_judged_apart),
        cmocka_unit_test(a_branch_touches_freed_memory),
        cmocka_unit_test(a_failed_free_leaves_live_memory),
        cmocka_unit_test(cells_do_not_accumulate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
