/* Why a race is one: each cause by the calls that lead to it, and that what a report proposes
 * removes the race, in random programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/detector/context.h"
#include "tests/unit/detector/test_detect.h"

/* ---- calls of a program, as the hooks report them */

/* An event, and the number that steps have for it. */
struct named_event {
    csan_event *event;
    uint64_t number;
};

static struct named_event event_named(struct world w, uint64_t number)
{
    return (struct named_event){csan_event_create(w.context), number};
}

static void record_at(struct world w, struct named_event event, csan_lane lane, const char *place)
{
    csan_event_record(w.context, event.event, lane);
    csan_step(w.context, lane, CSAN_STEP_RECORD, event.number, 0, site(w.context, place));
}

static void wait_at(struct world w, struct named_event event, csan_lane lane, const char *place)
{
    csan_snapshot *recorded = csan_event_snapshot(w.context, event.event);
    csan_step(w.context, lane, recorded ? CSAN_STEP_WAIT : CSAN_STEP_WAIT_UNRECORDED, event.number,
              0, site(w.context, place));
    if (recorded)
        csan_event_wait(w.context, event.event, lane);
    csan_snapshot_release(w.context, recorded);
}

static void expect_call(const struct csan_race_call *call, const char *name, const char *lane)
{
    assert_non_null(call->lane);
    assert_string_equal(call->name, name);
    assert_string_equal(call->lane, lane);
    assert_int_equal(call->frame_count, 1);
    assert_ptr_equal(call->frames[0], name);
}

static const struct csan_race_order *only_race(int cause)
{
    assert_int_equal(found_count, 1);
    assert_non_null(found[0].order);
    assert_int_equal(found[0].order->cause, cause);
    return found[0].order;
}

/* ---- events */

static void nothing_of_the_kind(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 16);
    reads(w.context, w.b, BASE, 16);
    const struct csan_race_order *order = only_race(CSAN_CAUSE_NONE);
    assert_null(order->usable.lane);
    assert_null(order->wait.lane);
    csan_context_destroy(w.context);
}

static void an_event_recorded_again(void **state)
{
    static const char first[] = "first record", second[] = "second record", wait[] = "the wait";
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = third_lane(&w);
    struct named_event event = event_named(w, 1);
    writes(w.context, w.a, BASE, 16);
    record_at(w, event, w.a, first);
    record_at(w, event, w.b, second);
    wait_at(w, event, c, wait);
    reads(w.context, c, BASE, 16);
    const struct csan_race_order *order = only_race(CSAN_CAUSE_RECORDED_AGAIN);
    expect_call(&order->record, first, "stream 10");
    expect_call(&order->again, second, "stream 11");
    expect_call(&order->wait, wait, "stream 12");
    assert_null(order->usable.lane); /* it is not what the event holds */
    csan_event_destroy(w.context, event.event);
    csan_context_destroy(w.context);
}

static void an_event_recorded_before_the_work(void **state)
{
    static const char record[] = "the record", wait[] = "the wait", after[] = "record after it";
    (void)state;
    for (int again = 0; again <= 1; again++) {
        struct world w = world_create(NULL);
        struct named_event event = event_named(w, 1);
        writes(w.context, w.a, BASE + 64, 16);
        record_at(w, event, w.a, record);
        writes(w.context, w.a, BASE, 16);
        wait_at(w, event, w.b, wait);
        if (again)
            record_at(w, event, w.a, after);
        reads(w.context, w.b, BASE, 16);
        const struct csan_race_order *order = only_race(CSAN_CAUSE_RECORDED_BEFORE);
        expect_call(&order->record, record, "stream 10");
        expect_call(&order->wait, wait, "stream 11");
        if (again)
            expect_call(&order->usable, after, "stream 10");
        else
            assert_null(order->usable.lane);
        csan_event_destroy(w.context, event.event);
        csan_context_destroy(w.context);
    }
}

static void an_event_never_recorded(void **state)
{
    static const char wait[] = "the wait";
    (void)state;
    struct world w = world_create(NULL);
    struct named_event event = event_named(w, 1);
    writes(w.context, w.a, BASE, 16);
    wait_at(w, event, w.b, wait);
    reads(w.context, w.b, BASE, 16);
    expect_call(&only_race(CSAN_CAUSE_NEVER_RECORDED)->wait, wait, "stream 11");
    csan_event_destroy(w.context, event.event);
    csan_context_destroy(w.context);
}

/* They say when the device worked, and explain nothing: none takes the place of a call that does.
 */
