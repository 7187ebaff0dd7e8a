/* Random programs with graphs, against brute force: streams, events, sets, launches of graphs with
 * event nodes. Every program's happens-before is built node by node from what CUDA documents; csan
 * must report a race exactly when two sets of one range are not ordered. */
#include "tests/unit/hook/test_hook.h"

#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROGRAMS = 20000,
    STEPS = 14,
    STREAMS = 3,
    EVENTS = 3,
    EXECS = 2,
    RANGES = 6,
    NODES = 6, /* of a graph */
    MOST = 300 /* nodes of a program's order */
};

static uint64_t seed;
static unsigned pick(unsigned below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % below;
}

/* ---- Happens-before, by brute force ---- */

enum { NOTHING = -1 };

struct order {
    int count;
    int range[MOST];                                          /* that it sets, or NOTHING */
    bool known[MOST][MOST];                                   /* [a][b]: b comes before a */
    int of_stream[STREAMS], of_event[EVENTS], of_exec[EXECS]; /* the newest, or NOTHING */
    bool race;
};

static void comes_after(struct order *order, int node, int before)
{
    if (before == NOTHING)
        return;
    order->known[node][before] = true;
    for (int i = 0; i < order->count; i++)
        order->known[node][i] |= order->known[before][i];
}

/* Its predecessors are enqueued next; then it is checked. */
static int node_add(struct order *order, int range)
{
    int node = order->count++;
    assert_true(order->count < MOST);
    order->range[node] = range;
    return node;
}

static void node_check(struct order *order, int node)
{
    for (int i = 0; i < node && order->range[node] != NOTHING; i++)
        order->race |= order->range[i] == order->range[node] && !order->known[node][i];
}

/* ---- Graphs ---- */

enum type { SET, RECORD, WAIT };

struct graph {
    int count;
    enum type types[NODES];
    int what[NODES]; /* range or event */
    bool edges[NODES][NODES];
    CUgraphExec exec;
};

static struct {
    PFN_cuGraphCreate_v10000 create;
    PFN_cuGraphAddEventRecordNode_v11010 add_record;
    PFN_cuGraphAddEventWaitNode_v11010 add_wait;
} driver;

static struct {
    CUstream streams[STREAMS];
    CUevent events[EVENTS];
    CUdeviceptr ranges[RANGES];
} world;

static CUgraphNode add_node(CUgraph graph, enum type type, int what, const CUgraphNode *after,
                            size_t count)
{
    CUgraphNode node = NULL;
    CUDA_MEMSET_NODE_PARAMS params = {.elementSize = 1, .width = 64, .height = 1};
    switch (type) {
    case SET:
        params.dst = world.ranges[what];
        assert_int_equal(cuGraphAddMemsetNode(&node, graph, after, count, &params, NULL), 0);
        break;
    case RECORD:
        assert_int_equal(driver.add_record(&node, graph, after, count, world.events[what]), 0);
        break;
    default:
        assert_int_equal(driver.add_wait(&node, graph, after, count, world.events[what]), 0);
        break;
    }
    return node;
}

/* An event that a graph records it does not wait for: which record that would be is not known. Nor
 * does it record one twice. */
static enum type random_type(struct graph *graph, bool *used, int *what)
{
    unsigned event = pick(EVENTS);
    (void)graph;
    *what = (int)pick(RANGES);
    if (pick(3) || used[event])
        return SET;
    used[event] = true;
    *what = (int)event;
    return pick(2) ? RECORD : WAIT;
}

static void graph_make(struct graph *graph)
{
    CUgraph made;
    CUgraphNode nodes[NODES];
    bool used[EVENTS] = {false};
    memset(graph, 0, sizeof *graph);
    assert_int_equal(driver.create(&made, 0), 0);
    graph->count = 1 + (int)pick(NODES);
    for (int i = 0; i < graph->count; i++) {
        CUgraphNode after[NODES];
        size_t count = 0;
        for (int d = 0; d < i; d++)
            if (pick(2)) {
                graph->edges[i][d] = true;
                after[count++] = nodes[d];
            }
        graph->types[i] = random_type(graph, used, &graph->what[i]);
        nodes[i] = add_node(made, graph->types[i], graph->what[i], after, count);
    }
    assert_int_equal(cuGraphInstantiateWithFlags(&graph->exec, made, 0), 0);
}

/* One launch in the order; without streams: only its nodes, as they are compared at instantiation.
 */
static void graph_order(const struct graph *graph, struct order *order, int begin, int *nodes)
{
    for (int i = 0; i < graph->count; i++) {
        int event = graph->what[i];
        int node = nodes[i] = node_add(order, graph->types[i] == SET ? graph->what[i] : NOTHING);
        comes_after(order, node, begin);
        for (int d = 0; d < i; d++)
            if (graph->edges[i][d])
                comes_after(order, node, nodes[d]);
        if (graph->types[i] == WAIT)
            comes_after(order, node, order->of_event[event]);
        node_check(order, node);
    }
    for (int i = 0; i < graph->count; i++)
        if (graph->types[i] == RECORD)
            order->of_event[graph->what[i]] = nodes[i];
}

static bool races_inside(const struct graph *graph)
{
    static struct order alone;
    int nodes[NODES];
    memset(&alone, 0, sizeof alone);
    for (int e = 0; e < EVENTS; e++)
        alone.of_event[e] = NOTHING;
    graph_order(graph, &alone, NOTHING, nodes);
    return alone.race;
}

