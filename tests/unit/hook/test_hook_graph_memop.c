/* Memory operations and external semaphores as nodes of graphs: what they order, in one launch and
 * between launches. At the end random graphs against brute force. */
#include "tests/unit/hook/test_hook.h"

#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { BYTES = 256, GRAPHS = 3000, NODES = 10, RANGES = 3, WORDS = 3 };

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

static CUdeviceptr word; /* of this test */

static int setup(void **state)
{
    const int failed = hook_setup(state);
    word = device(BYTES);
    return failed;
}

static CUgraph graph_create(void)
{
    CUgraph graph;
    PFN_cuGraphCreate_v10000 create =
        (PFN_cuGraphCreate_v10000)dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGraphCreate");
    OK(create(&graph, 0));
    return graph;
}

static CUgraphNode set_node(CUgraph graph, const CUgraphNode *after, size_t count, CUdeviceptr p)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS params = {.dst = p, .elementSize = 1, .width = 64, .height = 1};
    OK(cuGraphAddMemsetNode(&node, graph, after, count, &params, NULL));
    return node;
}

static CUstreamBatchMemOpParams writes(CUdeviceptr address, uint32_t value)
{
    return (CUstreamBatchMemOpParams){.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
                                                     .address = address,
                                                     .value = value}};
}

static CUstreamBatchMemOpParams waits(CUdeviceptr address, uint32_t value)
{
    return (CUstreamBatchMemOpParams){.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32,
                                                    .address = address,
                                                    .value = value,
                                                    .flags = CU_STREAM_WAIT_VALUE_GEQ}};
}

static CUgraphNode memop_node(CUgraph graph, const CUgraphNode *after, size_t count,
                              CUstreamBatchMemOpParams operation)
{
    CUgraphNode node;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.count = 1, .paramArray = &operation};
    OK(cuGraphAddBatchMemOpNode(&node, graph, after, count, &params));
    return node;
}

static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static void launch(CUgraph graph, CUstream stream)
{
    OK(cuGraphLaunch(instantiate(graph), stream));
}

static void set(CUstream stream, CUdeviceptr p)
{
    OK(cuMemsetD8Async(p, 0, 64, stream));
}

/* ---- One launch and streams ---- */

static void a_write_releases_what_comes_before_its_node(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUstream a = non_blocking(), b = non_blocking();
    CUgraph graph = graph_create();
    CUgraphNode first = set_node(graph, NULL, 0, p);
    set_node(graph, NULL, 0, p + 64);
    memop_node(graph, &first, 1, writes(word, 1));
    launch(graph, a);
    OK(cuStreamWaitValue32_v2(b, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
    set(b, p);
    assert_int_equal(races(), 0);
    set(b, p + 64); /* of a node that the write does not wait for */
    assert_int_equal(races(), 1);
}

static void a_wait_holds_back_what_comes_after_its_node(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUstream a = non_blocking(), b = non_blocking();
    CUgraph graph = graph_create();
    CUgraphNode wait = memop_node(graph, NULL, 0, waits(word, 1));
    set_node(graph, &wait, 1, p);
    set_node(graph, NULL, 0, p + 64);
    launch(graph, b);
    set(a, p);
    set(a, p + 64);
    OK(cuStreamWriteValue32_v2(a, word, 1, 0));
    OK(cuStreamSynchronize(b));
    assert_int_equal(races(), 1); /* of the node that does not wait */
}

static void a_wait_that_nobody_satisfied_ends_with_the_stream(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUstream a = non_blocking(), b = non_blocking();
    CUgraph graph = graph_create();
    CUgraphNode wait = memop_node(graph, NULL, 0, waits(word, 1));
    set_node(graph, &wait, 1, p);
    set(a, p);
    launch(graph, b);
    OK(cuStreamSynchronize(b)); /* so a kernel or the host wrote it */
    assert_int_equal(races(), 1);
}

static void a_node_of_several_operations_does_them_in_order(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUstream a = non_blocking(), b = non_blocking(), c = non_blocking();
    CUgraph graph = graph_create();
    CUstreamBatchMemOpParams operations[2] = {waits(word, 1), writes(word + 8, 1)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.count = 2, .paramArray = operations};
    CUgraphNode node;
    OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    launch(graph, b);
    set(a, p);
    OK(cuStreamWriteValue32_v2(a, word, 1, 0));
    OK(cuStreamWaitValue32_v2(c, word + 8, 1, CU_STREAM_WAIT_VALUE_GEQ));
    set(c, p);
    assert_int_equal(races(), 0);
}

static void other_parameters_are_another_word(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUstream a = non_blocking(), b = non_blocking();
    CUgraph graph = graph_create();
    CUgraphNode first = set_node(graph, NULL, 0, p);
    CUgraphNode node = memop_node(graph, &first, 1, writes(word, 1));
    CUgraphExec exec = instantiate(graph);
    CUstreamBatchMemOpParams other = writes(word + 8, 1);
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.count = 1, .paramArray = &other};
    OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    OK(cuGraphLaunch(exec, a));
    OK(cuStreamWaitValue32_v2(b, word + 8, 1, CU_STREAM_WAIT_VALUE_GEQ));
    set(b, p);
    assert_int_equal(races(), 0);
}

static void semaphores_of_nodes_order_as_those_of_streams(void **state)
{
    (void)state;
    CUexternalSemaphore semaphore = (CUexternalSemaphore)(uintptr_t)(word + 1024);
    CUdeviceptr p = device(BYTES);
    CUstream a = non_blocking(), b = non_blocking();
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {.params.fence.value = 3};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = 3};
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signals = {&semaphore, &signal, 1};
    CUDA_EXT_SEM_WAIT_NODE_PARAMS waiting = {&semaphore, &wait, 1};
    CUgraph first = graph_create(), second = graph_create();
    CUgraphNode before = set_node(first, NULL, 0, p), node;
    OK(cuGraphAddExternalSemaphoresSignalNode(&node, first, &before, 1, &signals));
    OK(cuGraphAddExternalSemaphoresWaitNode(&node, second, NULL, 0, &waiting));
    set_node(second, &node, 1, p);
    set_node(second, NULL, 0, p + 64);
    set(a, p + 64);
    launch(first, a);
    launch(second, b);
    OK(cuCtxSynchronize());
    assert_int_equal(races(), 1); /* of the node that does not wait */
}

