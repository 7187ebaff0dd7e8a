/* Waits that ordered nothing: rules one by one, and random programs of one thread against sets of
 * what each stream and the host know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/replay/waits.h"

#include <csan/csan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { A = 1, B = 2, C = 3, E = 1, F = 2, MAIN = 1, OTHER = 2 };

static struct waits *waits;
static uint64_t snapshots;

static void take(struct recorded recorded)
{
    assert_true(waits_take(waits, &recorded));
}

/* ---- Entries as csan records them */

static void lane(uint64_t number)
{
    take((struct recorded){.kind = RECORDED_LANE, .value = {[FIELD_LANE] = number}});
}
static void op(uint64_t number)
{
    take((struct recorded){.kind = RECORDED_OP, .value = {[FIELD_LANE] = number}});
}
static void step(uint64_t number, uint64_t kind, uint64_t object, uint64_t site)
{
    take((struct recorded){.kind = RECORDED_STEP,
                           .value = {[FIELD_LANE] = number,
                                     [FIELD_FLAGS] = kind,
                                     [FIELD_FIRST] = object,
                                     [FIELD_SITE] = site}});
}
static void thread(uint64_t number)
{
    step(CSAN_HOST, CSAN_STEP_THREAD, number, 0);
}
static void record(uint64_t event, uint64_t number)
{
    take((struct recorded){.kind = RECORDED_RECORD,
                           .value = {[FIELD_EVENT] = event, [FIELD_LANE] = number}});
}
static void stream_waits(uint64_t number, uint64_t event, uint64_t site)
{
    step(number, CSAN_STEP_WAIT, event, site);
    take((struct recorded){.kind = RECORDED_WAIT,
                           .value = {[FIELD_LANE] = number, [FIELD_EVENT] = event}});
}
static void join(enum recording_kind of, uint64_t number, uint64_t event)
{
    const uint64_t snapshot = ++snapshots;
    take((struct recorded){
        .kind = of,
        .value = {[FIELD_SNAPSHOT] = snapshot, [FIELD_LANE] = number, [FIELD_EVENT] = event}});
    take((struct recorded){.kind = RECORDED_JOIN,
                           .value = {[FIELD_SNAPSHOT] = snapshot, [FIELD_LANE] = CSAN_HOST}});
    take((struct recorded){.kind = RECORDED_RELEASE, .value = {[FIELD_SNAPSHOT] = snapshot}});
}
static void host_waits(uint64_t kind, enum recording_kind of, uint64_t number, uint64_t site)
{
    step(CSAN_HOST, CSAN_STEP_HOST_WAIT, kind, site);
    join(of, number, number);
    step(CSAN_HOST, CSAN_STEP_HOST_WAITED, 0, 0);
}
static void stream_synchronize(uint64_t number, uint64_t site)
{
    host_waits(CSAN_SYNCHRONIZED_STREAM, RECORDED_SNAPSHOT, number, site);
}
static void event_synchronize(uint64_t event, uint64_t site)
{
    host_waits(CSAN_SYNCHRONIZED_EVENT, RECORDED_SNAPSHOT_EVENT, event, site);
}
static void device_synchronize(uint64_t site)
{
    host_waits(CSAN_SYNCHRONIZED_DEVICE, RECORDED_SNAPSHOT_ALL, 0, site);
}
/* A query that answered that all is done, or a free that waited. */
static void learned_by_luck(uint64_t number)
{
    join(RECORDED_SNAPSHOT, number, 0);
}

/* ---- What was found */

static const struct wait_site *site_of(uint64_t site)
{
    size_t count;
    const struct wait_site *sites = waits_sites(waits, &count);
    for (size_t i = 0; i < count; i++)
        if (sites[i].site == site)
            return &sites[i];
    return NULL;
}
static uint64_t nothing(uint64_t site)
{
    return site_of(site)->nothing;
}

static int begin(void **state)
{
    (void)state;
    waits = waits_create();
    for (uint64_t number = A; number <= C; number++)
        lane(number);
    thread(MAIN);
    return waits ? 0 : -1;
}
static int end(void **state)
{
    (void)state;
    waits_destroy(waits);
    return 0;
}

static void a_wait_that_another_implies(void **state)
{
    (void)state;
    op(A);
    record(E, A);
    stream_waits(B, E, 10);
    op(B);
    record(F, B);
    stream_waits(C, F, 11);
    stream_waits(C, E, 12);
    assert_int_equal(nothing(10) + nothing(11), 0);
    assert_int_equal(nothing(12), 1);
    assert_int_equal(site_of(12)->reason, WAIT_REASON_WAITED);
    assert_int_equal(site_of(12)->by, 11);
    assert_true(waits_can_go(site_of(12)));
}

static void one_that_a_later_iteration_needs(void **state)
{
    (void)state;
    op(A);
    record(E, A);
    stream_waits(B, E, 10);
    stream_waits(B, E, 11);
    op(A);
    record(E, A);
    stream_waits(B, E, 11);
    assert_int_equal(site_of(11)->calls, 2);
    assert_int_equal(nothing(11), 1);
    assert_false(waits_can_go(site_of(11)));
}

