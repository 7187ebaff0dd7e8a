/* Launches of graphs in the hooks: the ops that they enqueue, and what failing calls leave behind.
 * Against the fake driver, whose graphs do nothing. */
#include "tests/unit/hook/test_hook.h"

#include <cudaTypedefs.h>
#include <dlfcn.h>

enum { BYTES = 256 };

/* csan has no hook on this one. */
static CUgraph graph_create(void)
{
    CUgraph graph;
    PFN_cuGraphCreate_v10000 create =
        (PFN_cuGraphCreate_v10000)dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGraphCreate");
    assert_int_equal(create(&graph, 0), CUDA_SUCCESS);
    return graph;
}

static CUDA_MEMSET_NODE_PARAMS set_params(CUdeviceptr p)
{
    return (CUDA_MEMSET_NODE_PARAMS){.dst = p, .elementSize = 1, .width = BYTES, .height = 1};
}

static CUgraphNode set_node(CUgraph graph, const CUgraphNode *after, size_t count, CUdeviceptr p)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS params = set_params(p);
    assert_int_equal(cuGraphAddMemsetNode(&node, graph, after, count, &params, NULL), CUDA_SUCCESS);
    return node;
}

static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec;
    assert_int_equal(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    return exec;
}

static CUgraphExec exec_of_one(CUdeviceptr p)
{
    CUgraph graph = graph_create();
    set_node(graph, NULL, 0, p);
    return instantiate(graph);
}

static void set(CUstream stream, CUdeviceptr p)
{
    assert_int_equal(cuMemsetD8Async(p, 0, BYTES, stream), CUDA_SUCCESS);
}

static void launch(CUgraphExec exec, CUstream stream)
{
    assert_int_equal(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
}

/* cuda.h calls cuGraphInstantiateWithFlags cuGraphInstantiate, and so may the driver. */
static void a_renamed_function_is_still_followed(void **state)
{
    (void)state;
    void *found = NULL;
    CUdriverProcAddressQueryResult status;
    assert_int_equal(cuGetProcAddress_v2("cuGraphInstantiate", &found, 13000, 0, &status),
                     CUDA_SUCCESS);
    assert_ptr_equal(found, (void *)cuGraphInstantiateWithFlags);
}

static void a_launch_is_work_of_its_stream(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUgraphExec exec = exec_of_one(p);
    CUstream a = non_blocking(), b = non_blocking();
    set(a, p);
    launch(exec, a);
    set(a, p);
    assert_int_equal(races(), 0);
    launch(exec, b);
    assert_int_equal(races(), 1);
}

static void a_failed_launch_touches_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUgraphExec exec = exec_of_one(p);
    CUstream a = non_blocking();
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphLaunch(exec, a), CUDA_ERROR_INVALID_VALUE);
    set(non_blocking(), p);
    assert_int_equal(races(), 0);
    launch(exec, non_blocking()); /* and the exec is still known */
    assert_int_equal(races(), 1);
}

static void a_failed_instantiation_is_none(void **state)
{
    (void)state;
    CUgraph graph = graph_create();
    CUgraphExec exec;
    CUdeviceptr p = device(BYTES);
    set_node(graph, NULL, 0, p);
    set_node(graph, NULL, 0, p);
    fake_fail_next(CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(races(), 0);
    instantiate(graph);
    assert_int_equal(races(), 1);
}

static void a_failed_destroy_leaves_the_exec(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUgraphExec exec = exec_of_one(p);
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphExecDestroy(exec), CUDA_ERROR_INVALID_VALUE);
    launch(exec, non_blocking());
    set(non_blocking(), p);
    assert_int_equal(races(), 1);
}

/* The driver would refuse it; its result is passed on, and nothing is enqueued. */
static void a_destroyed_exec_is_forgotten(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES), q = device(BYTES);
    CUgraphExec exec = exec_of_one(p);
    assert_int_equal(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    launch(exec, non_blocking());
    set(non_blocking(), p);
    assert_int_equal(races(), 0);
    fake_reuse_handle(exec); /* the handle names another one now */
    assert_ptr_equal(exec_of_one(q), exec);
    launch(exec, non_blocking());
    set(non_blocking(), p);
    assert_int_equal(races(), 1); /* p's two sets */
    set(non_blocking(), q);
    assert_int_equal(races(), 2);
}