/* The exec's own checks order too much rather than too little; launches are followed exactly. */
static void the_value_of_an_earlier_launch_orders_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUstream a = non_blocking();
    CUgraph graph = graph_create();
    CUgraphNode wait = memop_node(graph, NULL, 0, waits(word, 1));
    set_node(graph, &wait, 1, p);
    CUgraphNode first = set_node(graph, NULL, 0, p);
    memop_node(graph, &first, 1, writes(word, 1));
    CUgraphExec exec = instantiate(graph);
    assert_int_equal(races(), 0);
    OK(cuGraphLaunch(exec, a));
    assert_int_equal(races(), 0);
    OK(cuGraphLaunch(exec, a));
    assert_int_equal(races(), 1);
}

static void a_set_in_the_graph_takes_the_value_away(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUstream a = non_blocking();
    CUgraph graph = graph_create();
    CUgraphNode clear = set_node(graph, NULL, 0, word);
    CUgraphNode wait = memop_node(graph, &clear, 1, waits(word, 1));
    set_node(graph, &wait, 1, p);
    CUgraphNode first = set_node(graph, &clear, 1, p);
    memop_node(graph, &first, 1, writes(word, 1));
    CUgraphExec exec = instantiate(graph);
    for (int i = 0; i < 4; i++)
        OK(cuGraphLaunch(exec, a));
    OK(cuCtxSynchronize());
    assert_int_equal(races(), 0);
}

/* All waits come first then, and all writes last: too much order, and no false race. */
static void more_nodes_than_a_mask_holds(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUstream a = non_blocking(), b = non_blocking();
    CUgraph graph = graph_create();
    CUgraphNode last = set_node(graph, NULL, 0, p);
    for (uint32_t i = 1; i <= 80; i++)
        last = memop_node(graph, &last, 1, writes(word, i));
    launch(graph, a);
    OK(cuStreamWaitValue32_v2(b, word, 80, CU_STREAM_WAIT_VALUE_GEQ));
    set(b, p);
    assert_int_equal(races(), 0);
}

/* Each waits for what the other one writes: that never ends, and csan does. */
static void waits_for_each_other(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUgraph graph = graph_create();
    CUgraphNode one = memop_node(graph, NULL, 0, waits(word, 1));
    CUgraphNode other = memop_node(graph, NULL, 0, waits(word + 8, 1));
    memop_node(graph, &one, 1, writes(word + 8, 1));
    memop_node(graph, &other, 1, writes(word, 1));
    set_node(graph, &one, 1, p);
    instantiate(graph);
    assert_int_equal(races(), 0);
}

/* ---- Random graphs -------------------------------------------------------------------------- */

static uint64_t seed = 1;
static unsigned pick(unsigned below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % below;
}