static void the_host_s_waits(void **state)
{
    (void)state;
    op(A);
    stream_synchronize(A, 10);
    stream_synchronize(A, 11);
    device_synchronize(12);
    op(B);
    device_synchronize(13);
    stream_synchronize(B, 14);
    stream_synchronize(C, 15);
    assert_int_equal(nothing(10) + nothing(13), 0);
    assert_int_equal(nothing(11) + nothing(12) + nothing(14) + nothing(15), 4);
    assert_int_equal(site_of(11)->by, 10);
    assert_int_equal(site_of(14)->by, 13);
    assert_int_equal(site_of(15)->reason, WAIT_REASON_NO_WORK);
}

static void a_stream_s_wait_for_what_the_host_waited_for(void **state)
{
    (void)state;
    op(A);
    record(E, A);
    device_synchronize(10);
    stream_waits(B, E, 11);
    assert_int_equal(nothing(11), 1);
    assert_int_equal(site_of(11)->by, 10);
}

/* The program may ask for the event's time, which needs the record. */
static void a_record_is_waited_for(void **state)
{
    (void)state;
    op(A);
    stream_synchronize(A, 10);
    record(E, A);
    event_synchronize(E, 11);
    event_synchronize(E, 12);
    assert_int_equal(nothing(11), 0);
    assert_int_equal(nothing(12), 1);
    record(E, A);
    device_synchronize(13);
    assert_int_equal(nothing(13), 0);
    record(F, A); /* no work since, and what a stream does needs no record */
    stream_waits(B, F, 14);
    assert_int_equal(nothing(14), 1);
}

static void luck_is_no_knowledge(void **state)
{
    (void)state;
    op(A);
    learned_by_luck(A);
    stream_synchronize(A, 10);
    assert_int_equal(nothing(10), 0);
}

static void what_another_thread_waited_for(void **state)
{
    (void)state;
    op(A);
    stream_synchronize(A, 10);
    thread(OTHER);
    stream_synchronize(A, 11);
    assert_int_equal(nothing(11), 0);
    thread(MAIN);
    stream_synchronize(A, 12);
    assert_int_equal(nothing(12), 1);
}

static void a_stream_that_two_threads_make_wait(void **state)
{
    (void)state;
    op(A);
    record(E, A);
    stream_waits(B, E, 10);
    stream_waits(B, E, 11);
    thread(OTHER);
    stream_waits(B, E, 12);
    thread(MAIN);
    stream_waits(B, E, 13);
    assert_int_equal(nothing(11), 1);
    assert_int_equal(nothing(12) + nothing(13), 0);
}

static void its_own_stream(void **state)
{
    (void)state;
    op(A);
    record(E, A);
    stream_waits(A, E, 10);
    assert_int_equal(nothing(10), 1);
    assert_int_equal(site_of(10)->reason, WAIT_REASON_SAME_STREAM);
}

static void the_default_stream_s_order(void **state)
{
    (void)state;
    op(A);
    take((struct recorded){.kind = RECORDED_JOIN_LANE,
                           .value = {[FIELD_LANE] = B, [FIELD_OTHER] = A}});
    record(E, A);
    stream_waits(B, E, 10);
    assert_int_equal(nothing(10), 1);
    assert_int_equal(site_of(10)->reason, WAIT_REASON_STREAMS);
}

static void an_event_that_was_not_recorded(void **state)
{
    (void)state;
    step(B, CSAN_STEP_WAIT_UNRECORDED, E, 10);
    assert_int_equal(nothing(10), 1);
    assert_false(waits_can_go(site_of(10)));
}

static void an_event_that_processes_share(void **state)
{
    (void)state;
    op(A);
    record(E, A);
    stream_waits(B, E, 10);
    stream_waits(B, E, 11);
    take((struct recorded){
        .kind = RECORDED_LINK,
        .value = {[FIELD_LANE] = B, [FIELD_FLAGS] = CSAN_LINK_WAIT, [FIELD_HANDLE] = 7}});
    assert_int_equal(nothing(11), 0);
}

static void a_promise_is_not_known(void **state)
{
    (void)state;
    take((struct recorded){.kind = RECORDED_PROMISE, .value = {[FIELD_SNAPSHOT] = 900}});
    take((struct recorded){.kind = RECORDED_JOIN,
                           .value = {[FIELD_SNAPSHOT] = 900, [FIELD_LANE] = B}});
    op(B);
    step(CSAN_HOST, CSAN_STEP_HOST_WAIT, CSAN_SYNCHRONIZED_STREAM, 10);
    take((struct recorded){.kind = RECORDED_JOIN,
                           .value = {[FIELD_SNAPSHOT] = 900, [FIELD_LANE] = CSAN_HOST}});
    step(CSAN_HOST, CSAN_STEP_HOST_WAITED, 0, 0);
    assert_int_equal(site_of(10)->calls, 1);
    assert_int_equal(nothing(10), 0);
}