static void measured_times_are_not_kept(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    struct named_event event = event_named(w, 1);
    writes(w.context, w.a, BASE, 16);
    wait_at(w, event, w.b, "the wait");
    for (int i = 0; i < 5000; i++) {
        csan_step(w.context, CSAN_HOST, CSAN_STEP_ELAPSED_FROM, 1, 0, 0);
        csan_step(w.context, CSAN_HOST, CSAN_STEP_ELAPSED, 2, 1000, 0);
    }
    reads(w.context, w.b, BASE, 16);
    only_race(CSAN_CAUSE_NEVER_RECORDED);
    csan_event_destroy(w.context, event.event);
    csan_context_destroy(w.context);
}

/* A wait before the earlier access cannot have been meant to cover it. */
static void a_wait_from_long_ago(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    struct named_event event = event_named(w, 1);
    wait_at(w, event, w.b, "the wait");
    writes(w.context, w.a, BASE, 16);
    reads(w.context, w.b, BASE, 16);
    only_race(CSAN_CAUSE_NONE);
    csan_event_destroy(w.context, event.event);
    csan_context_destroy(w.context);
}

static void a_wait_in_another_stream(void **state)
{
    static const char record[] = "the record", wait[] = "the wait";
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = third_lane(&w);
    struct named_event event = event_named(w, 1);
    writes(w.context, w.a, BASE, 16);
    record_at(w, event, w.a, record);
    wait_at(w, event, c, wait);
    reads(w.context, w.b, BASE, 16);
    const struct csan_race_order *order = only_race(CSAN_CAUSE_WAIT_ELSEWHERE);
    expect_call(&order->record, record, "stream 10");
    expect_call(&order->wait, wait, "stream 12");
    expect_call(&order->usable, record, "stream 10");
    csan_event_destroy(w.context, event.event);
    csan_context_destroy(w.context);
}

/* Of several records behind the access, the one next to it. */
static void a_record_to_wait_for(void **state)
{
    static const char near[] = "near", far[] = "far";
    (void)state;
    struct world w = world_create(NULL);
    struct named_event one = event_named(w, 1), other = event_named(w, 2), gone = event_named(w, 3);
    writes(w.context, w.a, BASE, 16);
    record_at(w, gone, w.a, "gone");
    csan_step(w.context, CSAN_HOST, CSAN_STEP_EVENT_DESTROYED, 3, 0, 0);
    csan_event_destroy(w.context, gone.event);
    record_at(w, one, w.a, near);
    writes(w.context, w.a, BASE + 64, 16);
    record_at(w, other, w.a, far);
    reads(w.context, w.b, BASE, 16);
    expect_call(&only_race(CSAN_CAUSE_NONE)->usable, near, "stream 10");
    csan_event_destroy(w.context, one.event);
    csan_event_destroy(w.context, other.event);
    csan_context_destroy(w.context);
}

/* A call that was held back is reported after calls that the program made later. */
static void a_call_held_back_ends_no_search(void **state)
{
    static const char wait[] = "the wait";
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = third_lane(&w);
    struct named_event event = event_named(w, 1);
    csan_snapshot *promise = csan_snapshot_promise(w.context);
    csan_snapshot_join(w.context, c, promise);
    csan_step(w.context, c, CSAN_STEP_RECORD, 2, 0, site(w.context, "held back"));
    writes(w.context, w.a, BASE, 16);
    wait_at(w, event, w.b, wait);
    csan_snapshot_keep(w.context, promise, CSAN_HOST);
    reads(w.context, w.b, BASE, 16);
    expect_call(&only_race(CSAN_CAUSE_NEVER_RECORDED)->wait, wait, "stream 11");
    csan_snapshot_release(w.context, promise);
    csan_event_destroy(w.context, event.event);
    csan_context_destroy(w.context);
}

/* ---- lanes */

/* Another stream bears the number of one that was destroyed, which did the wait. */
static void an_earlier_stream_of_the_same_number(void **state)
{
    static const char wait[] = "the wait";
    (void)state;
    for (int elsewhere = 0; elsewhere <= 1; elsewhere++) {
        struct world w = world_create(NULL);
        csan_lane c = third_lane(&w);
        struct named_event event = event_named(w, 1);
        writes(w.context, w.a, BASE, 16);
        if (elsewhere)
            record_at(w, event, w.a, "the record");
        wait_at(w, event, c, wait);
        csan_lane_destroy(w.context, c);
        assert_int_equal(csan_lane_create(w.context, 0xd, "stream 13"), c);
        reads(w.context, c, BASE, 16);
        if (elsewhere)
            expect_call(&only_race(CSAN_CAUSE_WAIT_ELSEWHERE)->wait, wait, "an earlier stream");
        else
            assert_null(only_race(CSAN_CAUSE_NONE)->wait.lane);
        csan_event_destroy(w.context, event.event);
        csan_context_destroy(w.context);
    }
}

