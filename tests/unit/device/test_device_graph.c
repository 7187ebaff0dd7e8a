/* Graphs of the embedded device: what runs, in which orders, and the driver's own error for what
 * is not allowed. */
#include "tests/unit/device/device_graph.h"

/* ---- Graphs by hand -------------------------------------------------------------------------- */

static void answers_questions(void **state)
{
    (void)state;
    CUgraph graph, other;
    CUgraphNode nodes[3], found[4], from[4], to[4];
    CUgraphNodeType type;
    size_t count;
    ok(cuGraphCreate(&graph, 0));
    ok(cuGraphCreate(&other, 0));
    assert_int_equal(cuGraphCreate(&other, 1), CUDA_ERROR_INVALID_VALUE);
    nodes[0] = set_node(graph, NULL, 0, p, 1);
    nodes[1] = set_node(graph, nodes, 1, q, 1);
    ok(cuGraphAddEmptyNode(&nodes[2], graph, nodes, 2));
    count = 4;
    ok(cuGraphGetNodes(graph, found, &count));
    assert_int_equal(count, 3);
    assert_ptr_equal(found[2], nodes[2]);
    assert_null(found[3]);
    count = 4;
    ok(cuGraphGetEdges(graph, from, to, NULL, &count));
    assert_int_equal(count, 3);
    count = 4;
    ok(cuGraphNodeGetDependencies(nodes[2], found, NULL, &count));
    assert_int_equal(count, 2);
    count = 4;
    ok(cuGraphNodeGetDependentNodes(nodes[0], found, NULL, &count));
    assert_int_equal(count, 2);
    ok(cuGraphNodeGetType(nodes[0], &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_MEMSET);
    CUgraphNode twice[] = {nodes[0], nodes[0]}, node;
    assert_int_equal(cuGraphAddEmptyNode(&node, graph, twice, 2), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphAddEmptyNode(&node, other, nodes, 1), CUDA_ERROR_INVALID_VALUE);
    /* a cycle is found when it is to run; an edge that is there, one that is not */
    CUgraphExec exec;
    ok(cuGraphAddDependencies(graph, &nodes[2], &nodes[0], NULL, 1));
    assert_int_equal(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphRemoveDependencies(graph, &nodes[2], &nodes[0], NULL, 1));
    assert_int_equal(cuGraphAddDependencies(graph, &nodes[0], &nodes[0], NULL, 1),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphAddDependencies(graph, &nodes[0], &nodes[1], NULL, 1),
                     CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphRemoveDependencies(graph, &nodes[0], &nodes[1], NULL, 1));
    assert_int_equal(cuGraphRemoveDependencies(graph, &nodes[0], &nodes[1], NULL, 1),
                     CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphDestroyNode(nodes[1]));
    assert_int_equal(cuGraphNodeGetType(nodes[1], &type), CUDA_ERROR_INVALID_VALUE);
    count = 4;
    ok(cuGraphNodeGetDependencies(nodes[2], found, NULL, &count));
    assert_int_equal(count, 1);
    CUDA_MEMSET_NODE_PARAMS params;
    ok(cuGraphMemsetNodeGetParams(nodes[0], &params));
    assert_int_equal(params.dst, p);
    assert_int_equal(params.width, WORDS);
    ok(cuGraphDestroy(other));
    ok(cuGraphDestroy(graph));
    assert_int_equal(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphGetNodes(graph, NULL, &count), CUDA_ERROR_INVALID_VALUE);
}

static void refuses_what_it_lacks(void **state)
{
    (void)state;
    CUgraph graph;
    CUgraphExec exec;
    ok(cuGraphCreate(&graph, 0));
    assert_int_equal(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
                     CUDA_ERROR_NOT_SUPPORTED);
    ok(cuGraphDestroy(graph));
    assert_int_equal(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
}

/* The order of two nodes without an edge is the scheduler's; with one it is not. */
static void runs_nodes_in_every_legal_order(void **state)
{
    (void)state;
    bool seen[2] = {false, false};
    CUgraph graph;
    ok(cuGraphCreate(&graph, 0));
    CUgraphNode first = note_node(graph, NULL, 0, "<");
    CUgraphNode middle[] = {note_node(graph, &first, 1, "a"), note_node(graph, &first, 1, "b")};
    note_node(graph, middle, 2, ">");
    CUgraphExec exec = instantiate(graph);
    for (int seed = 0; seed < 40 && !(seen[0] && seen[1]); seed++) {
        char name[32];
        snprintf(name, sizeof name, "random:%d", seed);
        assert_int_equal(device_schedule_set(name), 0);
        reported_clear();
        ok(cuGraphLaunch(exec, a));
        ok(cuStreamSynchronize(a));
        if (!strcmp(reported.text, "<ab>"))
            seen[0] = true;
        else if (!strcmp(reported.text, "<ba>"))
            seen[1] = true;
        else
            fail_msg("an order that the edges forbid: %s", reported.text);
    }
    assert_true(seen[0] && seen[1]);
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
    assert_int_equal(device_schedule_set(test_schedule()), 0);
}

/* Launches of one exec follow one another in whatever streams; those of two may mix. */
static void an_exec_never_overlaps_itself(void **state)
{
    (void)state;
    CUgraph graph;
    bool mixed = false;
    ok(cuGraphCreate(&graph, 0));
    CUgraphNode first = note_node(graph, NULL, 0, "<");
    note_node(graph, &first, 1, ">");
    CUgraphExec exec = instantiate(graph), second = instantiate(graph);
    for (int seed = 0; seed < 40; seed++) {
        char name[32];
        snprintf(name, sizeof name, "random:%d", seed);
        assert_int_equal(device_schedule_set(name), 0);
        reported_clear();
        ok(cuGraphLaunch(exec, a));
        ok(cuGraphLaunch(exec, b));
        ok(cuGraphLaunch(exec, a));
        ok(cuCtxSynchronize());
        assert_string_equal(reported.text, "<><><>");
        reported_clear();
        ok(cuGraphLaunch(exec, a));
        ok(cuGraphLaunch(second, b));
        ok(cuCtxSynchronize());
        mixed |= !strncmp(reported.text, "<<", 2);
    }
    assert_true(mixed);
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphExecDestroy(second));
    ok(cuGraphDestroy(graph));
    assert_int_equal(device_schedule_set(test_schedule()), 0);
}

static void runs_child_graphs_and_clones(void **state)
{
    (void)state;
    CUgraph graph, child, clone, inner;
    CUgraphNode node, twin, last;
    CUDA_HOST_NODE_PARAMS params;
    ok(cuGraphCreate(&graph, 0));
    ok(cuGraphCreate(&child, 0));
    CUgraphNode in_child = note_node(child, NULL, 0, "1");
    note_node(child, &in_child, 1, "2");
    CUgraphNode first = note_node(graph, NULL, 0, "<");
    ok(cuGraphAddChildGraphNode(&node, graph, &first, 1, child));
    ok(cuGraphDestroy(child)); /* the node has a copy */
    last = note_node(graph, &node, 1, ">");
    ok(cuGraphChildGraphNodeGetGraph(node, &inner));
    assert_int_equal(cuGraphDestroy(inner), CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphClone(&clone, graph));
    ok(cuGraphNodeFindInClone(&twin, last, clone));
    assert_int_equal(cuGraphNodeFindInClone(&node, twin, clone), CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphHostNodeGetParams(twin, &params));
    assert_string_equal(params.userData, ">");
    ok(cuGraphDestroy(graph));
    CUgraphExec exec = instantiate(clone);
    ok(cuGraphDestroy(clone));
    reported_clear();
    ok(cuGraphLaunch(exec, a));
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    assert_string_equal(reported.text, "<12><12>");
    ok(cuGraphExecDestroy(exec));
}

static void updates_execs(void **state)
{
    (void)state;
    CUgraph graph, other;
    CUgraphExecUpdateResultInfo info;
    unsigned enabled = 9;
    ok(cuGraphCreate(&graph, 0));
    CUgraphNode first = set_node(graph, NULL, 0, p, 1);
    CUgraphExec exec = instantiate(graph);
    CUDA_MEMSET_NODE_PARAMS params = {
        .dst = p, .value = 2, .elementSize = 4, .width = WORDS, .height = 1};
    ok(cuGraphExecMemsetNodeSetParams(exec, first, &params, context));
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    assert_int_equal(word(p), 2);
    params.value = 3;
    ok(cuGraphMemsetNodeSetParams(first, &params)); /* of the graph, not of the exec */
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    assert_int_equal(word(p), 2);
    ok(cuGraphExecUpdate(exec, graph, &info));
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    assert_int_equal(word(p), 3);
    ok(cuGraphNodeSetEnabled(exec, first, 0));
    ok(cuGraphNodeGetEnabled(exec, first, &enabled));
    assert_int_equal(enabled, 0);
    ok(cuMemsetD32(p, 4, WORDS));
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    assert_int_equal(word(p), 4);
    ok(cuGraphCreate(&other, 0));
    CUgraphNode in_other = note_node(other, NULL, 0, "x");
    assert_int_equal(cuGraphExecUpdate(exec, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    assert_ptr_equal(info.errorNode, in_other);
    set_node(graph, &first, 1, q, 1);
    assert_int_equal(cuGraphExecUpdate(exec, graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    assert_int_equal(cuGraphExecMemsetNodeSetParams(exec, in_other, &params, context),
                     CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphDestroy(other));
    ok(cuGraphDestroy(graph));
    ok(cuGraphExecDestroy(exec));
    assert_int_equal(cuGraphLaunch(exec, a), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphExecDestroy(exec), CUDA_ERROR_INVALID_VALUE);
}

static void records_and_awaits_events(void **state)
{
    (void)state;
    CUgraph graph, waiting;
    CUgraphNode record, wait;
    CUevent done = event();
    ok(cuGraphCreate(&graph, 0));
    CUgraphNode first = set_node(graph, NULL, 0, p, 6);
    ok(cuGraphAddEventRecordNode(&record, graph, &first, 1, done));
    ok(cuGraphCreate(&waiting, 0));
    ok(cuGraphAddEventWaitNode(&wait, waiting, NULL, 0, done));
    CUgraphNode copy;
    CUDA_MEMCPY3D what = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = q,
                          .WidthInBytes = BYTES,
                          .Height = 1,
                          .Depth = 1};
    ok(cuGraphAddMemcpyNode(&copy, waiting, &wait, 1, &what, context));
    CUgraphExec exec = instantiate(graph), second = instantiate(waiting);
    ok(cuGraphLaunch(exec, a));
    ok(cuGraphLaunch(second, b));
    ok(cuStreamSynchronize(b));
    assert_int_equal(word(q), 6);
    ok(cuEventSynchronize(done));
    ok(cuEventDestroy(done));
    assert_int_equal(cuGraphLaunch(exec, a), CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphExecDestroy(second));
    ok(cuGraphDestroy(graph));
    ok(cuGraphDestroy(waiting));
}

static void allocates_memory(void **state)
{
    (void)state;
    CUgraph graph, clone;
    CUgraphNode node;
    CUgraphExec exec, second;
    CUdeviceptr memory, kept;
    begin(a);
    ok(cuMemAllocAsync(&memory, BYTES, a));
    ok(cuMemsetD32Async(memory, 8, WORDS, a));
    ok(cuMemcpyDtoDAsync(p, memory, BYTES, a));
    ok(cuMemFreeAsync(memory, a));
    ok(cuStreamEndCapture(a, &graph));
    exec = instantiate(graph);
    assert_int_equal(cuGraphInstantiate(&second, graph, 0), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cuGraphClone(&clone, graph), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cuGraphAddMemFreeNode(&node, graph, NULL, 0, memory),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphAddMemFreeNode(&node, graph, NULL, 0, p), CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphLaunch(exec, a));
    ok(cuGraphLaunch(exec, b));
    ok(cuStreamSynchronize(b));
    assert_int_equal(word(p), 8);
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
    /* Left allocated: the program frees it, or the exec does at the next launch. */
    ok(cuGraphCreate(&graph, 0));
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = BYTES};
    ok(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    kept = params.dptr;
    exec = instantiate(graph);
    ok(cuGraphLaunch(exec, a));
    assert_int_equal(cuGraphLaunch(exec, a), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemsetD32Async(kept, 1, WORDS, a));
    ok(cuMemFreeAsync(kept, a));
    assert_int_equal(cuMemFreeAsync(kept, a), CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphLaunch(exec, a));
    ok(cuGraphExecDestroy(exec));
    ok(cuMemFree(kept));
    ok(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    ok(cuGraphLaunch(exec, a));
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
    ok(cuMemFree(kept));
}

static void refuses_to_capture_a_launch(void **state)
{
    (void)state;
    CUgraph graph;
    ok(cuGraphCreate(&graph, 0));
    note_node(graph, NULL, 0, "x");
    CUgraphExec exec = instantiate(graph);
    reported_clear();
    begin(a);
    assert_int_equal(cuGraphLaunch(exec, a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ends_invalidated();
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    assert_string_equal(reported.text, "x");
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
}

static void keeps_objects_of_the_program(void **state)
{
    (void)state;
    CUgraph graph;
    CUuserObject object;
    reported_clear();
    ok(cuUserObjectCreate(&object, "d", note, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    ok(cuGraphCreate(&graph, 0));
    ok(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec exec = instantiate(graph);
    ok(cuGraphDestroy(graph));
    assert_string_equal(reported.text, "");
    ok(cuGraphExecDestroy(exec));
    assert_string_equal(reported.text, "d");
    assert_int_equal(cuUserObjectRelease(object, 1), CUDA_ERROR_INVALID_VALUE);
}

static void runs_wide_and_long_graphs(void **state)
{
    (void)state;
    enum { WIDE = 300, LONG = 3000 };
    CUgraph graph;
    CUgraphNode ends[WIDE], last;
    ok(cuGraphCreate(&graph, 0));
    for (int i = 0; i < WIDE; i++)
        ends[i] = set_node(graph, NULL, 0, p, 1);
    last = set_node(graph, ends, WIDE, p, 2);
    for (unsigned i = 0; i < LONG; i++)
        last = set_node(graph, &last, 1, p, i);
    CUgraphExec exec = instantiate(graph);
    ok(cuGraphLaunch(exec, a));
    ok(cuGraphLaunch(exec, b));
    ok(cuStreamSynchronize(b));
    assert_int_equal(word(p), LONG - 1);
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
}

/* A context takes its captures and the branches of its execs along. */
static void survives_the_end_of_a_context(void **state)
{
    (void)state;
    CUcontext own;
    CUstream stream, captured;
    CUgraph graph;
    ok(cuCtxCreate(&own, NULL, 0, 0));
    ok(cuStreamCreate(&stream, 0));
    ok(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING));
    ok(cuGraphCreate(&graph, 0));
    note_node(graph, NULL, 0, "x");
    CUgraphExec exec = instantiate(graph);
    ok(cuGraphLaunch(exec, stream));
    ok(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
    ok(cuCtxDestroy(own));
    ok(cuCtxSetCurrent(context));
    assert_int_equal(cuGraphLaunch(exec, a), CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
    ok(cuCtxSynchronize());
}

int main(int count, char **arguments)
{
    (void)count;
    if (!test_schedule())
        return test_under_each_schedule(arguments);
    const struct CMUnitTest tests[] = {
        TEST(answers_questions),
        TEST(refuses_what_it_lacks),
        TEST(runs_nodes_in_every_legal_order),
        TEST(an_exec_never_overlaps_itself),
        TEST(runs_child_graphs_and_clones),
        TEST(updates_execs),
        TEST(records_and_awaits_events),
        TEST(allocates_memory),
        TEST(refuses_to_capture_a_launch),
        TEST(keeps_objects_of_the_program),
        TEST(runs_wide_and_long_graphs),
        TEST(survives_the_end_of_a_context),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
