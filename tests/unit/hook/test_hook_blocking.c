/* Option launch_blocking: which launches are waited for, graphs node by node, and that it changes
 * nothing of what is found. Against the fake driver, which notes launches and waits. */
#include "tests/unit/hook/test_hook.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 256 };

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

static const char *(*fake_log)(void);
static void (*fake_fail_wait)(int result);
static CUresult (*graph_create)(CUgraph *graph, unsigned flags); /* csan has no hook on it */

static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry fill(.param .u64 p)\n"
    "{\n.reg .b64 %d<2>;\n.reg .b32 %r<2>;\nld.param.u64 %d1, [p];\nst.global.u32 [%d1], 1;\n"
    "ret;\n}\n"
    ".visible .entry other(.param .u64 p)\n{\nret;\n}\n";

static CUfunction function(const char *name)
{
    static CUmodule module;
    CUfunction found;
    if (!module)
        OK(cuModuleLoadData(&module, module_text));
    OK(cuModuleGetFunction(&found, module, name));
    return found;
}

static CUresult launch(const char *name, CUstream stream, CUdeviceptr p)
{
    return cuLaunchKernel(function(name), 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&p}, NULL);
}

static void log_is(const char *expected)
{
    assert_string_equal(fake_log(), expected);
}

static int setup(void **state)
{
    hook_setup(state);
    fake_log();
    return 0;
}

static void each_launch_is_waited_for(void **state)
{
    (void)state;
    CUstream a = non_blocking();
    OK(launch("fill", a, device(BYTES)));
    log_is("ks");
    for (int i = 0; i < 3; i++) /* also once launches are deferred */
        OK(launch("fill", a, device(BYTES)));
    log_is("ksksks");
}

static void the_wait_orders_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = device(BYTES);
    OK(launch("fill", non_blocking(), p));
    OK(launch("fill", non_blocking(), p));
    assert_int_equal(races(), 1);
}

static void what_is_captured_is_not_waited_for(void **state)
{
    (void)state;
    CUstream a = non_blocking();
    OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    fake_capture(CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(launch("fill", a, device(BYTES)));
    log_is("k");
    fake_capture(CU_STREAM_CAPTURE_STATUS_NONE);
}

static void a_failed_wait_is_the_launch_s_result(void **state)
{
    (void)state;
    CUstream a = non_blocking();
    CUdeviceptr p = device(BYTES);
    CUfunction fill = function("fill");
    fake_fail_wait(CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(launch("fill", a, p), CUDA_ERROR_ILLEGAL_ADDRESS);
    fake_log();
    fake_fail_next(CUDA_ERROR_INVALID_VALUE); /* no launch, no wait */
    assert_int_equal(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, a, (void *[]){&p}, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    log_is("k");
}

/* ---- Graphs ---- */

static CUgraphNode set_node(CUgraph graph, const CUgraphNode *after, size_t count, CUdeviceptr p)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS params = {.dst = p, .elementSize = 1, .width = BYTES, .height = 1};
    OK(cuGraphAddMemsetNode(&node, graph, after, count, &params, NULL));
    return node;
}

static CUgraphNode kernel_node(CUgraph graph, const CUgraphNode *after, size_t count,
                               const char *name, CUdeviceptr *p)
{
    CUgraphNode node;
    void *arguments[] = {p};
    CUDA_KERNEL_NODE_PARAMS params = {.func = function(name),
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = arguments};
    OK(cuGraphAddKernelNode_v2(&node, graph, after, count, &params));
    return node;
}

/* 0 before 1 and 2; 1 is a kernel "fill", 2 "other". */
static CUgraphExec make(CUgraph *graph, CUgraphNode nodes[3])
{
    CUgraphExec exec;
    CUdeviceptr p = device(BYTES), q = device(BYTES);
    OK(graph_create(graph, 0));
    nodes[0] = set_node(*graph, NULL, 0, device(BYTES));
    nodes[1] = kernel_node(*graph, nodes, 1, "fill", &p);
    nodes[2] = kernel_node(*graph, nodes, 1, "other", &q);
    OK(cuGraphInstantiateWithFlags(&exec, *graph, 0));
    fake_log();
    return exec;
}

static void graphs_are_launched_node_by_node(void **state)
{
    (void)state;
    CUgraph graph;
    CUgraphNode nodes[3];
    CUgraphExec exec = make(&graph, nodes);
    CUstream a = non_blocking();
    OK(cuGraphLaunch(exec, a));
    log_is("[0]s[1]s[2]s");
    OK(cuGraphNodeSetEnabled(exec, nodes[1], 0));
    OK(cuGraphLaunch(exec, a));
    log_is("[0]s[2]s");
    OK(cuGraphNodeSetEnabled(exec, nodes[1], 1));
    OK(cuGraphLaunch(exec, a));
    log_is("[0]s[1]s[2]s");
}

static void a_destroyed_graph_stays_for_its_execs(void **state)
{
    (void)state;
    CUgraph graph;
    CUgraphExec second, exec;
    CUgraphNode nodes[3];
    exec = make(&graph, nodes);
    OK(cuGraphInstantiateWithFlags(&second, graph, 0));
    OK(cuGraphDestroy(graph));
    log_is("");
    OK(cuGraphLaunch(exec, non_blocking()));
    log_is("[0]s[1]s[2]s");
    OK(cuGraphExecDestroy(exec));
    log_is("");
    OK(cuGraphLaunch(second, non_blocking()));
    log_is("[0]s[1]s[2]s");
    OK(cuGraphExecDestroy(second));
    log_is("d");
}

static void a_node_s_failure_ends_the_launch(void **state)
{
    (void)state;
    CUgraph graph;
    CUgraphNode nodes[3];
    CUgraphExec exec = make(&graph, nodes);
    fake_fail_wait(CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuGraphLaunch(exec, non_blocking()), CUDA_ERROR_ILLEGAL_ADDRESS);
    log_is("[0]s");
    OK(cuGraphLaunch(exec, non_blocking())); /* as it was */
    log_is("[0]s[1]s[2]s");
}

static void nothing(void *data)
{
    (void)data;
}

static void other_nodes_are_launched_as_a_whole(void **state)
{
    (void)state;
    CUgraph graph;
    CUgraphExec exec;
    OK(graph_create(&graph, 0));
    CUgraphNode first = set_node(graph, NULL, 0, device(BYTES)), second;
    CUDA_HOST_NODE_PARAMS params = {.fn = nothing};
    OK(cuGraphAddHostNode(&second, graph, &first, 1, &params));
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    fake_log();
    OK(cuGraphLaunch(exec, non_blocking()));
    log_is("[01]s");
    OK(cuGraphDestroy(graph));
    log_is("d");
}

static void nodes_that_cannot_be_switched_are_launched_as_a_whole(void **state)
{
    (void)state;
    CUgraph graph;
    CUgraphNode nodes[3];
    CUgraphExec exec = make(&graph, nodes);
    CUstream a = non_blocking();
    fake_fail_next(CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphLaunch(exec, a));
    log_is("[012]s");
}

static void races_with_graphs_stay(void **state)
{
    (void)state;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr p = device(BYTES);
    OK(graph_create(&graph, 0));
    CUgraphNode node = set_node(graph, NULL, 0, device(BYTES));
    set_node(graph, &node, 1, p);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, non_blocking()));
    assert_int_equal(races(), 0);
    OK(launch("fill", non_blocking(), p));
    assert_int_equal(races(), 1);
}