static void what_the_lanes_are(void **state)
{
    static const struct {
        enum csan_lane_kind a, b;
        int cause;
    } cases[] = {
        {CSAN_LANE_LEGACY, CSAN_LANE_NON_BLOCKING, CSAN_CAUSE_NON_BLOCKING},
        {CSAN_LANE_NON_BLOCKING, CSAN_LANE_LEGACY, CSAN_CAUSE_NON_BLOCKING},
        {CSAN_LANE_BLOCKING, CSAN_LANE_NON_BLOCKING, CSAN_CAUSE_NONE},
        {CSAN_LANE_PER_THREAD, CSAN_LANE_PER_THREAD, CSAN_CAUSE_PER_THREAD},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world w = world_create(NULL);
        csan_lane_describe(w.context, w.a, cases[i].a, 0);
        csan_lane_describe(w.context, w.b, cases[i].b, 0);
        writes(w.context, w.a, BASE, 16);
        reads(w.context, w.b, BASE, 16);
        only_race(cases[i].cause);
        assert_int_equal(found[0].previous.lane_kind, cases[i].a);
        csan_context_destroy(w.context);
    }
}

static void a_host_function(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane function =
        csan_lane_create_as(w.context, CSAN_LANE_FUNCTION, 0, "a host function", CSAN_HOST);
    writes(w.context, function, BASE, 16);
    reads(w.context, w.b, BASE, 16);
    only_race(CSAN_CAUSE_HOST_FUNCTION);
    csan_context_destroy(w.context);
}

static void a_stream_destroyed(void **state)
{
    static const char destroy[] = "the destruction";
    (void)state;
    struct world w = world_create(NULL);
    writes(w.context, w.a, BASE, 16);
    csan_step(w.context, w.a, CSAN_STEP_STREAM_DESTROYED, 0, 0, site(w.context, destroy));
    csan_lane_destroy(w.context, w.a);
    reads(w.context, w.b, BASE, 16);
    expect_call(&only_race(CSAN_CAUSE_STREAM_DESTROYED)->wait, destroy, "stream 10");
    csan_context_destroy(w.context);
}

/* ---- graphs and overlapping launches */

static void graph_launch(struct world w, csan_lane lane, uint64_t executable, uint64_t graph,
                         const char *place)
{
    csan_site call = site(w.context, place);
    csan_step(w.context, lane, CSAN_STEP_GRAPH_LAUNCH, executable, graph, call);
    writes(w.context, lane, BASE, 16);
    csan_step(w.context, lane, CSAN_STEP_GRAPH_LAUNCHED, executable, 0, call);
}

static void two_executables_of_a_graph(void **state)
{
    static const char one[] = "one launch", other[] = "the other";
    (void)state;
    for (uint64_t graph = 5; graph <= 6; graph++) {
        struct world w = world_create(NULL);
        graph_launch(w, w.a, 1, 5, one);
        graph_launch(w, w.b, 2, graph, other);
        if (graph == 5) {
            const struct csan_race_order *order = only_race(CSAN_CAUSE_TWO_EXECUTABLE_GRAPHS);
            expect_call(&order->record, one, "stream 10");
            expect_call(&order->wait, other, "stream 11");
        } else {
            only_race(CSAN_CAUSE_NONE);
        }
        csan_context_destroy(w.context);
    }
}

/* Work between two launches is none of theirs. */
static void beside_launches_of_graphs(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    graph_launch(w, w.a, 1, 5, "a launch");
    writes(w.context, w.b, BASE, 16);
    only_race(CSAN_CAUSE_NONE);
    csan_context_destroy(w.context);
}

/* Launch `number`, on a lane of its own beside the one on `before`. */
static csan_lane overlapping(struct world w, csan_lane before, uint64_t number, bool waits,
                             const char *place)
{
    csan_lane lane = csan_lane_create(w.context, 0xa, "stream 10, overlapping");
    csan_step(w.context, lane, CSAN_STEP_OVERLAPPING_LAUNCH, number, number - 1,
              site(w.context, place));
    if (waits) {
        csan_lane_waits(w.context, lane, before);
        csan_step(w.context, lane, CSAN_STEP_OVERLAPPING_WAITED, number, number - 1,
                  site(w.context, place));
    }
    return lane;
}

