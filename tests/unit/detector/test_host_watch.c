/* Who guards the host's memory sees the device's ops, and when the host is ordered after
 * them. */
#include "csan/detector/host_watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/detector/test_detect.h"

enum { OPS = 16, PINNED = 0x40000 };

static struct {
    uint64_t epochs[OPS];
    bool known[OPS];
    size_t count, learned;
    struct range newest, freed;
    bool writes;
} seen;

static void touched(void *user, uint64_t epoch, struct range bytes, bool write)
{
    assert_ptr_equal(user, &seen);
    assert_true(seen.count < OPS && bytes.start < bytes.end);
    seen.newest = bytes;
    seen.writes = write;
    seen.epochs[seen.count++] = epoch;
}

static void freed(void *user, struct range bytes)
{
    assert_ptr_equal(user, &seen);
    seen.freed = bytes;
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
    static const struct host_watch watch = {touched, learned, freed, &seen};
    memset(&seen, 0, sizeof seen);
    struct world world = world_create("");
    csan_memory_create(world.context, CSAN_MEMORY_HOST, PINNED, SIZE, CSAN_HOST,
                       site(world.context, "cuMemHostAlloc"));
    context_watch_host(world.context, &watch);
    return world;
}

static void the_devices_ops_are_reported(void **state)
{
    (void)state;
    struct world w = watched();
    reads(w.context, w.a, PINNED, 4);
    writes(w.context, w.b, PINNED + 64, 4);
    writes(w.context, CSAN_HOST, PINNED + 128, 4); /* the host's own is not */
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.newest.start, PINNED + 64);
    assert_int_equal(seen.newest.end, PINNED + 68);
    assert_true(seen.writes);
    assert_true(seen.epochs[0] != seen.epochs[1]);
    csan_context_destroy(w.context);
}

/* Memory of the device is not reported, nor bounded accesses. */
static void others_are_not(void **state)
{
    (void)state;
    struct world w = watched();
    writes(w.context, w.a, BASE, 4);
    touch(w.context, w.a, "k", CSAN_WRITE, CSAN_BOUND_DATA, PINNED, 4);
    assert_int_equal(seen.count, 0);
    csan_context_destroy(w.context);
}

static void memory_that_ends_is_reported_before(void **state)
{
    (void)state;
    struct world w = watched();
    csan_free *token = csan_memory_free_begin(w.context, PINNED, CSAN_HOST, 1, 0);
    assert_int_equal(seen.freed.start, PINNED);
    assert_int_equal(seen.freed.end, PINNED + SIZE);
    csan_memory_free_end(w.context, token, 0, 0);
    csan_context_destroy(w.context);
}

static void what_the_host_waits_for_is_known(void **state)
{
    (void)state;
    struct world w = watched();
    reads(w.context, w.a, PINNED, 4);
    reads(w.context, w.b, PINNED, 4);
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
    reads(w.context, w.a, PINNED, 4);
    csan_event_record(w.context, event, w.a);
    reads(w.context, w.a, PINNED, 4);
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

/* What waits in the queue is reported in its turn. */
static void ops_behind_a_pending_one_come_when_it_is_resolved(void **state)
{
    (void)state;
    struct world w = watched();
    const struct csan_access access = {.base = PINNED, .bytes = 4, .kind = CSAN_READ};
    const uint64_t ticket =
        csan_op_pending(w.context, w.a, site(w.context, "k"), CSAN_LEVEL_DIRECTION, &access, 1);
    reads(w.context, w.a, PINNED + 8, 4);
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
        cmocka_unit_test(the_devices_ops_are_reported),
        cmocka_unit_test(others_are_not),
        cmocka_unit_test(memory_that_ends_is_reported_before),
        cmocka_unit_test(what_the_host_waits_for_is_known),
        cmocka_unit_test(events_and_snapshots_teach_the_host),
        cmocka_unit_test(ops_behind_a_pending_one_come_when_it_is_resolved),
    };
    return cmocka_run_group_tests_name("host_watch", tests, NULL, NULL);
}