/* Another stream with the same number knows nothing of the first one's. */
static void a_lane_s_number_is_used_again(void **state)
{
    (void)state;
    op(A);
    record(E, A);
    stream_waits(B, E, 10);
    take((struct recorded){.kind = RECORDED_LANE_DESTROY, .value = {[FIELD_LANE] = B}});
    lane(B);
    stream_waits(B, E, 11);
    assert_int_equal(nothing(11), 0);
    op(B);
    device_synchronize(12);
    take((struct recorded){.kind = RECORDED_LANE_DESTROY, .value = {[FIELD_LANE] = B}});
    lane(B);
    op(B);
    stream_synchronize(B, 13);
    assert_int_equal(nothing(13), 0);
}

static void graphs_are_left_out(void **state)
{
    (void)state;
    take((struct recorded){.kind = RECORDED_CONTEXT, .value = {[FIELD_CONTEXT] = 1}});
    op(A);
    take((struct recorded){.kind = RECORDED_CONTEXT, .value = {[FIELD_CONTEXT] = 0}});
    stream_synchronize(A, 10);
    assert_int_equal(nothing(10), 1);
}

/* ---- Random programs: each op and each record is a bit */

enum { STEPS = 60, LANES = 4, EVENTS = 4, PROGRAMS = 20000 };

struct model {
    uint64_t ops; /* of all bits, those of ops */
    uint64_t lanes[LANES + 1], host, events[EVENTS + 1];
    bool recorded[EVENTS + 1];
};

/* Whether the wait of that action orders nothing; -1: it is no wait. */
static int act(struct model *model, int kind, uint64_t bit, uint64_t site)
{
    const uint64_t number = 1 + (uint64_t)rand() % LANES, event = 1 + (uint64_t)rand() % EVENTS;
    uint64_t covered = model->lanes[number];
    switch (kind) {
    case 0:
    case 1:
        op(number);
        model->ops |= bit;
        model->lanes[number] |= bit;
        return -1;
    case 2:
        record(event, number);
        model->lanes[number] |= bit;
        model->events[event] = model->lanes[number];
        model->recorded[event] = true;
        return -1;
    case 3:
        if (!model->recorded[event])
            return -1;
        stream_waits(number, event, site);
        covered = model->events[event] & model->ops & ~(model->lanes[number] | model->host);
        model->lanes[number] |= model->events[event];
        return covered == 0;
    case 4:
        learned_by_luck(number);
        return -1;
    case 5:
        stream_synchronize(number, site);
        break;
    case 6:
        if (!model->recorded[event])
            return -1;
        event_synchronize(event, site);
        covered = model->events[event];
        break;
    default:
        device_synchronize(site);
        for (int i = 1; i <= LANES; i++)
            covered |= model->lanes[i];
        break;
    }
    const bool none = (covered & ~model->host) == 0;
    model->host |= covered;
    return none;
}

static void random_programs(void **state)
{
    (void)state;
    uint64_t found = 0, all = 0;
    /* An emulator takes ten times as long. */
    const int programs = getenv("TEST_RUNNER") ? PROGRAMS / 10 : PROGRAMS;
    for (int program = 0; program < programs; program++) {
        struct model model = {0};
        srand((unsigned)program);
        waits = waits_create();
        for (uint64_t number = 1; number <= LANES; number++)
            lane(number);
        thread(MAIN);
        for (uint64_t i = 0; i < STEPS; i++) {
            const int none = act(&model, rand() % 8, 1ull << i, i + 1);
            if (none < 0)
                continue;
            const uint64_t said = nothing(i + 1);
            if (said && !none)
                fail_msg("program %d: wait %d is needed", program, (int)i);
            found += said;
            all += (uint64_t)none;
        }
        waits_destroy(waits);
    }
    printf("%llu of %llu needless waits found\n", (unsigned long long)found,
           (unsigned long long)all);
    assert_true(found * 100 >= all * 95);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_wait_that_another_implies, begin, end),
        cmocka_unit_test_setup_teardown(one_that_a_later_iteration_needs, begin, end),
        cmocka_unit_test_setup_teardown(the_host_s_waits, begin, end),
        cmocka_unit_test_setup_teardown(a_stream_s_wait_for_what_the_host_waited_for, begin, end),
        cmocka_unit_test_setup_teardown(a_record_is_waited_for, begin, end),
        cmocka_unit_test_setup_teardown(luck_is_no_knowledge, begin, end),
        cmocka_unit_test_setup_teardown(what_another_thread_waited_for, begin, end),
        cmocka_unit_test_setup_teardown(a_stream_that_two_threads_make_wait, begin, end),
        cmocka_unit_test_setup_teardown(its_own_stream, begin, end),
        cmocka_unit_test_setup_teardown(the_default_stream_s_order, begin, end),
        cmocka_unit_test_setup_teardown(an_event_that_was_not_recorded, begin, end),
        cmocka_unit_test_setup_teardown(an_event_that_processes_share, begin, end),
        cmocka_unit_test_setup_teardown(a_promise_is_not_known, begin, end),
        cmocka_unit_test_setup_teardown(a_lane_s_number_is_used_again, begin, end),
        cmocka_unit_test_setup_teardown(graphs_are_left_out, begin, end),
        cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
