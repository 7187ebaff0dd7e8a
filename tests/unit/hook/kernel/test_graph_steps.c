/* Merging a graph's access sets: random graphs against brute force. A launch's ops must race with
 * exactly what the nodes race with, and events must order exactly the nodes that edges put before
 * and after them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/hook/graph/graph_calls.h"
#include "runtime/hook/graph/graph_steps.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/session/counters.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 14, MEMORY = 64, ROUNDS = 4000 };

static int unmodelled;
void counters_unmodelled(const char *what)
{
    (void)what;
    unmodelled++;
}

static uint64_t seed = 1;
static unsigned pick(unsigned below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % below;
}

/* ---- Graphs ---- */

struct graph {
    struct graph_topology shape;
    struct graph_topology_entry entries[NODES];
    bool reaches[NODES][NODES]; /* by a path */
};

static struct graph_node_work *work_create(csan_site site, const struct csan_access *accesses,
                                           size_t count)
{
    struct graph_node_work *work =
        calloc(1, sizeof *work + count * (sizeof *accesses + sizeof(struct csan_dim)));
    struct csan_dim *dims = (struct csan_dim *)&work->accesses[count];
    work->kind = GRAPH_NODE_OP;
    work->site = site;
    work->level = CSAN_LEVEL_RANGES;
    work->count = count;
    for (size_t i = 0; i < count; i++) {
        work->accesses[i] = accesses[i];
        work->accesses[i].dims = dims;
        for (uint8_t k = 0; k < accesses[i].dim_count; k++)
            *dims++ = accesses[i].dims[k];
    }
    return work;
}

/* Several nodes share a site, as in a loop. */
static struct graph_node_work *random_work(void)
{
    struct csan_access accesses[3];
    struct csan_dim dims[3];
    size_t count = pick(4);
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes = 1 + pick(12);
        accesses[i] = (struct csan_access){.base = pick(MEMORY - 20),
                                           .bytes = bytes,
                                           .dims = &dims[i],
                                           .kind = (uint8_t)(CSAN_READ + pick(3)),
                                           .bound = pick(3) ? CSAN_EXACT : CSAN_BOUND_DATA,
                                           .argument = (uint16_t)pick(2)};
        if (pick(4) == 0) {
            dims[i] = (struct csan_dim){5, 1 + pick(4)};
            accesses[i].bytes = 1 + pick(3);
            accesses[i].dim_count = 1;
        }
    }
    return work_create(1 + pick(5), accesses, count);
}

static struct graph_calls calls; /* of nodes that order processes */

static void random_graph(struct graph *graph, unsigned special)
{
    memset(graph, 0, sizeof *graph);
    graph->shape.entries = graph->entries;
    graph->shape.count = 1 + pick(NODES);
    for (uint32_t i = 0; i < graph->shape.count; i++) {
        struct graph_topology_entry *entry = &graph->entries[i];
        static const CUgraphNodeType types[] = {CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                                CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                                CU_GRAPH_NODE_TYPE_HOST, CU_GRAPH_NODE_TYPE_EMPTY};
        entry->type = CU_GRAPH_NODE_TYPE_KERNEL;
        const unsigned which = special && pick(special) == 0 ? pick(5) : 5;
        if (which < 4)
            entry->type = types[which];
        else
            entry->work = random_work();
        if (which == 4)
            entry->work->calls = &calls;
        entry->event = (CUevent)(uintptr_t)(i + 1); /* names the entry */
        entry->dependencies = calloc(NODES, sizeof(uint32_t));
        for (uint32_t d = 0; d < i; d++)
            if (pick(4) == 0) {
                entry->dependencies[entry->dependency_count++] = d;
                graph->reaches[d][i] = true;
                for (uint32_t k = 0; k < d; k++)
                    graph->reaches[k][i] |= graph->reaches[k][d];
            }
    }
}

static void graph_free(struct graph *graph)
{
    for (size_t i = 0; i < graph->shape.count; i++) {
        free(graph->entries[i].work);
        free(graph->entries[i].dependencies);
    }
}

/* ---- Brute force ---- */

/* For each byte, by kind and exactness, the sites that touch it. */
struct touched {
    uint32_t sites[MEMORY][4][2]; /* masks */
};

static void touch(struct touched *touched, csan_site site, const struct csan_access *access)
{
    uint64_t rounds = access->dim_count ? access->dims[0].count : 1;
    for (uint64_t r = 0; r < rounds; r++)
        for (uint64_t b = 0; b < access->bytes; b++) {
            uint64_t at =
                access->base + b + (access->dim_count ? r * (uint64_t)access->dims[0].stride : 0);
            assert_true(at < MEMORY);
            touched->sites[at][access->kind][access->bound != CSAN_EXACT] |= 1u << site;
        }
}

/* The steps touch nothing that no node touches, and whatever races with a node races with a step.
 */
