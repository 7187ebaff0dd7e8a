/* Launches that may fail and that the host has not waited for, at random, against a list of all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "runtime/hook/failure/unverified.h"

/* In place of the hooks' lock. */
void guard_lock(void) {}
void guard_unlock(void) {}

enum { LANES = 20, EVENTS = 8, STEPS = 20000 };

static struct {
    csan_context *context;
    csan_lane lanes[LANES];
    uint64_t launched[LANES]; /* launches that may fail so far */
    uint64_t known[LANES];    /* of those, how many the host has waited for */
    struct {
        csan_snapshot *snapshot;
        int lane;
        uint64_t launched;
    } events[EVENTS];
} own;

static int setup(void **state)
{
    (void)state;
    own.context = csan_context_create(NULL, NULL, NULL, NULL, 0);
    for (int i = 0; i < LANES; i++) {
        own.lanes[i] = csan_lane_create(own.context, (uint64_t)i + 1, NULL);
        own.launched[i] = own.known[i] = 0;
    }
    for (int i = 0; i < EVENTS; i++)
        own.events[i].snapshot = NULL;
    unverified_waited(own.context, true);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unverified_waited(own.context, true);
    for (int i = 0; i < EVENTS; i++)
        if (own.events[i].snapshot)
            csan_snapshot_release(own.context, own.events[i].snapshot);
    csan_context_destroy(own.context);
    return 0;
}

static void op(int lane)
{
    csan_op(own.context, own.lanes[lane], 0, CSAN_LEVEL_UNKNOWN, NULL, 0);
}

static void launch(int lane)
{
    const bool news = unverified_is_news(own.lanes[lane]);
    op(lane);
    if (news)
        unverified_launched(own.lanes[lane]);
    own.launched[lane]++;
}

static void knows(int lane, uint64_t launched)
{
    if (own.known[lane] < launched)
        own.known[lane] = launched;
}

static void host_waits_for_lane(int lane)
{
    csan_lane_waits(own.context, CSAN_HOST, own.lanes[lane]);
    knows(lane, own.launched[lane]);
    unverified_waited(own.context, false);
}

static void event_record(int event, int lane)
{
    if (own.events[event].snapshot)
        csan_snapshot_release(own.context, own.events[event].snapshot);
    own.events[event].snapshot = csan_snapshot_take(own.context, own.lanes[lane]);
    own.events[event].lane = lane;
    own.events[event].launched = own.launched[lane];
}

static void host_waits_for_event(int event)
{
    if (!own.events[event].snapshot)
        return;
    csan_snapshot_join(own.context, CSAN_HOST, own.events[event].snapshot);
    knows(own.events[event].lane, own.events[event].launched);
    unverified_waited(own.context, false);
}

static bool any_unknown(void)
{
    for (int i = 0; i < LANES; i++)
        if (own.known[i] < own.launched[i])
            return true;
    return false;
}

/* ---- Tests ---- */

static void one_wait_ends_it(void **state)
{
    (void)state;
    assert_int_equal(unverified_any, 0);
    launch(0);
    assert_int_equal(unverified_any, 1);
    host_waits_for_lane(0);
    assert_int_equal(unverified_any, 0);
}

static void a_pipeline_whose_launches_cannot_fail(void **state)
{
    (void)state;
    launch(0); /* the first may */
    event_record(0, 0);
    for (int i = 1; i < 4; i++) {
        event_record(i & 1, 0);
        host_waits_for_event(!(i & 1));
        op(0);
    }
    assert_int_equal(unverified_any, 0);
}

static void behind_the_event(void **state)
{
    (void)state;
    launch(0);
    event_record(0, 0);
    launch(0);
    for (int i = 0; i < 3; i++)
        host_waits_for_event(0);
    assert_int_equal(unverified_any, 1);
    host_waits_for_lane(0);
    assert_int_equal(unverified_any, 0);
}

static void a_lane_that_is_gone(void **state)
{
    (void)state;
    launch(0);
    csan_lane_destroy(own.context, own.lanes[0]);
    for (int i = 0; i < 3; i++)
        unverified_waited(own.context, false);
    assert_int_equal(unverified_any, 1);
    unverified_waited(own.context, true);
    assert_int_equal(unverified_any, 0);
}

static void more_lanes_than_there_is_room_for(void **state)
{
    (void)state;
    for (int i = 0; i < LANES; i++)
        launch(i);
    for (int i = 0; i < LANES; i++)
        host_waits_for_lane(i);
    assert_int_equal(unverified_any, 1);
    unverified_waited(own.context, true);
    assert_int_equal(unverified_any, 0);
}

static void at_random(void **state)
{
    (void)state;
    unsigned ended = 0;
    srand(5);
    for (int step = 0; step < STEPS; step++) {
        const int lane = rand() % 4, event = rand() % EVENTS; /* fewer than there is room for */
        switch (rand() % 6) {
        case 0:
            launch(lane);
            break;
        case 1:
            op(lane);
            break;
        case 2:
            event_record(event, lane);
            break;
        case 3:
            host_waits_for_lane(lane);
            break;
        default:
            host_waits_for_event(event);
            break;
        }
        if (any_unknown())
            assert_int_equal(unverified_any, 1);
        else
            ended += !unverified_any;
        if (step % 100)
            continue;
        for (int i = 0; i < 4; i++)
            host_waits_for_lane(i);
        assert_int_equal(unverified_any, 0);
    }
    assert_true(ended > STEPS / 100); /* also behind events alone */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(one_wait_ends_it),
        TEST(a_pipeline_whose_launches_cannot_fail),
        TEST(behind_the_event),
        TEST(a_lane_that_is_gone),
        TEST(more_lanes_than_there_is_room_for),
        TEST(at_random),
    };
    return cmocka_run_group_tests_name("unverified", tests, NULL, NULL);
}