static void the_launch_that_does_not_wait(void **state)
{
    static const char middle[] = "middle", last[] = "last";
    (void)state;
    for (int waits = 0; waits <= 1; waits++) {
        struct world w = world_create(NULL);
        writes(w.context, w.a, BASE, 16);
        csan_lane b = overlapping(w, w.a, 1, false, middle);
        writes(w.context, b, BASE + 64, 16);
        csan_lane c = overlapping(w, b, 2, waits, last);
        csan_lane_destroy(w.context, b);
        reads(w.context, c, BASE, 16);
        expect_call(&only_race(CSAN_CAUSE_NO_DEPENDENCY_WAIT)->wait, waits ? middle : last,
                    "stream 10, overlapping");
        csan_context_destroy(w.context);
    }
}

/* The host waits for an event that was recorded too early, and enqueues the access, or makes it.
 * What it looks at before anybody recorded it explains only its own accesses. */
static void the_host_waits_for_an_early_record(void **state)
{
    (void)state;
    for (int of_host = 0; of_host < 2; of_host++) {
        struct world w = world_create(NULL);
        const csan_lane later = of_host ? CSAN_HOST : w.b;
        struct named_event early = event_named(w, 1), never = event_named(w, 2);
        record_at(w, early, w.a, "record");
        writes(w.context, w.a, BASE, 16);
        wait_at(w, early, CSAN_HOST, "wait");
        wait_at(w, never, CSAN_HOST, "look");
        reads(w.context, later, BASE, 16);
        const struct csan_race_order *order =
            only_race(of_host ? CSAN_CAUSE_NEVER_RECORDED : CSAN_CAUSE_RECORDED_BEFORE);
        expect_call(&order->wait, of_host ? "look" : "wait", "the host");
        csan_event_destroy(w.context, early.event);
        csan_event_destroy(w.context, never.event);
        csan_context_destroy(w.context);
    }
}

/* ---- other lanes of the same call, and one report for a missing order */

static void other_lanes_of_the_same_call(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    csan_lane c = third_lane(&w);
    writes(w.context, w.a, BASE, 16);
    writes(w.context, w.b, BASE + 16, 16);
    reads(w.context, c, BASE, 32);
    assert_int_equal(found_count, 1);
    assert_int_equal(found[0].also_count, 1);
    assert_int_equal(found[0].also_total, 1);
    assert_string_equal(found[0].previous.lane, "stream 11"); /* the newest */
    assert_int_equal(found[0].address, BASE + 16);
    assert_int_equal(found[0].bytes, 16);
    assert_string_equal(found[0].also[0].lane, "stream 10");
    assert_int_equal(found[0].also[0].address, BASE);
    assert_int_equal(found[0].also[0].bytes, 16);
    csan_context_destroy(w.context);
}

static void one_report_for_a_missing_order(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    touch(w.context, w.a, "one", CSAN_WRITE, CSAN_EXACT, BASE, 16);
    touch(w.context, w.a, "two", CSAN_WRITE, CSAN_EXACT, BASE + 64, 16);
    touch(w.context, w.b, "three", CSAN_READ, CSAN_EXACT, BASE, 80);
    touch(w.context, w.b, "four", CSAN_WRITE, CSAN_EXACT, BASE, 16);
    assert_int_equal(found_count, 3);
    assert_string_equal(found[0].previous.name, "two"); /* what a fix has to come after */
    for (size_t i = 0; i < found_count; i++)
        assert_int_equal(found[i].group, 1);
    touch(w.context, w.a, "five", CSAN_READ, CSAN_EXACT, BASE, 16); /* the other way round */
    assert_int_equal(found_count, 4);
    assert_int_equal(found[3].group, 4);
    touch(w.context, w.b, "six", CSAN_WRITE, CSAN_EXACT, BASE, 16); /* after what came later */
    assert_int_equal(found_count, 5);
    assert_int_equal(found[4].group, 5);
    struct csan_stats stats;
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.races, 5);
    assert_int_equal(stats.grouped, 2);
    csan_context_destroy(w.context);
}

/* A use that waits for an earlier use of the memory waits for its allocation, too; and memory that
 * is freed after its use is given out again after it. */
