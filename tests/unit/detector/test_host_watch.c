/* Who guards the host's memory sees the device's ops, and when the host is ordered after
 * them. */
#include "csan/detector/context.h"
#include "csan/detector/host_watch.h"
#include "csan/order/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/detector/test_detect.h"

enum { OPS = 16, PINNED = 0x40000 };

static struct {
    uint64_t epochs[OPS];
    bool known[OPS];
    bool anyone[OPS];
    size_t count, learned, lost, reports, others;
    struct range newest, freed;
    bool writes, late;
    struct host_touch other; /* the newest that is not for certain, or not a device's */
    bool due;
} seen;

static bool touched(void *user, const struct host_touch *touch)
{
    assert_ptr_equal(user, &seen);
    assert_true(seen.count < OPS && touch->bytes.start < touch->bytes.end);
    if (!touch->exact || touch->by != HOST_TOUCH_STREAM) {
        seen.other = *touch;
        seen.others++;
        return seen.due;
    }
    seen.newest = touch->bytes;
    seen.writes = touch->writes;
    seen.late = touch->late;
    seen.epochs[seen.count++] = touch->epoch;
    return seen.due;
}

static void freed(void *user, struct range bytes)
{
    assert_ptr_equal(user, &seen);
    seen.freed = bytes;
}

static bool learned(void *user, const struct order *order)
{
    assert_ptr_equal(user, &seen);
    seen.learned++;
    for (size_t i = 0; i < seen.count; i++) {
        seen.known[i] = host_watch_knows(order, seen.epochs[i]);
        seen.anyone[i] = host_watch_anyone_knows(order, seen.epochs[i]);
    }
    return seen.due;
}

static void lost(void *user)
{
    assert_ptr_equal(user, &seen);
    seen.lost++;
}

static void report(void *user)
{
    assert_ptr_equal(user, &seen);
    seen.reports++;
}

