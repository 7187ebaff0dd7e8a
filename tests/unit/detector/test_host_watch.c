/* Who guards the host's memory is told of the device's ops, and when the host is ordered after
 * them. */
#include "csan/detector/host_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/detector/test_detect.h"

enum { OPS = 16 };

static struct {
    uint64_t epochs[OPS];
    bool known[OPS];
    size_t count, accesses, learned;
} seen;

static void touched(void *user, uint64_t epoch, const struct csan_access *accesses, size_t count)
{
    assert_ptr_equal(user, &seen);
    assert_true(seen.count < OPS && (!count || accesses[0].bytes));
    seen.epochs[seen.count++] = epoch;
    seen.accesses += count;
}

static void learned(void *user, const struct order *order)
{
    assert_ptr_equal(user, &seen);
    seen.learned++;
    for (size_t i = 0; i < seen.count; i++)
        seen.known[i] = host_watch_knows(order, seen.epochs[i]);
}

static struct world watched(void)
{
    static const struct host_watch watch = {touched, learned, &seen};
    memset(&seen, 0, sizeof seen);
    struct world world = world_create("");
    context_watch_host(world.context, &watch);
    return world;
}

static void the_devices_ops_are_told(void **state)
{
    (void)state;
    struct world w = watched();
    reads(w.context, w.a, BASE, 4);
    writes(w.context, w.b, BASE + 64, 4);
    writes(w.context, CSAN_HOST, BASE + 128, 4); /* the host's own is not */
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.accesses, 2);
    assert_true(seen.epochs[0] != seen.epochs[1]);
    csan_context_destroy(w.context);
}

static void what_the_host_waits_for_is_known(void **state)
{
    (void)state;
    struct world w = watched();
    reads(w.context, w.a, BASE, 4);
    reads(w.context, w.b, BASE, 4);
    csan_lane_waits(w.context, CSAN_HOST, w.a);
    assert_true(seen.known[0]);
    assert_false(seen.known[1]);
    const size_t before = seen.learned;
    csan_lane_waits(w.context, CSAN_HOST, w.a); /* nothing new */
    assert_int_equal(seen.learned, before);
    csan_lane_waits(w.context, CSAN_HOST, w.b);
    assert_true(seen.known[1]);
    csan_context_destroy(w.context);
}

static void events_and_snapshots_teach_the_host(void **state)
{
    (void)state;
    struct world w = watched();
    csan_event *event = csan_event_create(w.context);
    reads(w.context, w.a, BASE, 4);
    csan_event_record(w.context, event, w.a);
    reads(w.context, w.a, BASE, 4);
    csan_event_wait(w.context, event, CSAN_HOST);
    assert_true(seen.known[0]);
    assert_false(seen.known[1]);
    csan_snapshot *snapshot = csan_snapshot_take(w.context, w.a);
    csan_snapshot_join(w.context, CSAN_HOST, snapshot);
    csan_snapshot_release(w.context, snapshot);
    assert_true(seen.known[1]);
    csan_event_destroy(w.context, event);
    csan_context_destroy(w.context);
}

/* What waits in the queue is told in its turn. */
static void ops_behind_a_pending_one_come_when_it_is_resolved(void **state)
{
    (void)state;
    struct world w = watched();
    const struct csan_access access = {.base = BASE, .bytes = 4, .kind = CSAN_READ};
    const uint64_t ticket =
        csan_op_pending(w.context, w.a, site(w.context, "k"), CSAN_LEVEL_DIRECTION, &access, 1);
    reads(w.context, w.a, BASE + 8, 4);
    csan_lane_waits(w.context, CSAN_HOST, w.a);
    assert_int_equal(seen.count, 0);
    csan_op_resolve(w.context, ticket, CSAN_LEVEL_TRACED, &access, 1);
    assert_int_equal(seen.count, 2);
    assert_true(seen.known[0] && seen.known[1]);
    csan_context_destroy(w.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_devices_ops_are_told),
        cmocka_unit_test(what_the_host_waits_for_is_known),
        cmocka_unit_test(events_and_snapshots_teach_the_host),
        cmocka_unit_test(ops_behind_a_pending_one_come_when_it_is_resolved),
    };
    return cmocka_run_group_tests_name("host_watch", tests, NULL, NULL);
}