static void an_order_covers_birth_and_reuse(void **state)
{
    (void)state;
    enum { POOLED = 0x70000 };
    struct world w = world_create(NULL);
    csan_memory_create(w.context, CSAN_MEMORY_STREAM, POOLED, 256, w.a, 0);
    touch(w.context, w.a, "one", CSAN_WRITE, CSAN_EXACT, POOLED, 16);
    touch(w.context, w.b, "two", CSAN_READ, CSAN_EXACT, POOLED, 16);
    assert_int_equal(found_count, 2);
    assert_int_equal(found[0].kind, CSAN_RACE_DATA);
    assert_int_equal(found[1].kind, CSAN_RACE_BIRTH);
    assert_int_equal(found[1].group, 1);
    csan_memory_free_end(w.context, csan_memory_free_begin(w.context, POOLED, w.a, 1, 0), 0, 0);
    csan_memory_create(w.context, CSAN_MEMORY_STREAM, POOLED, 256, w.a, 0);
    touch(w.context, w.a, "three", CSAN_WRITE, CSAN_EXACT, POOLED, 16);
    assert_int_equal(found_count, 4);
    assert_int_equal(found[2].kind, CSAN_RACE_FREE);
    assert_int_equal(found[2].group, 3); /* the other way round */
    assert_int_equal(found[3].kind, CSAN_RACE_REUSE);
    assert_int_equal(found[3].group, 3);
    csan_context_destroy(w.context);
}

/* The allocation alone, and what the use before it in its lane does not cover. */
static void a_birth_without_a_use_is_reported(void **state)
{
    (void)state;
    enum { POOLED = 0x70000 };
    struct world w = world_create(NULL);
    csan_memory_create(w.context, CSAN_MEMORY_STREAM, POOLED, 256, w.a, 0);
    touch(w.context, w.b, "two", CSAN_READ, CSAN_EXACT, POOLED, 16);
    touch(w.context, w.a, "one", CSAN_WRITE, CSAN_EXACT, POOLED, 16);
    touch(w.context, w.b, "two", CSAN_READ, CSAN_EXACT, POOLED, 16);
    assert_int_equal(found[0].kind, CSAN_RACE_BIRTH);
    for (size_t i = 0; i < found_count; i++)
        assert_int_equal(found[i].group, found[i].number);
    csan_context_destroy(w.context);
}

/* What a filter hides, or what was forgotten, is in nobody's group. */
static void counts_of_groups(void **state)
{
    (void)state;
    struct world w = world_create(NULL);
    struct csan_stats stats;
    touch(w.context, w.a, "one", CSAN_WRITE, CSAN_EXACT, BASE, 16);
    touch(w.context, w.a, "two", CSAN_WRITE, CSAN_EXACT, BASE + 64, 16);
    touch(w.context, w.b, "three", CSAN_READ, CSAN_EXACT, BASE, 80);
    touch(w.context, w.b, "four", CSAN_WRITE, CSAN_EXACT, BASE, 16);
    assert_int_equal(found_count, 3);
    context_suppress(w.context, &found[1]);
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.races, 2);
    assert_int_equal(stats.grouped, 1);
    context_suppress(w.context, &found[0]);
    context_group(w.context, &found[2]); /* its first is no more */
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.races, 1);
    assert_int_equal(stats.grouped, 0);
    csan_context_races_clear(w.context);
    context_suppress(w.context, &found[2]);
    context_group(w.context, &found[2]);
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.races, 0);
    assert_int_equal(stats.grouped, 0);
    csan_context_destroy(w.context);
}

/* ---- random programs: what can be waited for removes the race */

enum { LANES = 4, EVENTS = 3, STEPS = 40, CELLS = 4 };

struct call {
    enum { WRITE, READ, RECORD, WAIT } kind;
    uint8_t lane, object;
};

static uint64_t random_state;
static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(random_state >> 33) % limit;
}

/* Runs the program, each call with a site of its own, and a wait of `lane` for `event` before call
 * `before`. The frames are the numbers of calls from 1. */