static struct world watched(void)
{
    static const struct host_watch watch = {touched, learned, freed, lost, report, &seen};
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

/* Memory of the device is not reported, and what is bounded as what may be. */
static void others_are_not(void **state)
{
    (void)state;
    struct world w = watched();
    writes(w.context, w.a, BASE, 4);
    assert_int_equal(seen.others, 0);
    touch(w.context, w.a, "k", CSAN_WRITE, CSAN_BOUND_DATA, PINNED, 4);
    assert_int_equal(seen.count, 0);
    assert_int_equal(seen.others, 1);
    assert_true(!seen.other.exact && seen.other.writes);
    assert_int_equal(seen.other.bytes.start, PINNED);
    assert_false(seen.other.pageable);
    touch(w.context, w.a, "k", CSAN_WRITE, CSAN_BOUND_DATA, PINNED + 0x10000, 4);
    assert_int_equal(seen.others, 2);
    assert_true(seen.other.pageable);
    csan_context_destroy(w.context);
}

static void work_of_which_nothing_is_known_may_write_everywhere(void **state)
{
    (void)state;
    struct world w = watched();
    csan_op(w.context, w.a, site(w.context, "k"), CSAN_LEVEL_UNKNOWN, NULL, 0);
    assert_true(!seen.other.exact && seen.other.writes);
    assert_int_equal(seen.other.bytes.start, 0);
    assert_true(seen.other.bytes.end == UINT64_MAX);
    csan_context_destroy(w.context);
}

static void the_hosts_own_are_marked(void **state)
{
    (void)state;
    struct world w = watched();
    const csan_lane function =
        csan_lane_create_as(w.context, CSAN_LANE_FUNCTION, 0, "a host function", CSAN_HOST);
    writes(w.context, CSAN_HOST, PINNED, 4);
    assert_int_equal(seen.other.by, HOST_TOUCH_HOST);
    writes(w.context, function, PINNED, 4);
    assert_int_equal(seen.other.by, HOST_TOUCH_FUNCTION);
    csan_context_destroy(w.context);
}

/* A thread, and a memory pool, may know what not all threads do. */
static void who_knows_makes_a_difference(void **state)
{
    (void)state;
    struct world w = watched();
    const csan_lane thread = csan_lane_create_host(w.context, "a thread", CSAN_HOST_THREAD);
    csan_lane_create_host(w.context, "another", CSAN_HOST_THREAD);
    reads(w.context, w.a, PINNED, 4);
    reads(w.context, w.b, PINNED + 8, 4);
    csan_lane_waits(w.context, thread, w.a);
    assert_true(seen.anyone[0] && !seen.known[0]);
    assert_false(seen.anyone[1]);
    csan_snapshot *snapshot = csan_snapshot_take(w.context, w.b);
    csan_snapshot_seen_by_pool(w.context, snapshot);
    csan_snapshot_release(w.context, snapshot);
    assert_true(seen.anyone[1] && !seen.known[1]);
    csan_context_destroy(w.context);
}

static void a_report_comes_behind_the_lock(void **state)
{
    (void)state;
    struct world w = watched();
    reads(w.context, w.a, PINNED, 4);
    seen.due = true;
    csan_lane_waits(w.context, CSAN_HOST, w.a);
    assert_int_equal(seen.reports, 1);
    seen.due = false;
    reads(w.context, w.b, PINNED, 4);
    csan_lane_waits(w.context, CSAN_HOST, w.b);
    assert_int_equal(seen.reports, 1);
    csan_context_destroy(w.context);
}

/* As its op reads them; and what the host did later is another op's affair. */
static void a_change_is_a_race_with_its_op(void **state)
{
    (void)state;
    struct world w = watched();
    reads(w.context, w.a, PINNED, 64);
    csan_lane_waits(w.context, CSAN_HOST, w.a);
    assert_int_equal(found_count, 0);
    context_host_changed(w.context,
                         &(struct context_host_change){
                             .lane = CSAN_HOST,
                             .site = site(w.context, "the call"),
                             .op_lane = w.a,
                             .op_sequence = epoch_sequence(seen.epochs[0]),
                             .op = 1,
                             .op_site = site(w.context, "reader"),
                             .op_level = CSAN_LEVEL_LIBRARY,
                             .access = {.base = PINNED + 16, .bytes = 8, .kind = CSAN_READ}});
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].kind, CSAN_RACE_DATA);
    assert_false(found[0].possible);
    assert_int_equal(found[0].address, PINNED + 16);
    assert_int_equal(found[0].bytes, 8);
    assert_int_equal(found[0].allocation, PINNED);
    assert_int_equal(found[0].current.kind, CSAN_WRITE);
    assert_true(found[0].current.host);
    assert_int_equal(found[0].previous.sequence, 1);
    assert_string_equal(found[0].previous.name, "reader");
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
    assert_int_equal(seen.lost, 1); /* the host's wait is behind it */
    csan_op_resolve(w.context, ticket, CSAN_LEVEL_TRACED, &access, 1);
    assert_int_equal(seen.count, 2);
    assert_true(seen.known[0] && seen.known[1] && seen.late);
    assert_true(seen.lost > 0);
    csan_context_destroy(w.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_devices_ops_are_reported),
        cmocka_unit_test(others_are_not),
        cmocka_unit_test(work_of_which_nothing_is_known_may_write_everywhere),
        cmocka_unit_test(the_hosts_own_are_marked),
        cmocka_unit_test(who_knows_makes_a_difference),
        cmocka_unit_test(a_report_comes_behind_the_lock),
        cmocka_unit_test(a_change_is_a_race_with_its_op),
        cmocka_unit_test(memory_that_ends_is_reported_before),
        cmocka_unit_test(what_the_host_waits_for_is_known),
        cmocka_unit_test(events_and_snapshots_teach_the_host),
        cmocka_unit_test(ops_behind_a_pending_one_come_when_it_is_resolved),
    };
    return cmocka_run_group_tests_name("host_watch", tests, NULL, NULL);
}