static void an_update_that_fails_changes_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES), q = device(BYTES);
    CUgraph graph = graph_create(), other = graph_create();
    CUgraphNode node = set_node(graph, NULL, 0, p);
    set_node(other, NULL, 0, q);
    CUgraphExec exec = instantiate(graph);
    CUgraphExecUpdateResultInfo info;
    CUDA_MEMSET_NODE_PARAMS params = set_params(q);
    fake_fail_next(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    assert_int_equal(cuGraphExecUpdate_v2(exec, other, &info),
                     CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphExecMemsetNodeSetParams(exec, node, &params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    CUstream a = non_blocking(), b = non_blocking();
    launch(exec, a);
    set(b, q);
    assert_int_equal(races(), 0);
    assert_int_equal(cuGraphExecMemsetNodeSetParams(exec, node, &params, NULL), CUDA_SUCCESS);
    launch(exec, a);
    assert_int_equal(races(), 1);
    assert_int_equal(cuGraphExecUpdate_v2(exec, graph, &info), CUDA_SUCCESS); /* p again */
    launch(exec, b);
    assert_int_equal(races(), 1); /* ordered behind the exec's launches in the other stream */
}

static void launches_of_one_exec_follow_each_other(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUgraph graph = graph_create();
    set_node(graph, NULL, 0, p);
    CUgraphExec one = instantiate(graph), other = instantiate(graph);
    launch(one, non_blocking());
    launch(one, non_blocking());
    assert_int_equal(races(), 0);
    launch(other, non_blocking());
    assert_int_equal(races(), 1);
}

static void races_inside_are_reported_once(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUgraph graph = graph_create();
    CUgraphNode first = set_node(graph, NULL, 0, device(BYTES));
    set_node(graph, &first, 1, p);
    set_node(graph, &first, 1, p);
    CUgraphExec exec = instantiate(graph);
    assert_int_equal(races(), 1);
    CUstream a = non_blocking();
    for (int i = 0; i < 10; i++)
        launch(exec, a);
    assert_int_equal(races(), 1);
}

static void what_is_switched_off_touches_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUgraph graph = graph_create();
    CUgraphNode node = set_node(graph, NULL, 0, p);
    CUgraphExec exec = instantiate(graph);
    assert_int_equal(cuGraphNodeSetEnabled(exec, node, 0), CUDA_SUCCESS);
    launch(exec, non_blocking());
    set(non_blocking(), p);
    assert_int_equal(races(), 0);
}

/* A driver may run host functions within the call that launches them. */
static void CUDA_CB write_there(void *data)
{
    csan_host_writes(data, BYTES);
}

static void a_host_node_has_its_place_in_each_launch(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUgraph graph = graph_create();
    CUgraphNode first = set_node(graph, NULL, 0, p), node;
    CUDA_HOST_NODE_PARAMS params = {write_there, (void *)(uintptr_t)p}, reported;
    assert_int_equal(cuGraphAddHostNode(&node, graph, &first, 1, &params), CUDA_SUCCESS);
    set_node(graph, &node, 1, p);
    assert_int_equal(cuGraphHostNodeGetParams(node, &reported), CUDA_SUCCESS);
    assert_ptr_equal(reported.fn, write_there);
    assert_ptr_equal(reported.userData, (void *)(uintptr_t)p);
    CUgraphExec exec = instantiate(graph);
    CUstream a = non_blocking();
    for (int i = 0; i < 3; i++)
        launch(exec, a);
    assert_int_equal(races(), 0);
    fake_fail_next(CUDA_ERROR_INVALID_VALUE); /* its call will never come */
    assert_int_equal(cuGraphLaunch(exec, a), CUDA_ERROR_INVALID_VALUE);
    launch(exec, a);
    set(a, p);
    assert_int_equal(races(), 0);
}

/* Six places, more than are remembered at once, each again later. */
#define PLACE(n)                                                                                   \
    __attribute__((noinline)) static void launch_at_##n(CUgraphExec exec, CUstream stream)         \
    {                                                                                              \
        cuGraphLaunch(exec, stream);                                                               \
        __asm__ volatile("" : : "i"(n)); /* no tail call, and unlike the others */                 \
    }
PLACE(0)
PLACE(1)
PLACE(2)
PLACE(3)
PLACE(4)
PLACE(5)

static void a_race_has_the_call_that_launched_the_graph(void **state)
{
    enum { PLACES = 6 };
    static void (*const places[PLACES])(CUgraphExec exec, CUstream stream) = {
        launch_at_0, launch_at_1, launch_at_2, launch_at_3, launch_at_4, launch_at_5};
    static const int turns[] = {0, 1, 0, 1, 2, 3, 4, 5, 0, 5, 2, 2};
    const void *returns[PLACES] = {NULL};
    (void)state;
    CUdeviceptr p = device(BYTES);
    CUgraphExec exec = exec_of_one(p);
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        struct csan_race race;
        const uint64_t mark = csan_race_mark();
        CUstream a = non_blocking(), b = non_blocking();
        places[turns[i]](exec, a);
        set(b, p);
        assert_int_equal(cuCtxSynchronize(), CUDA_SUCCESS);
        if (csan_races_since(mark, &race, 1) == 0)
            continue; /* known from these places */
        assert_true(race.previous.launch_frame_count > 0);
        const void *found = race.previous.launch_frames[0];
        assert_null(returns[turns[i]]);
        for (int k = 0; k < PLACES; k++)
            assert_ptr_not_equal(returns[k], found);
        returns[turns[i]] = found;
    }
    for (int k = 0; k < PLACES; k++)
        assert_non_null(returns[k]);
}

#define TEST(name) cmocka_unit_test_setup(name, hook_setup)

int main(int argc, char **argv)
{
    (void)argc;
    hook_test_start(argv);
    const struct CMUnitTest tests[] = {
        TEST(a_renamed_function_is_still_followed),
        TEST(a_launch_is_work_of_its_stream),
        TEST(a_failed_launch_touches_nothing),
        TEST(a_failed_instantiation_is_none),
        TEST(a_failed_destroy_leaves_the_exec),
        TEST(a_destroyed_exec_is_forgotten),
        TEST(an_update_that_fails_changes_nothing),
        TEST(launches_of_one_exec_follow_each_other),
        TEST(races_inside_are_reported_once),
        TEST(what_is_switched_off_touches_nothing),
        TEST(a_host_node_has_its_place_in_each_launch),
        TEST(a_race_has_the_call_that_launched_the_graph),
    };
    return hook_finish(cmocka_run_group_tests(tests, NULL, NULL));
}