struct plan {
    struct {
        enum { SET, WRITE, WAIT } what;
        unsigned place; /* range or word */
    } nodes[NODES];
    bool edges[NODES][NODES]; /* from, to */
};

/* Each word has at most one writer, and no wait comes before it by edges. */
static struct plan any_plan(void)
{
    struct plan plan = {0};
    bool written[WORDS] = {false};
    for (unsigned i = 0; i < NODES; i++) {
        plan.nodes[i].what = pick(3);
        plan.nodes[i].place = pick(plan.nodes[i].what == SET ? RANGES : WORDS);
        if (plan.nodes[i].what == WRITE && written[plan.nodes[i].place])
            plan.nodes[i].what = WAIT;
        written[plan.nodes[i].place % WORDS] |= plan.nodes[i].what == WRITE;
        for (unsigned k = 0; k < i; k++)
            plan.edges[k][i] = pick(4) == 0;
    }
    return plan;
}

static void close_over(bool order[NODES][NODES])
{
    for (int k = 0; k < NODES; k++)
        for (int i = 0; i < NODES; i++)
            for (int j = 0; j < NODES; j++)
                order[i][j] |= order[i][k] && order[k][j];
}

static bool has_cycle(bool order[NODES][NODES])
{
    for (int i = 0; i < NODES; i++)
        if (order[i][i])
            return true;
    return false;
}

/* False: a wait would never end. */
static bool order_of(const struct plan *plan, bool order[NODES][NODES])
{
    memcpy(order, plan->edges, sizeof plan->edges);
    for (int i = 0; i < NODES; i++) {
        bool written = false;
        for (int k = 0; plan->nodes[i].what == WAIT && k < NODES; k++)
            if (plan->nodes[k].what == WRITE && plan->nodes[k].place == plan->nodes[i].place)
                order[k][i] = written = true;
        if (plan->nodes[i].what == WAIT && !written)
            return false;
    }
    close_over(order);
    return !has_cycle(order);
}

static bool races_by_brute_force(const struct plan *plan, bool order[NODES][NODES])
{
    for (int i = 0; i < NODES; i++)
        for (int k = 0; k < i; k++)
            if (plan->nodes[i].what == SET && plan->nodes[k].what == SET &&
                plan->nodes[i].place == plan->nodes[k].place && !order[i][k] && !order[k][i])
                return true;
    return false;
}

static CUgraph graph_of(const struct plan *plan, CUdeviceptr ranges, uint32_t value)
{
    CUgraph graph = graph_create();
    CUgraphNode nodes[NODES], after[NODES];
    for (int i = 0; i < NODES; i++) {
        const CUdeviceptr at = word + 8 * plan->nodes[i].place;
        size_t count = 0;
        for (int k = 0; k < i; k++)
            if (plan->edges[k][i])
                after[count++] = nodes[k];
        nodes[i] =
            plan->nodes[i].what == SET
                ? set_node(graph, after, count, ranges + 64 * plan->nodes[i].place)
                : memop_node(graph, after, count,
                             plan->nodes[i].what == WRITE ? writes(at, value) : waits(at, value));
    }
    return graph;
}

static void random_graphs(void **state)
{
    const CUdeviceptr ranges = device(BYTES);
    CUstream stream = non_blocking();
    size_t racy = 0, right = 0;
    for (uint32_t round = 1; round <= GRAPHS; round++) {
        bool order[NODES][NODES];
        const uint64_t from = seed;
        const struct plan plan = any_plan();
        if (!order_of(&plan, order))
            continue;
        hook_setup(state);
        launch(graph_of(&plan, ranges, round), stream);
        OK(cuStreamSynchronize(stream));
        const bool wanted = races_by_brute_force(&plan, order);
        if ((races() > 0) != wanted)
            fail_msg("seed %llu: %zu races, brute force says %d", (unsigned long long)from, races(),
                     wanted);
        racy += wanted;
        right += !wanted;
    }
    assert_true(racy > 50 && right > 50);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        TEST(a_write_releases_what_comes_before_its_node),
        TEST(a_wait_holds_back_what_comes_after_its_node),
        TEST(a_wait_that_nobody_satisfied_ends_with_the_stream),
        TEST(a_node_of_several_operations_does_them_in_order),
        TEST(other_parameters_are_another_word),
        TEST(semaphores_of_nodes_order_as_those_of_streams),
        TEST(the_value_of_an_earlier_launch_orders_nothing),
        TEST(a_set_in_the_graph_takes_the_value_away),
        TEST(more_nodes_than_a_mask_holds),
        TEST(waits_for_each_other),
        TEST(random_graphs),
    };
    return hook_finish(cmocka_run_group_tests(tests, NULL, NULL));
}