/* ---- kernel:NAME ---- */

static void only_that_kernel_is_waited_for(void **state)
{
    (void)state;
    CUstream a = non_blocking();
    OK(launch("fill", a, device(BYTES)));
    OK(launch("other", a, device(BYTES)));
    log_is("ksk");
}

static void only_graphs_that_have_it_are(void **state)
{
    (void)state;
    CUgraph graph, plain;
    CUgraphNode nodes[3];
    CUgraphExec exec = make(&graph, nodes), other;
    OK(cuGraphLaunch(exec, non_blocking()));
    log_is("[0][1]s[2]");
    OK(graph_create(&plain, 0));
    set_node(plain, NULL, 0, device(BYTES));
    set_node(plain, NULL, 0, device(BYTES));
    OK(cuGraphInstantiateWithFlags(&other, plain, 0));
    OK(cuGraphLaunch(other, non_blocking()));
    log_is("[01]");
}

/* The same program again, for the kernel's name. */
static int run_named(char **argv)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        setenv("CSAN_OPTIONS",
               "symbolize=0:print_summary=0:log_path=/dev/null:launch_blocking=kernel:^fi*l$", 1);
        setenv("BLOCKING_NAMED", "1", 1);
        execv("/proc/self/exe", argv);
        _exit(2);
    }
    waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    (void)argc;
    const char *path = getenv("LD_LIBRARY_PATH");
    const int named = getenv("BLOCKING_NAMED") != NULL;
    const int first = !named && !(path && strcmp(path, FAKE_DRIVER) == 0);
    if (first && run_named(argv) != 0)
        return 1;
    setenv("CSAN_OPTIONS", "symbolize=0:print_summary=0:log_path=/dev/null:launch_blocking=1", 0);
    hook_test_start(argv);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&fake_log = dlsym(driver, "fake_log");
    *(void **)&fake_fail_wait = dlsym(driver, "fake_fail_wait");
    *(void **)&graph_create = dlsym(driver, "cuGraphCreate");
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(each_launch_is_waited_for),
        TEST(the_wait_orders_nothing),
        TEST(what_is_captured_is_not_waited_for),
        TEST(a_failed_wait_is_the_launch_s_result),
        TEST(graphs_are_launched_node_by_node),
        TEST(a_destroyed_graph_stays_for_its_execs),
        TEST(a_node_s_failure_ends_the_launch),
        TEST(other_nodes_are_launched_as_a_whole),
        TEST(nodes_that_cannot_be_switched_are_launched_as_a_whole),
        TEST(races_with_graphs_stay),
    };
    const struct CMUnitTest named_tests[] = {
        TEST(the_wait_orders_nothing),
        TEST(only_that_kernel_is_waited_for),
        TEST(only_graphs_that_have_it_are),
    };
    return hook_finish(
        named ? cmocka_run_group_tests_name("hook_blocking named", named_tests, NULL, NULL)
              : cmocka_run_group_tests_name("hook_blocking", tests, NULL, NULL));
}
