/* Learning from launches of graphs, on the GPU that stands in (hook_gpu.h). */
#include "tests/unit/hook/tracer/hook_gpu.h"

#include <time.h>

/* So many times, each reported before the next. */
static void launch_reported(CUgraphExec exec, CUstream s, int times)
{
    for (int i = 0; i < times; i++) {
        OK(cuGraphLaunch(exec, s));
        wait_reported();
    }
}

/* A kernel that is launched in graphs only: two launches teach it, the third is known. */
static void nodes_are_learned_when_their_graph_is_launched(void **state)
{
    (void)state;
    struct csan_race race;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    touch(q + 16, 4, 4, 16, FAKE_WRITE);
    CUgraphExec exec = graph_of(fresh(), p, q, 1);
    struct fake_changes before = changes();
    launch_reported(exec, s, 2);
    assert_int_equal(changes().traced, before.traced + 2);
    all_done();
    OK(cuGraphLaunch(exec, s));
    wait_reported();
    assert_int_equal(changes().traced, before.traced + 2);
    OK(cuMemsetD8Async(q, 0, 16, t));
    OK(cuMemsetD8Async(q + 80, 0, 432, t));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_int_equal(race.address, q + 16);
    assert_int_equal(race.bytes, 64);
}

/* Nodes of several kernels are traced each by itself, as many as are wanted and there is room for.
 */
static void nodes_of_several_kernels_teach_together(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    CUgraph graph = graph_make();
    CUgraphExec exec;
    touch(q, 4, 4, 16, FAKE_WRITE);
    CUgraphNode node = nodes_add(graph, NULL, fresh(), p, q, 1);
    nodes_add(graph, node, fresh(), p, q, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    struct fake_changes before = changes();
    launch_reported(exec, s, 3);
    assert_int_equal(changes().traced, before.traced + 4);
    all_done();
    OK(cuGraphLaunch(exec, s));
    OK(cuMemsetD8Async(q + 64, 0, 448, t));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(races(), 1);
}

/* What they touch would be in one record. Launches of the kernel by itself teach what they do. */
static void nodes_of_one_kernel_are_not_distinguished(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    CUgraphExec exec = graph_of(f, p, q, 5);
    struct fake_changes before = changes();
    launch_reported(exec, s, 3);
    assert_int_equal(changes().traced, before.traced);
    for (int i = 0; i < 10 && changes().traced < before.traced + 2; i++)
        traced(f, p, q, s);
    assert_int_equal(changes().traced, before.traced + 2);
    all_done();
    OK(cuGraphLaunch(exec, s));
    OK(cuMemsetD8Async(q + 64, 0, 448, t));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(races(), 1);
}

/* The fourth launch by itself would be looked at again. */
static void what_a_graph_was_made_of_stays_as_it_is(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    OK(launch(fresh(), p, q, s)); /* launches are listened to from now on */
    CUfunction f = learned(p, q, s), g = learned(p, q, s), h = learned(p, q, s);
    CUgraphExecUpdateResultInfo info;
    OK(cuStreamSynchronize(s));
    struct fake_changes before = changes();
    busy(1); /* it could be made of patched code, else */
    CUgraphExec exec = graph_of(f, p, q, 1);
    busy(0);
    for (int i = 0; i < 20; i++) {
        assert_false(traced(f, p, q, s));
        OK(cuGraphLaunch(exec, s));
        OK(cuStreamSynchronize(s));
    }
    CUgraph graph = graph_make();
    CUgraphNode node = nodes_add(graph, NULL, g, p, q, 1);
    busy(1);
    OK(cuGraphExecUpdate_v2(exec, graph, &info));
    busy(0);
    CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = h, .kernelParams = (void *[]){&p, &q}};
    OK(cuGraphExecKernelNodeSetParams_v2(exec, node, &params));
    assert_false(traced(g, p, q, s));
    assert_false(traced(h, p, q, s));
    assert_int_equal(changes().patched, before.patched);
    assert_int_equal(changes().forbidden, 0);
}

/* Two kernels of a module that is not patched: one is known, and nothing is of the other. */
static void known_and_other(CUdeviceptr p, CUdeviceptr q, CUstream s, CUfunction *known,
                            CUfunction *other)
{
    CUmodule module;
    OK(launch(fresh(), p, q, s)); /* launches are listened to from now on */
    *known = fresh_in(&module);
    OK(cuModuleGetFunction(other, module, "other"));
    touch(q, 4, 4, 16, FAKE_WRITE);
    assert_true(traced(*known, p, q, s));
    assert_true(traced(*known, p, q, s));
    assert_false(traced(*known, p, q, s));
    OK(cuStreamSynchronize(s));
}