static void compare(const struct touched *nodes, const struct touched *reported)
{
    for (int byte = 0; byte < MEMORY; byte++) {
        bool written = reported->sites[byte][CSAN_WRITE][0] != 0;
        assert_int_equal(written, nodes->sites[byte][CSAN_WRITE][0] != 0);
        for (int kind = CSAN_READ; kind <= CSAN_ATOMIC; kind++)
            for (int bound = 0; bound < 2; bound++) {
                uint32_t of_nodes = nodes->sites[byte][kind][bound];
                uint32_t of_declared = reported->sites[byte][kind][bound];
                assert_int_equal(of_declared & ~of_nodes, 0);
                if (of_nodes && !written)
                    assert_true(of_declared != 0);
            }
    }
}

static void reported_by(const struct graph_step *step, struct touched *touched)
{
    for (size_t i = 0; i < step->op_count; i++)
        for (size_t k = 0; k < step->ops[i].count; k++)
            touch(touched, step->ops[i].site, &step->ops[i].accesses[k]);
}

static void sets_of_one_step_are_the_nodes(void **state)
{
    (void)state;
    struct graph graph;
    struct graph_steps merged;
    for (int round = 0; round < ROUNDS; round++) {
        struct touched nodes = {0}, reported = {0};
        random_graph(&graph, 0);
        assert_true(graph_steps_make(&graph.shape, &merged));
        assert_int_equal(merged.count, 1);
        for (size_t i = 0; i < graph.shape.count; i++)
            for (size_t k = 0; k < graph.entries[i].work->count; k++)
                touch(&nodes, graph.entries[i].work->site, &graph.entries[i].work->accesses[k]);
        reported_by(&merged.steps[0], &reported);
        compare(&nodes, &reported);
        graph_steps_free(&merged);
        graph_free(&graph);
    }
}

/* Steps that come before step `s`. */
static void steps_before(const struct graph_steps *merged, size_t s, bool *before)
{
    for (size_t k = 0; k < merged->steps[s].after_count; k++) {
        size_t earlier = merged->steps[s].after[k];
        assert_true(earlier < s);
        before[earlier] = true;
        steps_before(merged, earlier, before);
    }
}

static size_t step_of_event(const struct graph_steps *merged, CUevent event)
{
    for (size_t s = 0; s < merged->count; s++)
        if (merged->steps[s].kind != GRAPH_STEP_NODES && merged->steps[s].event == event)
            return s;
    fail_msg("an event node has no step");
    return 0;
}

/* The steps before entry `i` (or after it) have what nodes with a path to it (or from it) do. */
static void check_side(const struct graph *graph, const struct graph_steps *merged, uint32_t i,
                       bool check_before)
{
    struct touched nodes = {0}, reported = {0};
    size_t own = step_of_event(merged, graph->entries[i].event);
    for (uint32_t n = 0; n < graph->shape.count; n++) {
        const struct graph_node_work *work = graph->entries[n].work;
        bool counts = check_before ? graph->reaches[n][i] : graph->reaches[i][n];
        for (size_t k = 0; work && counts && k < work->count; k++)
            touch(&nodes, work->site, &work->accesses[k]);
    }
    for (size_t s = 0; s < merged->count; s++) {
        bool before[NODES + 2] = {false};
        steps_before(merged, check_before ? own : s, before);
        if (before[check_before ? s : own])
            reported_by(&merged->steps[s], &reported);
    }
    compare(&nodes, &reported);
}

static void events_order_their_own_nodes(void **state)
{
    (void)state;
    struct graph graph;
    struct graph_steps merged;
    for (int round = 0; round < ROUNDS; round++) {
        random_graph(&graph, 3);
        assert_true(graph_steps_make(&graph.shape, &merged));
        for (uint32_t i = 0; i < graph.shape.count; i++) {
            CUgraphNodeType type = graph.entries[i].type;
            const bool both = type == CU_GRAPH_NODE_TYPE_HOST ||
                              (graph.entries[i].work && graph.entries[i].work->calls);
            if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD || both)
                check_side(&graph, &merged, i, true);
            if (type == CU_GRAPH_NODE_TYPE_WAIT_EVENT || both)
                check_side(&graph, &merged, i, false);
        }
        graph_steps_free(&merged);
        graph_free(&graph);
    }
}

/* ---- What it costs ---- */

