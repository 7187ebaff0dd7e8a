/* What is decided later, through csan.h: pending ops, promises, what they hold back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/order/clock.h"
#include "tests/unit/short_memory.h"
#include "tests/unit/detector/test_detect.h"

enum { NARROW_CLOCK_BYTES = sizeof(struct clock) + 16 * sizeof(uint64_t) };

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

/* What is said of a program for its reports does not shorten what csan can wait for. */
static void steps_take_no_room(void **state)
{
    (void)state;
    struct world w = world_create("pending_limit=8");
    struct csan_access bytes = {.base = BASE, .bytes = 8, .kind = CSAN_WRITE};
    uint64_t ticket =
        csan_op_pending(w.context, w.a, site(w.context, "kernel"), CSAN_LEVEL_DIRECTION, NULL, 0);
    for (int i = 0; i < 20; i++)
        csan_step(w.context, w.b, CSAN_STEP_RECORD, 1, 0, site(w.context, "record"));
    for (int i = 0; i < 7; i++)
        reads(w.context, w.b, BASE, 8);
    csan_op_resolve(w.context, ticket, CSAN_LEVEL_TRACED, &bytes, 1);
    assert_int_equal(found_count, 1);
    struct csan_stats stats;
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.pending_overflows, 0);
    csan_context_destroy(w.context);
}

#ifndef MEMORY_IS_NEVER_SHORT
/* Without memory for a clock, a lane that was destroyed stays what it is, and is taken later. */
static void a_lane_without_a_clock_is_not_taken_again(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane calls = csan_lane_create_as(w.context, CSAN_LANE_CALL, 0xa, "stream 10", CSAN_HOST);
    csan_lane_name(w.context, calls, "loader");
    csan_lane_destroy(w.context, calls);
    short_of_cleared = NARROW_CLOCK_BYTES;
    csan_lane none = csan_lane_create_as(w.context, CSAN_LANE_CALL, 0xc, "stream 12", CSAN_HOST);
    short_of_cleared = 0;
    assert_int_equal(none, CSAN_NO_LANE);
    assert_int_equal(csan_lane_create_as(w.context, CSAN_LANE_CALL, 0xc, "stream 12", CSAN_HOST),
                     calls);
    csan_context_destroy(w.context);
}

/* Without memory for its ticket, an op goes on with its fallback, and with it what follows. */
static void an_op_without_a_ticket_holds_nothing_back(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    struct csan_access whole = {.base = BASE, .bytes = 8, .kind = CSAN_WRITE};
    csan_site kernel = site(w.context, "kernel");
    short_of = TABLE_BYTES;
    uint64_t ticket = csan_op_pending(w.context, w.a, kernel, CSAN_LEVEL_DIRECTION, &whole, 1);
    short_of = 0;
    assert_int_equal(ticket, 0);
    reads(w.context, w.b, BASE, 8);
    assert_int_equal(found_count, 1);
    csan_context_destroy(w.context);
}
#endif

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pending_op_is_decided_in_its_place),
        cmocka_unit_test(a_full_queue_falls_back),
        cmocka_unit_test(steps_take_no_room),
#ifndef MEMORY_IS_NEVER_SHORT
        cmocka_unit_test(a_lane_without_a_clock_is_not_taken_again),
        cmocka_unit_test(an_op_without_a_ticket_holds_nothing_back),
#endif
        cmocka_unit_test(draining_decides_everything),
        cmocka_unit_test(a_promise_is_kept_from_behind),
        cmocka_unit_test(an_event_recorded_anew_waits_for_no_former_record),
        cmocka_unit_test(a_free_at_the_host_lets_the_host_get_on),
        cmocka_unit_test(memory_changes_hands_in_order),
        cmocka_unit_test(a_birth_held_back_holds_back_no_other_lane),
        cmocka_unit_test(a_free_held_back_keeps_its_moment),
        cmocka_unit_test(what_a_held_op_races_with_is_remembered),
        cmocka_unit_test(held_back_work_keeps_its_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