/* The driver cannot be kept waiting for ever. What is patched by then is put back. */
static void a_graph_may_be_made_while_a_module_changes(void **state)
{
    (void)state;
    pthread_t changer;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUfunction f, other;
    known_and_other(p, q, s, &f, &other);
    busy(1);
    assert_false(traced(other, p, q, s)); /* its module is patched when all is done */
    busy(0);
    struct fake_changes before = changes();
    block_changes(1);
    assert_int_equal(pthread_create(&changer, NULL, synchronize, NULL), 0);
    wait_until(changes_blocked);
    CUgraphExec exec = graph_of(f, p, q, 1);
    block_changes(0);
    join(changer);
    busy(1); /* nothing is changed later */
    OK(cuGraphLaunch(exec, s));
    assert_int_equal(changes().patched, before.patched + 1);
    assert_int_equal(changes().unpatched, before.unpatched + 1);
    assert_int_equal(changes().forbidden, 0);
}

struct graph_launch {
    CUgraphExec exec;
    CUstream stream;
};

static void *launch_graph(void *launch)
{
    const struct graph_launch *what = launch;
    return (void *)(uintptr_t)cuGraphLaunch(what->exec, what->stream);
}

/* Another launch may have had a traced node's record. */
static void a_graph_is_traced_alone(void **state)
{
    (void)state;
    pthread_t thread;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUfunction other = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    struct graph_launch traced_one = {graph_of(fresh(), p, q, 1), s};
    struct fake_changes before = changes();
    block_graphs(1);
    assert_int_equal(pthread_create(&thread, NULL, launch_graph, &traced_one), 0);
    wait_until(graphs_blocked);
    const time_t start = time(NULL);
    for (int i = 0; i < 20; i++)
        OK(launch(other, p, q, s)); /* the first waits, but not for ever */
    assert_true(time(NULL) - start < 10);
    block_graphs(0);
    join(thread);
    wait_reported();
    const int traces = changes().traced;
    assert_true(traces > before.traced);
    launch_reported(traced_one.exec, s, 2);
    assert_int_equal(changes().traced, traces + 2); /* that trace taught nothing */
}