static void a_long_graph_is_its_distinct_ranges(void **state)
{
    (void)state;
    enum { LONG = 10000 };
    struct graph_topology shape = {.count = LONG, .entries = calloc(LONG, sizeof *shape.entries)};
    struct graph_steps merged;
    for (uint32_t i = 0; i < LONG;
         i++) { /* three buffers again and again, and chunks of a fourth */
        struct csan_access accesses[] = {
            {.base = 0x1000, .bytes = 0x100, .kind = CSAN_READ},
            {.base = 0x2000 + 0x1000 * (i % 2), .bytes = 0x100, .kind = CSAN_WRITE},
            {.base = 0x100000 + 4 * i, .bytes = 4, .kind = CSAN_WRITE, .argument = 2}};
        shape.entries[i].type = CU_GRAPH_NODE_TYPE_KERNEL;
        shape.entries[i].work = work_create(7, accesses, 3);
        shape.entries[i].dependencies = calloc(1, sizeof(uint32_t));
        shape.entries[i].dependencies[0] = i - 1;
        shape.entries[i].dependency_count = i > 0;
    }
    assert_true(graph_steps_make(&shape, &merged));
    assert_int_equal(merged.count, 1);
    assert_int_equal(merged.nodes, LONG);
    assert_int_equal(merged.steps[0].op_count, 1);
    assert_int_equal(merged.steps[0].ops[0].count, 4);
    graph_steps_free(&merged);
    for (uint32_t i = 0; i < LONG; i++) {
        free(shape.entries[i].work);
        free(shape.entries[i].dependencies);
    }
    free(shape.entries);
}

static void too_many_events_are_said(void **state)
{
    (void)state;
    enum { MANY = 100 };
    struct graph_topology_entry entries[MANY] = {{0}};
    struct graph_topology shape = {.count = MANY, .entries = entries};
    struct graph_steps merged;
    for (int i = 0; i < MANY; i++) {
        entries[i].type = i % 2 ? CU_GRAPH_NODE_TYPE_EVENT_RECORD : CU_GRAPH_NODE_TYPE_WAIT_EVENT;
        entries[i].event = (CUevent)(uintptr_t)(i + 1);
    }
    unmodelled = 0;
    assert_true(graph_steps_make(&shape, &merged));
    assert_int_equal(unmodelled, 1);
    assert_int_equal(merged.count, MANY + 1);
    assert_int_equal(merged.steps[0].kind, GRAPH_STEP_WAIT);
    assert_int_equal(merged.steps[MANY].kind, GRAPH_STEP_RECORD);
    assert_int_equal(merged.steps[MANY].after_count, 1);
    graph_steps_free(&merged);
}

/* Calls that order processes, in so many nodes, beside so many events. */
static void make_calls(struct graph_topology *shape, size_t links, size_t events)
{
    *shape = (struct graph_topology){.count = links + events,
                                     .entries = calloc(links + events, sizeof *shape->entries)};
    for (size_t i = 0; i < shape->count; i++) {
        struct graph_topology_entry *entry = &shape->entries[i];
        entry->type = i < links ? CU_GRAPH_NODE_TYPE_KERNEL : CU_GRAPH_NODE_TYPE_EVENT_RECORD;
        entry->event = (CUevent)(uintptr_t)(i + 1);
        if (i >= links)
            continue;
        entry->work = random_work();
        entry->work->calls = &calls;
    }
}

static void calls_free(struct graph_topology *shape)
{
    for (size_t i = 0; i < shape->count; i++)
        free(shape->entries[i].work);
    free(shape->entries);
}

static size_t links_of(const struct graph_steps *merged)
{
    size_t count = 0;
    for (size_t s = 0; s < merged->count; s++)
        count += merged->steps[s].kind == GRAPH_STEP_LINKS;
    return count;
}

static void too_many_calls_leave_the_events_their_steps(void **state)
{
    static const struct {
        size_t links, events, steps;
        bool unlinked;
    } cases[] = {{64, 0, 64, false}, {65, 0, 0, true}, {10, 54, 10, false}, {10, 55, 0, true}};
    (void)state;
    unmodelled = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph_topology shape;
        struct graph_steps merged;
        make_calls(&shape, cases[i].links, cases[i].events);
        assert_true(graph_steps_make(&shape, &merged));
        assert_int_equal(links_of(&merged), cases[i].steps);
        assert_int_equal(merged.unlinked, cases[i].unlinked);
        for (size_t e = cases[i].links; e < shape.count; e++)
            step_of_event(&merged, shape.entries[e].event);
        graph_steps_free(&merged);
        calls_free(&shape);
    }
    assert_int_equal(unmodelled, 0);
}

static void a_call_that_may_not_be_made_is_not_known(void **state)
{
    (void)state;
    struct graph_topology shape;
    struct graph_steps merged;
    make_calls(&shape, 3, 0);
    shape.entries[1].conditional = true;
    shape.entries[2].disabled = true;
    assert_true(graph_steps_make(&shape, &merged));
    assert_int_equal(links_of(&merged), 2);
    assert_ptr_equal(merged.steps[merged.step_of[0]].calls, &calls);
    assert_null(merged.steps[merged.step_of[1]].calls);
    assert_int_equal(merged.steps[merged.step_of[2]].kind, GRAPH_STEP_NODES);
    graph_steps_free(&merged);
    calls_free(&shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_of_one_step_are_the_nodes),
        cmocka_unit_test(events_order_their_own_nodes),
        cmocka_unit_test(a_long_graph_is_its_distinct_ranges),
        cmocka_unit_test(too_many_events_are_said),
        cmocka_unit_test(too_many_calls_leave_the_events_their_steps),
        cmocka_unit_test(a_call_that_may_not_be_made_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