/* ---- Programs ---- */

static void follow_stream(struct order *order, int stream, int node)
{
    comes_after(order, node, order->of_stream[stream]);
    order->of_stream[stream] = node;
}

static void launch(struct order *order, const struct graph *graph, int exec, int stream)
{
    int nodes[NODES], begin = node_add(order, NOTHING);
    follow_stream(order, stream, begin);
    comes_after(order, begin, order->of_exec[exec]);
    graph_order(graph, order, begin, nodes);
    int end = node_add(order, NOTHING);
    follow_stream(order, stream, end);
    for (int i = 0; i < graph->count; i++)
        comes_after(order, end, nodes[i]);
    order->of_exec[exec] = end;
    assert_int_equal(cuGraphLaunch(graph->exec, world.streams[stream]), 0);
}

static void step(struct order *order, const struct graph *graphs)
{
    int stream = (int)pick(STREAMS), event = (int)pick(EVENTS), exec = (int)pick(EXECS), node;
    switch (pick(6)) {
    case 0:
        node = node_add(order, (int)pick(RANGES));
        follow_stream(order, stream, node);
        node_check(order, node);
        assert_int_equal(
            cuMemsetD8Async(world.ranges[order->range[node]], 0, 64, world.streams[stream]), 0);
        break;
    case 1:
        order->of_event[event] = order->of_stream[stream];
        assert_int_equal(cuEventRecord(world.events[event], world.streams[stream]), 0);
        break;
    case 2:
    case 3:
        node = node_add(order, NOTHING);
        follow_stream(order, stream, node);
        comes_after(order, node, order->of_event[event]);
        assert_int_equal(cuStreamWaitEvent(world.streams[stream], world.events[event], 0), 0);
        break;
    default:
        launch(order, &graphs[exec], exec, stream);
        break;
    }
}

/* Fresh streams and events: nothing of the program before. */
static void world_make(void)
{
    for (int i = 0; i < STREAMS; i++)
        world.streams[i] = non_blocking();
    for (int i = 0; i < EVENTS; i++)
        world.events[i] = event();
    for (int i = 0; i < RANGES; i++)
        world.ranges[i] = device(64);
}

static void world_end(const struct graph *graphs)
{
    cuCtxSynchronize();
    for (int i = 0; i < EXECS; i++)
        assert_int_equal(cuGraphExecDestroy(graphs[i].exec), 0);
    for (int i = 0; i < STREAMS; i++)
        assert_int_equal(cuStreamDestroy_v2(world.streams[i]), 0);
    for (int i = 0; i < EVENTS; i++)
        assert_int_equal(cuEventDestroy_v2(world.events[i]), 0);
    for (int i = 0; i < RANGES; i++)
        assert_int_equal(cuMemFree_v2(world.ranges[i]), 0);
}

static void random_programs(void **state)
{
    static struct order order;
    struct graph graphs[EXECS];
    int racy = 0, clean = 0;
    for (int program = 0; program < PROGRAMS; program++) {
        seed = (uint64_t)program * 7919 + 1;
        hook_setup(state);
        world_make();
        memset(&order, 0, sizeof order);
        for (int i = 0; i < STREAMS; i++)
            order.of_stream[i] = NOTHING;
        for (int i = 0; i < EVENTS; i++)
            order.of_event[i] = NOTHING;
        for (int i = 0; i < EXECS; i++) {
            order.of_exec[i] = NOTHING;
            do
                graph_make(&graphs[i]); /* its own races are another test's */
            while (races_inside(&graphs[i]));
        }
        csan_races_clear();
        unsigned steps = 2 + pick(STEPS);
        for (unsigned s = 0; s < steps; s++)
            step(&order, graphs);
        if ((races() > 0) != order.race)
            fail_msg("program %d: csan reports %zu, brute force says %d", program, races(),
                     order.race);
        racy += order.race;
        clean += !order.race;
        world_end(graphs);
    }
    assert_true(racy > PROGRAMS / 10 && clean > PROGRAMS / 10);
}

static void races_inside_graphs(void **state)
{
    struct graph graph;
    int racy = 0;
    hook_setup(state);
    world_make();
    for (int round = 0; round < PROGRAMS; round++) {
        seed = (uint64_t)round * 104729 + 5;
        hook_setup(state);
        graph_make(&graph);
        bool expected = races_inside(&graph);
        if ((races() > 0) != expected)
            fail_msg("graph %d: csan reports %zu, brute force says %d", round, races(), expected);
        racy += expected;
        assert_int_equal(cuGraphExecDestroy(graph.exec), 0);
    }
    assert_true(racy > PROGRAMS / 10 && racy < PROGRAMS - PROGRAMS / 10);
}

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    driver.create = (PFN_cuGraphCreate_v10000)dlsym(library, "cuGraphCreate");
    driver.add_record =
        (PFN_cuGraphAddEventRecordNode_v11010)dlsym(library, "cuGraphAddEventRecordNode");
    driver.add_wait = (PFN_cuGraphAddEventWaitNode_v11010)dlsym(library, "cuGraphAddEventWaitNode");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(races_inside_graphs),
        cmocka_unit_test(random_programs),
    };
    return hook_finish(cmocka_run_group_tests(tests, NULL, NULL));
}