static CUgraphExec graph_of_both(CUfunction first, bool ignored, CUfunction second, CUdeviceptr p,
                                 CUdeviceptr q)
{
    CUgraphExec exec;
    CUgraph graph = graph_make();
    if (ignored)
        csan_ignore_begin();
    CUgraphNode node = nodes_add(graph, NULL, first, p, q, 1);
    if (ignored)
        csan_ignore_end();
    nodes_add(graph, node, second, p, q, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

/* To the driver both nodes have one function: a library's kernel and what it is on this device. */
static void records_that_were_shared_are_lost(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    fake_set_parameters(2);
    for (int ignored = 0; ignored < 2; ignored++) {
        OK(launch(fresh(), p, q, s));
        OK(cuLibraryLoadData(&library, machine_code, NULL, NULL, 0, NULL, NULL, 0));
        OK(cuLibraryGetKernel(&kernel, library, ignored ? "shared1" : "shared0"));
        OK(cuKernelGetFunction(&function, kernel));
        touch(q, 4, 4, 16, FAKE_WRITE);
        CUgraphExec exec = graph_of_both((CUfunction)kernel, ignored, function, p, q);
        for (int i = 0; i < 6; i++) {
            OK(cuGraphLaunch(exec, s));
            wait_reported();
        }
        all_done();
        OK(cuGraphLaunch(exec, s));
        OK(cuMemsetD8Async(q, 0, 512, t));
        assert_int_equal(races(), 0);
    }
}

/* The graph that it was made of is gone, as PyTorch's are; the kernel is a library's. */
static void an_exec_outlives_its_graph(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    CUlibrary library;
    CUkernel kernel;
    CUgraphExec exec;
    CUgraph graph = graph_make();
    fake_set_parameters(2);
    OK(launch(fresh(), p, q, s));
    OK(cuLibraryLoadData(&library, machine_code, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "outlives"));
    touch(q, 4, 4, 16, FAKE_WRITE);
    nodes_add(graph, NULL, (CUfunction)kernel, p, q, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    struct fake_changes before = changes();
    launch_reported(exec, s, 3);
    assert_int_equal(changes().traced, before.traced + 2);
    all_done();
    OK(cuGraphLaunch(exec, s));
    OK(cuMemsetD8Async(q + 64, 0, 448, t));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(races(), 1);
    assert_int_equal(changes().forbidden, 0);
}

/* For the kernel of a graph that is known, no longer than that is made. */
static void a_graph_is_made_of_patched_code(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    OK(launch(fresh(), p, q, s));
    CUfunction f = learned(p, q, s);
    OK(cuStreamSynchronize(s));
    struct fake_changes before = changes();
    CUgraphExec exec = graph_of(f, p, q, 1);
    assert_int_equal(changes().patched, before.patched + 1);
    assert_int_equal(changes().unpatched, before.unpatched + 1);
    assert_true(traced(f, p, q, s)); /* it is looked at again as before */
    OK(cuGraphLaunch(exec, s));
    assert_int_equal(changes().forbidden, 0);
}

/* What a kernel touches that a graph alone launches is looked at again, and bounded once it
 * differs, in each graph that it is a node of. */
static void what_nodes_touch_may_change(void **state)
{
    (void)state;
    struct csan_race race;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    CUgraphExec exec, other;
    CUgraph graph = graph_make();
    touch(q, 4, 4, 16, FAKE_WRITE);
    nodes_add(graph, NULL, fresh(), p, q, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphInstantiateWithFlags(&other, graph, 0));
    launch_reported(exec, s, 3);
    OK(cuGraphLaunch(other, s));
    wait_reported();
    struct fake_changes before = changes();
    touch(q + 256, 4, 4, 16, FAKE_WRITE);
    OK(cuStreamSynchronize(s));
    OK(cuGraphLaunch(exec, s)); /* its fourth */
    wait_reported();
    assert_int_equal(changes().traced, before.traced + 1);
    all_done();
    OK(cuGraphLaunch(exec, s));
    OK(cuMemsetD8Async(q + 400, 0, 4, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_true(race.possible);
    all_done();
    OK(cuGraphLaunch(other, s));
    OK(cuMemsetD8Async(q + 400, 0, 4, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_true(race.possible);
    assert_int_equal(changes().forbidden, 0);
}

/* And once it differs where the kernel is launched by itself. */
static void nodes_hear_of_launches_by_themselves(void **state)
{
    (void)state;
    struct csan_race race;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    OK(launch(fresh(), p, q, s));
    CUfunction f = learned(p, q, s);
    OK(cuStreamSynchronize(s));
    CUgraphExec exec = graph_of(f, p, q, 5);
    OK(cuGraphLaunch(exec, s));
    touch(q + 256, 4, 4, 16, FAKE_WRITE);
    assert_true(traced(f, p, q, s));
    all_done();
    OK(cuGraphLaunch(exec, s));
    OK(cuMemsetD8Async(q + 400, 0, 4, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_true(race.possible);
}

/* A graph that is made of patched code may be launched with either. */
static void a_module_is_made_ready_for_its_graph(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    CUmodule module;
    CUfunction f = fresh_in(&module), only;
    OK(cuModuleGetFunction(&only, module, "only"));
    touch(q, 4, 4, 16, FAKE_WRITE);
    assert_true(traced(f, p, q, s));
    assert_true(traced(f, p, q, s));
    assert_false(traced(f, p, q, s));
    OK(cuStreamSynchronize(s));
    struct fake_changes before = changes();
    CUgraphExec exec = graph_of(only, p, q, 1);
    assert_int_equal(changes().patched, before.patched + 1);
    for (int i = 0; i < 3; i++) {
        OK(cuGraphLaunch(exec, s));
        wait_reported();
        OK(cuStreamSynchronize(s));
    }
    assert_int_equal(changes().traced, before.traced + 2);
    assert_int_equal(changes().unpatched, before.unpatched + 1);
    assert_true(traced(f, p, q, s)); /* and looked at again */
    all_done();
    OK(cuGraphLaunch(exec, s));
    OK(cuMemsetD8Async(q + 64, 0, 448, t));
    assert_int_equal(races(), 0);
    assert_int_equal(changes().forbidden, 0);
}

static void node_add_hidden(CUgraph graph, bool conditional)
{
    CUgraphNode node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    if (conditional)
        OK(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params));
    else
        nodes_add(graph, NULL, NULL, 0, 0, 1);
}

/* A kernel's node that the driver does not report; and what the bodies of conditional nodes launch.
 */
static void what_is_not_known_of_a_graph_may_be_any_module_s(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking();
    CUfunction f, other;
    for (int conditional = 0; conditional < 2; conditional++) {
        CUgraphExec exec;
        CUgraph graph = graph_make();
        known_and_other(p, q, s, &f, &other);
        node_add_hidden(graph, conditional);
        nodes_add(graph, NULL, fresh(), p, q, 1); /* it may be among what is hidden */
        OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
        struct fake_changes before = changes();
        for (int i = 0; i < 5; i++) {
            if (conditional)
                OK(cuGraphLaunch(exec, s));
            assert_false(traced(other, p, q, s));
            OK(cuStreamSynchronize(s));
        }
        assert_int_equal(changes().traced, before.traced);
    }
    known_and_other(p, q, s, &f, &other); /* of one that is loaded later */
    for (int i = 0; i < 2; i++)
        traced(other, p, q, s);
    OK(cuStreamSynchronize(s));
    assert_true(traced(other, p, q, s));
}

/* What reached the device all the same is not reported, and csan learns nothing from it. */
static void a_graph_s_launch_that_fails_teaches_nothing(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    touch(q, 4, 4, 16, FAKE_WRITE);
    CUgraphExec exec = graph_of(fresh(), p, q, 1);
    fail_launches(CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cuGraphLaunch(exec, s), CUDA_ERROR_INVALID_VALUE);
        wait_reported();
    }
    fail_launches(0);
    all_done();
    struct fake_changes before = changes();
    for (int i = 0; i < 2000 && changes().traced < before.traced + 2; i++) {
        OK(cuGraphLaunch(exec, s)); /* until its record is given back */
        wait_reported();
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    all_done();
    OK(cuGraphLaunch(exec, s));
    wait_reported();
    assert_int_equal(changes().traced, before.traced + 2);
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(races(), 1);
}

static void what_is_ignored_stays_so(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    CUfunction f = fresh();
    touch(q, 4, 4, 16, FAKE_WRITE);
    csan_ignore_begin();
    CUgraphExec exec = graph_of(f, p, q, 1);
    csan_ignore_end();
    struct fake_changes before = changes();
    launch_reported(exec, s, 3);
    assert_int_equal(changes().traced, before.traced);
    for (int i = 0; i < 2; i++) {
        OK(launch(f, p, q, s));
        wait_reported();
    }
    all_done();
    OK(cuGraphLaunch(exec, s));
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(races(), 0);
}

/* One launch of an exec is ignored, not the exec. */
static void an_ignored_launch_is_all_that_is_ignored(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    touch(q, 4, 4, 16, FAKE_WRITE);
    CUgraphExec exec = graph_of(fresh(), p, q, 1);
    launch_reported(exec, s, 2);
    csan_ignore_begin();
    OK(cuGraphLaunch(exec, s)); /* which would be reported */
    csan_ignore_end();
    all_done();
    OK(cuGraphLaunch(exec, s));
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(races(), 1);
}

/* It touches what none of its pointers leads to, so csan says nothing about it any more. */
static void a_wrong_set_is_withdrawn(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512), other = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    touch(q, 4, 4, 16, FAKE_WRITE);
    CUgraphExec exec = graph_of(fresh(), p, q, 1);
    launch_reported(exec, s, 3);
    all_done();
    OK(cuMemsetD8Async(q, 0, 512, t));
    OK(cuStreamSynchronize(t));
    struct fake_changes before = changes();
    touch(other, 4, 4, 16, FAKE_WRITE);
    OK(cuGraphLaunch(exec, s)); /* its fourth */
    wait_reported();
    assert_int_equal(changes().traced, before.traced + 1);
    all_done();
    OK(cuGraphLaunch(exec, s));
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(races(), 0);
}

/* Whether its code is patched may be as it was when the exec was made: that it touches nothing
 * teaches nothing. */
static void nodes_that_touch_nothing_are_lost(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    touch(q, 4, 4, 0, FAKE_WRITE);
    CUfunction f = fresh();
    CUgraphExec exec = graph_of(f, p, q, 1);
    struct fake_changes before = changes();
    launch_reported(exec, s, 100);
    assert_in_range(changes().traced, before.traced + 8, before.traced + 64); /* not for ever */
    all_done();
    touch(q, 4, 4, 16, FAKE_WRITE);
    before = changes();
    for (int i = 0; i < 2000 && changes().traced < before.traced + 2; i++) {
        OK(launch(f, p, q, s)); /* of itself */
        wait_reported();
        OK(cuStreamSynchronize(s));
    }
    assert_int_equal(changes().traced, before.traced + 2);
    all_done();
    OK(launch(f, p, q, s));
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(races(), 1);
}

/* The exec keeps its nodes' handles: what is learned of the pointers of now is not said of those of
 * then. */
static void a_graph_that_is_updated_has_other_pointers(void **state)
{
    (void)state;
    struct csan_race race;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CUdeviceptr p = device(512), q = device(1024);
    CUstream s = non_blocking(), t = non_blocking();
    CUfunction f = fresh();
    for (int i = 0; i < 2; i++) { /* from the same line */
        CUgraph graph = graph_make();
        nodes_add(graph, NULL, f, p, q + 512 * (CUdeviceptr)i, 1);
        if (exec)
            OK(cuGraphExecUpdate_v2(exec, graph, &info));
        else
            OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    }
    touch(q + 512, 4, 4, 16, FAKE_WRITE);
    launch_reported(exec, s, 3);
    all_done();
    OK(cuGraphLaunch(exec, s));
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(q + 512, 0, 512, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_int_equal(race.address, q + 512);
    all_done();
    touch(q, 4, 4, 16, FAKE_WRITE);
    OK(launch(f, p, q, s));
    wait_reported();
    OK(cuMemsetD8Async(q + 512, 0, 512, t));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(races(), 1);
}

/* More of them than are wanted of one launch. */
static void nodes_that_cannot_be_traced_leave_room_for_others(void **state)
{
    (void)state;
    CUdeviceptr p = device(512), q = device(512);
    CUstream s = non_blocking(), t = non_blocking();
    CUgraphExec exec;
    CUmodule refused;
    CUgraph graph = graph_make();
    CUgraphNode node = NULL;
    touch(q, 4, 4, 16, FAKE_WRITE);
    refuse_patches(1);
    fresh_in(&refused);
    refuse_patches(0);
    for (int i = 0; i < 34; i++) {
        CUfunction f;
        char name[24];
        snprintf(name, sizeof name, "refused%d", i);
        OK(cuModuleGetFunction(&f, refused, name));
        node = nodes_add(graph, node, f, p, q, 1);
    }
    nodes_add(graph, node, fresh(), p, q, 1);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    launch_reported(exec, s, 50);
    all_done();
    OK(cuGraphLaunch(exec, s));
    OK(cuMemsetD8Async(q, 0, 512, t));
    assert_int_equal(races(), 1);
}

#define TEST(name) cmocka_unit_test_setup(name, tracer_setup)

int main(int argc, char **argv)
{
    (void)argc;
    gpu_test_start(argv);
    controls_find();
    const struct CMUnitTest tests[] = {
        TEST(nodes_are_learned_when_their_graph_is_launched),
        TEST(nodes_of_several_kernels_teach_together),
        TEST(nodes_of_one_kernel_are_not_distinguished),
        TEST(what_a_graph_was_made_of_stays_as_it_is),
        TEST(records_that_were_shared_are_lost),
        TEST(an_exec_outlives_its_graph),
        TEST(a_graph_is_made_of_patched_code),
        TEST(what_nodes_touch_may_change),
        TEST(nodes_hear_of_launches_by_themselves),
        TEST(a_module_is_made_ready_for_its_graph),
        TEST(a_graph_s_launch_that_fails_teaches_nothing),
        TEST(what_is_ignored_stays_so),
        TEST(an_ignored_launch_is_all_that_is_ignored),
        TEST(a_wrong_set_is_withdrawn),
        TEST(nodes_that_touch_nothing_are_lost),
        TEST(a_graph_that_is_updated_has_other_pointers),
        TEST(nodes_that_cannot_be_traced_leave_room_for_others),
        TEST(what_is_not_known_of_a_graph_may_be_any_module_s), /* and is from then on */
        TEST(a_graph_is_traced_alone), /* which takes the time there is to learn */
        TEST(a_graph_may_be_made_while_a_module_changes),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_tracer_graph", tests, NULL, NULL));
}
