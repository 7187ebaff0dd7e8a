/* Pairs of ops that nothing orders: counted as they come, and by brute force over random programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/detector/test_detect.h"

static uint64_t pairs_of(csan_context *context)
{
    struct csan_stats stats;
    csan_context_stats(context, &stats);
    assert_int_equal(stats.unordered_counted, 1);
    return stats.unordered;
}

static void two_streams_and_an_event(void **state)
{
    (void)state;
    struct world w = world_create("count_unordered=1");
    csan_event *event = csan_event_create(w.context);
    reads(w.context, w.a, BASE, 4);
    reads(w.context, w.a, BASE, 4);
    csan_event_record(w.context, event, w.a);
    reads(w.context, w.a, BASE, 4);
    csan_event_wait(w.context, event, w.b);
    reads(w.context, w.b, BASE, 4); /* beside the third alone */
    assert_int_equal(pairs_of(w.context), 1);
    csan_event_destroy(w.context, event);
    csan_context_destroy(w.context);
}

static void the_host_does_not_count(void **state)
{
    (void)state;
    struct world w = world_create("count_unordered=1");
    reads(w.context, w.a, BASE, 4);
    reads(w.context, CSAN_HOST, BASE, 4);
    reads(w.context, w.b, BASE, 4);
    assert_int_equal(pairs_of(w.context), 1);
    csan_context_destroy(w.context);
}

static void a_graphs_branches_count(void **state)
{
    (void)state;
    struct world w = world_create("count_unordered=1");
    csan_context *branch = csan_context_branch(w.context);
    csan_lane one = csan_lane_create(branch, 0, "branch 1 of a graph");
    csan_lane other = csan_lane_create(branch, 0, "branch 2 of a graph");
    reads(branch, one, BASE, 4);
    reads(branch, other, BASE, 4);
    reads(branch, other, BASE, 4);
    csan_context_destroy(branch);
    assert_int_equal(pairs_of(w.context), 2);
    csan_context_destroy(w.context);
}

static void only_where_it_is_asked(void **state)
{
    struct csan_stats stats;
    (void)state;
    struct world w = world_create(NULL);
    reads(w.context, w.a, BASE, 4);
    reads(w.context, w.b, BASE, 4);
    csan_context_stats(w.context, &stats);
    assert_int_equal(stats.unordered_counted, 0);
    assert_int_equal(stats.unordered, 0);
    csan_context_destroy(w.context);
}

/* ---- random programs: ancestors of each op as a set of bits */

enum { LANES = 6, EVENTS = 4, STEPS = 220, WORDS = (STEPS + 63) / 64 };

struct ancestors {
    uint64_t ops[WORDS];
};

static void add(struct ancestors *to, const struct ancestors *from)
{
    for (int i = 0; i < WORDS; i++)
        to->ops[i] |= from->ops[i];
}

static bool has(const struct ancestors *set, int op)
{
    return set->ops[op / 64] >> op % 64 & 1;
}

struct model {
    struct ancestors lanes[LANES], events[EVENTS], host;
    uint64_t pairs;
    int ops;
};

static void model_op(struct model *model, int lane)
{
    add(&model->lanes[lane], &model->host);
    for (int i = 0; i < model->ops; i++)
        model->pairs += !has(&model->lanes[lane], i);
    model->lanes[lane].ops[model->ops / 64] |= UINT64_C(1) << model->ops % 64;
    model->ops++;
}

static uint32_t seed;
static uint32_t next_random(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static void play(csan_context *context, csan_lane *lanes, csan_event **events, struct model *model)
{
    for (int i = 0; i < STEPS; i++) {
        const uint32_t lane = next_random(LANES), event = next_random(EVENTS),
                       what = next_random(20);
        if (what < 12) {
            reads(context, lanes[lane], BASE, 4);
            model_op(model, (int)lane);
        } else if (what < 15) {
            csan_event_record(context, events[event], lanes[lane]);
            model->events[event] = model->lanes[lane];
        } else if (what < 18) {
            csan_event_wait(context, events[event], lanes[lane]);
            add(&model->lanes[lane], &model->events[event]);
        } else if (what < 19) {
            csan_lane_waits(context, CSAN_HOST, lanes[lane]);
            add(&model->host, &model->lanes[lane]);
        } else { /* another stream takes the place of one that the host waited for */
            csan_lane_waits(context, CSAN_HOST, lanes[lane]);
            add(&model->host, &model->lanes[lane]);
            csan_lane_destroy(context, lanes[lane]);
            lanes[lane] = csan_lane_create(context, lane, "another stream");
            model->lanes[lane] = model->host;
        }
    }
}

static void as_brute_force_counts(void **state)
{
    (void)state;
    for (uint32_t program = 1; program <= 300; program++) {
        csan_context *context = create("count_unordered=1");
        csan_lane lanes[LANES];
        csan_event *events[EVENTS];
        struct model model = {.pairs = 0};
        seed = program;
        for (uint32_t i = 0; i < LANES; i++)
            lanes[i] = csan_lane_create(context, i, "a stream");
        for (int i = 0; i < EVENTS; i++)
            events[i] = csan_event_create(context);
        play(context, lanes, events, &model);
        assert_int_equal(pairs_of(context), model.pairs);
        for (int i = 0; i < EVENTS; i++)
            csan_event_destroy(context, events[i]);
        csan_context_destroy(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_streams_and_an_event), cmocka_unit_test(the_host_does_not_count),
        cmocka_unit_test(a_graphs_branches_count),  cmocka_unit_test(only_where_it_is_asked),
        cmocka_unit_test(as_brute_force_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
