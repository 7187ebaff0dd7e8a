/* The detector and lanes: how they are recycled, host threads, and requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/detector/test_detect.h"

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
        cmocka_unit_test(a_lane_is_recycled_only_when_the_host_knows_it),
        cmocka_unit_test(an_old_event_survives_recycling),
        cmocka_unit_test(many_streams_reuse_few_lanes),
        cmocka_unit_test(a_thread_that_waits_orders_itself_alone),
        cmocka_unit_test(what_all_threads_know_is_forgotten),
        cmocka_unit_test(a_sleeping_thread_does_not_use_up_the_lanes),
        cmocka_unit_test(a_wait_for_the_device_is_none_for_a_request),
        cmocka_unit_test(a_free_that_waits_for_the_device_waits_for_no_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