static void run(const struct call *calls, size_t before, uint32_t lane, uint64_t event)
{
    struct world w = {.context = create("dedup=0")};
    csan_lane lanes[LANES];
    struct named_event events[EVENTS];
    for (int i = 0; i < LANES; i++)
        lanes[i] = csan_lane_create(w.context, (uint64_t)i, "a lane");
    for (int i = 0; i < EVENTS; i++)
        events[i] = event_named(w, (uint64_t)i + 1);
    csan_memory_create(w.context, CSAN_MEMORY_DEVICE, BASE, SIZE, CSAN_HOST, 0);
    for (size_t i = 0; i < STEPS; i++) {
        const struct call *call = &calls[i];
        const void *frame = (const void *)(i + 1);
        csan_site here = csan_site_intern(w.context, "call", NULL, 0, &frame, 1);
        struct named_event *named = &events[call->object % EVENTS];
        if (i == before)
            csan_event_wait(w.context, events[event].event, lanes[lane]);
        if (call->kind == RECORD) {
            csan_event_record(w.context, named->event, lanes[call->lane]);
            csan_step(w.context, lanes[call->lane], CSAN_STEP_RECORD, named->number, 0, here);
        } else if (call->kind == WAIT) {
            csan_snapshot *recorded = csan_event_snapshot(w.context, named->event);
            csan_step(w.context, lanes[call->lane],
                      recorded ? CSAN_STEP_WAIT : CSAN_STEP_WAIT_UNRECORDED, named->number, 0,
                      here);
            csan_snapshot_release(w.context, recorded);
            csan_event_wait(w.context, named->event, lanes[call->lane]);
        } else {
            struct csan_access access = {.base = BASE + call->object * 16u,
                                         .bytes = 16,
                                         .kind = call->kind == WRITE ? CSAN_WRITE : CSAN_READ};
            csan_op(w.context, lanes[call->lane], here, CSAN_LEVEL_RANGES, &access, 1);
        }
    }
    /* Strings and frames go with the context; the numbers of calls are the frames themselves. */
    for (size_t i = 0; i < found_count; i++) {
        found[i].current.site = (uint32_t)(uintptr_t)found[i].current.frames[0];
        found[i].previous.site = (uint32_t)(uintptr_t)found[i].previous.frames[0];
        const struct csan_race_call *usable = &found[i].order->usable;
        found[i].number = usable->lane ? (uintptr_t)usable->frames[0] : 0;
    }
    for (int i = 0; i < EVENTS; i++)
        csan_event_destroy(w.context, events[i].event);
    csan_context_destroy(w.context);
}

static bool still_races(const struct csan_race *race)
{
    for (size_t i = 0; i < found_count; i++)
        if (found[i].current.site == race->current.site &&
            found[i].previous.site == race->previous.site)
            return true;
    return false;
}

static void waiting_removes_the_race(void **state)
{
    (void)state;
    size_t proposals = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct call calls[STEPS];
        random_state = seed;
        for (int i = 0; i < STEPS; i++)
            calls[i] = (struct call){random_below(4), (uint8_t)random_below(LANES),
                                     (uint8_t)random_below(CELLS)};
        run(calls, STEPS, 0, 0);
        if (!found_count)
            continue;
        const struct csan_race race = found[random_below((uint32_t)found_count)];
        if (!race.number)
            continue;
        const struct call *record = &calls[race.number - 1];
        assert_int_equal(record->kind, RECORD);
        const size_t current = race.current.site - 1;
        run(calls, current, calls[current].lane, record->object % EVENTS);
        if (still_races(&race))
            fail_msg("seed %llu: a wait for the record in call %llu does not order call %u after "
                     "call %u",
                     (unsigned long long)seed, (unsigned long long)race.number, race.current.site,
                     race.previous.site);
        proposals++;
    }
    assert_true(proposals > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_of_the_kind),
        cmocka_unit_test(an_event_recorded_again),
        cmocka_unit_test(an_event_recorded_before_the_work),
        cmocka_unit_test(an_event_never_recorded),
        cmocka_unit_test(measured_times_are_not_kept),
        cmocka_unit_test(a_wait_from_long_ago),
        cmocka_unit_test(a_wait_in_another_stream),
        cmocka_unit_test(a_record_to_wait_for),
        cmocka_unit_test(a_call_held_back_ends_no_search),
        cmocka_unit_test(an_earlier_stream_of_the_same_number),
        cmocka_unit_test(what_the_lanes_are),
        cmocka_unit_test(a_host_function),
        cmocka_unit_test(a_stream_destroyed),
        cmocka_unit_test(two_executables_of_a_graph),
        cmocka_unit_test(beside_launches_of_graphs),
        cmocka_unit_test(the_launch_that_does_not_wait),
        cmocka_unit_test(other_lanes_of_the_same_call),
        cmocka_unit_test(one_report_for_a_missing_order),
        cmocka_unit_test(the_host_waits_for_an_early_record),
        cmocka_unit_test(an_order_covers_birth_and_reuse),
        cmocka_unit_test(a_birth_without_a_use_is_reported),
        cmocka_unit_test(counts_of_groups),
        cmocka_unit_test(waiting_removes_the_race),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
