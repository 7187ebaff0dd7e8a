/* Graphs and stream capture of the embedded device: what runs, in which orders, and the driver's
 * own error for what is not allowed. The file runs once under each scheduling policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda.h>
#include "tests/unit/device/test_schedules.h"
#include "runtime/device/schedule/schedule.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ok(call) assert_int_equal((call), CUDA_SUCCESS)

enum { WORDS = 256, BYTES = WORDS * 4 };

static CUcontext context;
static CUstream a, b, c;
static CUdeviceptr p, q;

static int start(void **state)
{
    (void)state;
    return cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context);
}

static int set_up(void **state)
{
    (void)state;
    return cuStreamCreate(&a, CU_STREAM_NON_BLOCKING) ||
           cuStreamCreate(&b, CU_STREAM_NON_BLOCKING) || cuStreamCreate(&c, CU_STREAM_DEFAULT) ||
           cuMemAlloc(&p, BYTES) || cuMemAlloc(&q, BYTES) || cuMemsetD32(p, 0, WORDS) ||
           cuMemsetD32(q, 0, WORDS) || cuCtxSynchronize();
}

static int tear_down(void **state)
{
    (void)state;
    return cuCtxSynchronize() || cuStreamDestroy(a) || cuStreamDestroy(b) || cuStreamDestroy(c) ||
           cuMemFree(p) || cuMemFree(q);
}

static unsigned word(CUdeviceptr address)
{
    unsigned value = 0;
    ok(cuMemcpyDtoH(&value, address, sizeof value));
    return value;
}

static CUevent event(void)
{
    CUevent made;
    ok(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING));
    return made;
}

static void begin(CUstream stream)
{
    ok(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec;
    ok(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static CUgraphNode set_node(CUgraph graph, const CUgraphNode *after, size_t count, CUdeviceptr to,
                            unsigned value)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS params = {
        .dst = to, .value = value, .elementSize = 4, .width = WORDS, .height = 1};
    ok(cuGraphAddMemsetNode(&node, graph, after, count, &params, context));
    return node;
}

/* ---- A log that host functions write ---- */

static struct {
    pthread_mutex_t lock;
    char text[256];
    size_t length;
} reported = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void CUDA_CB note(void *what)
{
    pthread_mutex_lock(&reported.lock);
    if (reported.length + 1 < sizeof reported.text)
        reported.text[reported.length++] = *(const char *)what;
    pthread_mutex_unlock(&reported.lock);
}

static CUgraphNode note_node(CUgraph graph, const CUgraphNode *after, size_t count,
                             const char *what)
{
    CUgraphNode node;
    CUDA_HOST_NODE_PARAMS params = {note, (void *)what};
    ok(cuGraphAddHostNode(&node, graph, after, count, &params));
    return node;
}

static void reported_clear(void)
{
    memset(reported.text, 0, sizeof reported.text);
    reported.length = 0;
}

/* ---- Capture ------------------------------------------------------------------------------- */

static void captures_and_runs(void **state)
{
    (void)state;
    CUgraph graph;
    unsigned host[WORDS] = {0};
    begin(a);
    ok(cuMemsetD32Async(p, 7, WORDS, a));
    ok(cuMemcpyDtoDAsync(q, p, BYTES, a));
    ok(cuMemcpyDtoHAsync(host, q, BYTES, a));
    ok(cuStreamEndCapture(a, &graph));
    assert_int_equal(word(q), 0); /* nothing ran */
    CUgraphExec exec = instantiate(graph);
    ok(cuGraphDestroy(graph));
    ok(cuGraphLaunch(exec, b));
    ok(cuStreamSynchronize(b));
    assert_int_equal(host[WORDS - 1], 7);
    ok(cuMemsetD32(p, 1, WORDS));
    ok(cuGraphLaunch(exec, c));
    ok(cuGraphExecDestroy(exec)); /* under way */
    ok(cuStreamSynchronize(c));
    assert_int_equal(word(p), 7);
}

static void captures_forks_and_joins(void **state)
{
    (void)state;
    CUgraph graph;
    CUstreamCaptureStatus status;
    cuuint64_t id = 0, other = 0;
    const CUgraphNode *frontier;
    size_t count = 0;
    CUevent fork = event(), join = event();
    begin(a);
    ok(cuMemsetD32Async(p, 7, WORDS, a));
    ok(cuEventRecord(fork, a));
    ok(cuStreamWaitEvent(b, fork, 0));
    ok(cuStreamIsCapturing(b, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ok(cuMemcpyDtoDAsync(q, p, BYTES / 2, b));
    ok(cuMemcpyDtoDAsync(q + BYTES / 2, p, BYTES / 2, a));
    ok(cuEventRecord(join, b));
    ok(cuStreamWaitEvent(a, join, 0));
    ok(cuStreamGetCaptureInfo(a, &status, &id, &graph, &frontier, NULL, &count));
    assert_int_equal(count, 2);
    ok(cuStreamGetCaptureInfo(b, &status, &other, NULL, NULL, NULL, NULL));
    assert_int_equal(id, other);
    ok(cuStreamEndCapture(a, &graph));
    ok(cuStreamIsCapturing(b, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    ok(cuGraphGetEdges(graph, NULL, NULL, NULL, &count));
    assert_int_equal(count, 2);
    CUgraphExec exec = instantiate(graph);
    ok(cuGraphLaunch(exec, a));
    ok(cuMemcpyDtoDAsync(p, q, BYTES, a)); /* after all of it */
    ok(cuStreamSynchronize(a));
    assert_int_equal(word(p + BYTES - 4), 7);
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
    ok(cuEventDestroy(fork));
    ok(cuEventDestroy(join));
}

/* Each line: what was begun in `a` goes wrong, and the end says how. */
static void ends_invalidated(void)
{
    CUgraph graph = (CUgraph)1;
    CUstreamCaptureStatus status;
    ok(cuStreamIsCapturing(a, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    assert_int_equal(cuMemsetD32Async(p, 1, 1, a), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_int_equal(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_null(graph);
    ok(cuStreamIsCapturing(a, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    ok(cuMemsetD32Async(p, 1, 1, a));
}

static void refuses_to_wait_for_what_is_captured(void **state)
{
    (void)state;
    CUevent inside = event();
    CUdeviceptr memory;
    begin(a);
    assert_int_equal(cuStreamSynchronize(a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ends_invalidated();
    begin(a);
    assert_int_equal(cuStreamQuery(a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ends_invalidated();
    begin(a);
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ends_invalidated();
    begin(a);
    ok(cuEventRecord(inside, a));
    assert_int_equal(cuEventQuery(inside), CUDA_ERROR_CAPTURED_EVENT);
    ends_invalidated();
    begin(a);
    ok(cuEventRecord(inside, a));
    assert_int_equal(cuEventSynchronize(inside), CUDA_ERROR_CAPTURED_EVENT);
    ends_invalidated();
    assert_int_equal(cuEventQuery(inside), CUDA_ERROR_INVALID_VALUE); /* the capture is over */
    assert_int_equal(cuEventSynchronize(inside), CUDA_ERROR_INVALID_VALUE);
    ok(cuEventRecord(inside, a)); /* recorded anew it is an event like any other */
    ok(cuEventSynchronize(inside));
    begin(a);
    assert_int_equal(cuMemAlloc(&memory, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ends_invalidated();
    begin(a);
    assert_int_equal(cuStreamAddCallback(a, (CUstreamCallback)(void *)note, NULL, 0),
                     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cuStreamSynchronize(a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ends_invalidated();
    ok(cuEventDestroy(inside));
}

static void copies_beside_a_capture(void **state)
{
    (void)state;
    CUgraph graph;
    int host[4] = {7};
    begin(a);
    ok(cuMemcpyHtoD(p, host, sizeof host));
    ok(cuMemsetD32(q, 9, 1));
    ok(cuMemcpyDtoH(host, q, 4));
    assert_int_equal(host[0], 9);
    ok(cuStreamEndCapture(a, &graph));
    ok(cuGraphDestroy(graph));
}

static void refuses_edges_out_of_and_into_captures(void **state)
{
    (void)state;
    CUgraph graph;
    CUevent outside = event(), inside = event(), never = event();
    ok(cuEventRecord(outside, b));
    begin(a);
    ok(cuStreamWaitEvent(a, never, 0)); /* nothing to wait for, and no edge */
    ok(cuStreamEndCapture(a, &graph));
    ok(cuGraphDestroy(graph));
    begin(a);
    assert_int_equal(cuStreamWaitEvent(a, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    ends_invalidated();
    begin(a);
    ok(cuEventRecord(inside, a));
    ok(cuStreamEndCapture(a, &graph));
    ok(cuGraphDestroy(graph));
    assert_int_equal(cuStreamWaitEvent(b, inside, 0), CUDA_ERROR_INVALID_VALUE);
    begin(a);
    ok(cuEventRecord(inside, a));
    assert_int_equal(cuStreamSynchronize(a), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(cuStreamWaitEvent(b, inside, 0), CUDA_ERROR_INVALID_VALUE);
    ends_invalidated();
    begin(a);
    begin(b);
    ok(cuEventRecord(inside, b));
    assert_int_equal(cuStreamWaitEvent(a, inside, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    ends_invalidated();
    assert_int_equal(cuStreamEndCapture(b, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    ok(cuEventDestroy(outside));
    ok(cuEventDestroy(inside));
    ok(cuEventDestroy(never));
}

static void refuses_the_legacy_stream(void **state)
{
    (void)state;
    CUgraph graph;
    CUstreamCaptureStatus status;
    assert_int_equal(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
                     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    begin(c); /* a blocking stream */
    assert_int_equal(cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    ok(cuStreamIsCapturing(c, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_int_equal(cuMemsetD32Async(p, 1, 1, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    assert_int_equal(cuStreamEndCapture(c, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    begin(a); /* a non-blocking one has nothing to do with it */
    ok(cuMemsetD32Async(p, 1, 1, NULL));
    ok(cuStreamEndCapture(a, &graph));
    ok(cuGraphDestroy(graph));
}

static void refuses_wrong_ends(void **state)
{
    (void)state;
    CUgraph graph;
    CUevent fork = event();
    assert_int_equal(cuStreamEndCapture(a, &graph), CUDA_ERROR_ILLEGAL_STATE);
    begin(a);
    assert_int_equal(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL),
                     CUDA_ERROR_ILLEGAL_STATE);
    ok(cuMemsetD32Async(p, 7, WORDS, a));
    ok(cuEventRecord(fork, a));
    ok(cuStreamWaitEvent(b, fork, 0));
    ok(cuMemsetD32Async(q, 7, WORDS, b));
    assert_int_equal(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    assert_null(graph);
    begin(a);
    ok(cuEventRecord(fork, a));
    ok(cuStreamWaitEvent(b, fork, 0));
    assert_int_equal(cuStreamEndCapture(b, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    ends_invalidated();
    ok(cuEventDestroy(fork));
}

struct other_thread {
    CUstreamCaptureMode mode; /* of the thread */
    CUresult end, allocate;
    CUgraph graph;
};

static void *in_other_thread(void *user)
{
    struct other_thread *thread = user;
    CUdeviceptr memory = 0;
    cuCtxSetCurrent(context);
    cuThreadExchangeStreamCaptureMode(&thread->mode);
    thread->allocate = cuMemAlloc(&memory, 64);
    if (memory)
        cuMemFree(memory);
    thread->end = cuStreamEndCapture(a, &thread->graph);
    return NULL;
}

static struct other_thread other_thread(CUstreamCaptureMode capture, CUstreamCaptureMode mode)
{
    pthread_t id;
    struct other_thread thread = {.mode = mode};
    ok(cuStreamBeginCapture(a, capture));
    pthread_create(&id, NULL, in_other_thread, &thread);
    pthread_join(id, NULL);
    return thread;
}

static void knows_threads_and_modes(void **state)
{
    (void)state;
    CUgraph graph;
    CUdeviceptr memory;
    struct other_thread global =
        other_thread(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_GLOBAL);
    assert_int_equal(global.allocate, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(global.end, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    ends_invalidated();
    struct other_thread local =
        other_thread(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    ok(local.allocate);
    assert_int_equal(local.end, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    ok(cuStreamEndCapture(a, &graph));
    ok(cuGraphDestroy(graph));
    struct other_thread own =
        other_thread(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_GLOBAL);
    ok(own.allocate);
    assert_int_equal(cuMemAlloc(&memory, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ends_invalidated();
    struct other_thread relaxed =
        other_thread(CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_GLOBAL);
    ok(relaxed.allocate);
    ok(relaxed.end);
    ok(cuGraphDestroy(relaxed.graph));
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    ok(cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    begin(a);
    ok(cuMemAlloc(&memory, 64));
    ok(cuStreamEndCapture(a, &graph));
    ok(cuThreadExchangeStreamCaptureMode(&mode));
    ok(cuMemFree(memory));
    ok(cuGraphDestroy(graph));
    mode = (CUstreamCaptureMode)9;
    assert_int_equal(cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);
}

static void captures_into_a_graph(void **state)
{
    (void)state;
    CUgraph graph, same;
    size_t count = 0;
    ok(cuGraphCreate(&graph, 0));
    CUgraphNode first = set_node(graph, NULL, 0, p, 5);
    ok(cuStreamBeginCaptureToGraph(a, graph, &first, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_int_equal(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemcpyDtoDAsync(q, p, BYTES, a));
    CUgraphNode alone;
    ok(cuGraphAddEmptyNode(&alone, graph, NULL, 0));
    ok(cuStreamUpdateCaptureDependencies(a, &alone, NULL, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    ok(cuMemsetD32Async(p, 9, 1, a));
    ok(cuStreamEndCapture(a, &same));
    assert_ptr_equal(same, graph);
    assert_int_equal(cuStreamUpdateCaptureDependencies(a, &alone, NULL, 1, 0),
                     CUDA_ERROR_ILLEGAL_STATE);
    ok(cuGraphGetNodes(graph, NULL, &count));
    assert_int_equal(count, 4);
    ok(cuGraphGetRootNodes(graph, NULL, &count));
    assert_int_equal(count, 2);
    ok(cuGraphDestroy(graph));
}

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
    CUgraphNode node;
    CUgraphExec exec;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT};
    ok(cuGraphCreate(&graph, 0));
    assert_int_equal(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params),
                     CUDA_ERROR_NOT_SUPPORTED);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- Memory operation nodes ---- */

static CUstreamBatchMemOpParams write_of(CUdeviceptr at, unsigned value)
{
    return (CUstreamBatchMemOpParams){.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
                                                     .address = at,
                                                     .value = value}};
}

static CUstreamBatchMemOpParams wait_of(CUdeviceptr at, unsigned value)
{
    return (CUstreamBatchMemOpParams){.waitValue = {.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32,
                                                    .address = at,
                                                    .value = value,
                                                    .flags = CU_STREAM_WAIT_VALUE_EQ}};
}

/* A node waits for a word that the other branch writes. */
static void writes_and_waits_for_words(void **state)
{
    (void)state;
    CUgraph graph;
    CUgraphNode waits, writes, late;
    CUstreamBatchMemOpParams wait[] = {wait_of(p + 4, 7), write_of(p + 8, 1)};
    CUstreamBatchMemOpParams write[] = {write_of(p + 4, 3)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS waiting = {context, 2, wait, 0}, writing = {context, 1, write, 0},
                                  found;
    ok(cuGraphCreate(&graph, 0));
    ok(cuGraphAddBatchMemOpNode(&waits, graph, NULL, 0, &waiting));
    ok(cuGraphAddBatchMemOpNode(&writes, graph, NULL, 0, &writing));
    write[0] = write_of(p + 4, 7);
    ok(cuGraphBatchMemOpNodeSetParams(writes, &writing));
    ok(cuGraphBatchMemOpNodeGetParams(writes, &found));
    assert_int_equal(found.count, 1);
    assert_int_equal(found.paramArray[0].writeValue.value, 7);
    assert_int_equal(found.paramArray[0].writeValue.address, p + 4);
    late = set_node(graph, &waits, 1, q, 5);
    (void)late;
    CUgraphExec exec = instantiate(graph);
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    assert_int_equal(word(p + 8), 1);
    assert_int_equal(word(q), 5);
    write[0] = write_of(p + 16, 9);
    ok(cuMemsetD32(p + 4, 7, 1));
    ok(cuGraphExecBatchMemOpNodeSetParams(exec, writes, &writing));
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    assert_int_equal(word(p + 16), 9);
    waiting.count = 0;
    assert_int_equal(cuGraphAddBatchMemOpNode(&late, graph, NULL, 0, &waiting),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphAddBatchMemOpNode(&late, graph, NULL, 0, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
}

/* ---- Conditional nodes ---- */

/* set(handle, words, at): the condition is the word; count(handle, words): the first word counts
 * down to 0, which is the condition. */
static const char conditions_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional (.param .b64 h, .param .b32 v);\n"
    ".visible .entry set(.param .u64 h, .param .u64 p, .param .u32 i)\n{\n"
    ".param .b64 a; .param .b32 b;\n.reg .b64 %rd<5>;\n.reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [h];\nld.param.u64 %rd2, [p];\nld.param.u32 %r1, [i];\n"
    "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r2, [%rd4];\n"
    "st.param.b64 [a], %rd1;\nst.param.b32 [b], %r2;\ncall cudaGraphSetConditional, (a, b);\n"
    "ret;\n}\n"
    ".visible .entry count(.param .u64 h, .param .u64 p)\n{\n.param .b64 a; .param .b32 b;\n"
    ".reg .b64 %rd<3>;\n.reg .b32 %r<3>;\nld.param.u64 %rd1, [h];\nld.param.u64 %rd2, [p];\n"
    "ld.global.u32 %r1, [%rd2];\nsub.s32 %r2, %r1, 1;\nst.global.u32 [%rd2], %r2;\n"
    "st.param.b64 [a], %rd1;\nst.param.b32 [b], %r2;\ncall cudaGraphSetConditional, (a, b);\n"
    "ret;\n}\n"
    ".visible .entry add(.param .u64 p, .param .u32 i)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n"
    "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [i];\nmul.wide.u32 %rd2, %r1, 4;\n"
    "add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r2, [%rd3];\nadd.s32 %r3, %r2, 1;\n"
    "st.global.u32 [%rd3], %r3;\nret;\n}\n";

static CUgraphNode kernel_node(CUgraph graph, CUgraphNode after, const char *name,
                               void **parameters)
{
    static CUmodule module;
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS params = {.gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = parameters};
    if (!module)
        ok(cuModuleLoadData(&module, conditions_text));
    ok(cuModuleGetFunction(&params.func, module, name));
    ok(cuGraphAddKernelNode(&node, graph, after ? &after : NULL, after != NULL, &params));
    return node;
}

static CUgraphNode add_one(CUgraph graph, CUgraphNode after, unsigned at)
{
    return kernel_node(graph, after, "add", (void *[]){&q, &at});
}

static CUresult conditional(CUgraph graph, CUgraphNode after, CUgraphConditionalHandle handle,
                            CUgraphConditionalNodeType type, unsigned size, CUgraphNode *node,
                            CUgraph *bodies)
{
    CUgraphNodeParams params = {
        .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .conditional = {.handle = handle, .type = type, .size = size, .ctx = context}};
    CUresult result =
        cuGraphAddNode(node, graph, after ? &after : NULL, NULL, after != NULL, &params);
    for (unsigned i = 0; result == CUDA_SUCCESS && i < size; i++)
        bodies[i] = params.conditional.phGraph_out[i];
    return result;
}

/* What each value of the condition runs. Twice, since a launch must not see the last one's. */
static void runs_the_body_of_the_value(void **state)
{
    (void)state;
    CUgraph graph, bodies[3];
    CUgraphNode node;
    CUgraphConditionalHandle handle;
    const unsigned at = 1;
    ok(cuGraphCreate(&graph, 0));
    ok(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
    CUgraphNode chosen = kernel_node(graph, NULL, "set", (void *[]){&handle, &p, (void *)&at});
    ok(conditional(graph, chosen, handle, CU_GRAPH_COND_TYPE_SWITCH, 3, &node, bodies));
    for (unsigned i = 0; i < 3; i++)
        add_one(bodies[i], NULL, i);
    add_one(graph, node, 3);
    CUgraphExec exec = instantiate(graph);
    ok(cuGraphDestroy(graph));
    const unsigned values[] = {2, 0, 7, 2, 1};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ok(cuMemsetD32Async(p + 4, values[i], 1, a));
        ok(cuGraphLaunch(exec, a));
    }
    ok(cuGraphExecDestroy(exec)); /* what was launched goes on */
    ok(cuStreamSynchronize(a));
    assert_int_equal(word(q), 1);
    assert_int_equal(word(q + 4), 1);
    assert_int_equal(word(q + 8), 2);
    assert_int_equal(word(q + 12), 5);
}

/* A loop with an else in it, whose start value is given at each launch. */
static void loops_and_nests(void **state)
{
    (void)state;
    CUgraph graph, loop, branches[2];
    CUgraphNode node, inner;
    CUgraphConditionalHandle again, which;
    const unsigned at = 1;
    ok(cuGraphCreate(&graph, 0));
    ok(cuGraphConditionalHandleCreate(&again, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    ok(conditional(graph, NULL, again, CU_GRAPH_COND_TYPE_WHILE, 1, &node, &loop));
    ok(cuGraphConditionalHandleCreate(&which, loop, context, 0, 0));
    CUgraphNode counted = kernel_node(loop, NULL, "count", (void *[]){&again, &p});
    CUgraphNode chosen = kernel_node(loop, counted, "set", (void *[]){&which, &p, (void *)&at});
    ok(conditional(loop, chosen, which, CU_GRAPH_COND_TYPE_IF, 2, &inner, branches));
    add_one(branches[0], NULL, 0);
    add_one(branches[1], NULL, 1);
    add_one(loop, inner, 2);
    CUgraphExec exec = instantiate(graph);
    for (unsigned launch = 0; launch < 2; launch++) {
        ok(cuMemsetD32Async(p, 4, 1, b));
        ok(cuMemsetD32Async(p + 4, launch, 1, b));
        ok(cuGraphLaunch(exec, b));
    }
    ok(cuStreamSynchronize(b));
    assert_int_equal(word(q), 4);
    assert_int_equal(word(q + 4), 4);
    assert_int_equal(word(q + 8), 8);
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
}

static void refuses_wrong_conditions(void **state)
{
    (void)state;
    CUgraph graph, other, bodies[2];
    CUgraphNode node;
    CUgraphConditionalHandle handle;
    ok(cuGraphCreate(&graph, 0));
    assert_int_equal(cuGraphConditionalHandleCreate(&handle, NULL, context, 0, 0),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 2),
                     CUDA_ERROR_INVALID_VALUE);
    ok(cuGraphConditionalHandleCreate(&handle, graph, context, 0, 0));
    assert_int_equal(
        conditional(graph, NULL, handle + 1000, CU_GRAPH_COND_TYPE_IF, 1, &node, bodies),
        CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_WHILE, 2, &node, bodies),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 0, &node, bodies),
                     CUDA_ERROR_INVALID_VALUE);
    ok(conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 2, &node, bodies));
    /* one node for each */
    assert_int_equal(conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF, 1, &node, &other),
                     CUDA_ERROR_INVALID_VALUE);
    /* a body is its node's */
    assert_int_equal(cuGraphDestroy(bodies[0]), CUDA_ERROR_INVALID_VALUE);
    CUgraphExec exec = instantiate(graph);
    ok(cuGraphLaunch(exec, a));
    ok(cuStreamSynchronize(a));
    ok(cuGraphExecDestroy(exec));
    ok(cuGraphDestroy(graph));
}

int main(int count, char **arguments)
{
    (void)count;
    if (!test_schedule())
        return test_under_each_schedule(arguments);
    const struct CMUnitTest tests[] = {
        TEST(captures_and_runs),
        TEST(captures_forks_and_joins),
        TEST(refuses_to_wait_for_what_is_captured),
        TEST(copies_beside_a_capture),
        TEST(refuses_edges_out_of_and_into_captures),
        TEST(refuses_the_legacy_stream),
        TEST(refuses_wrong_ends),
        TEST(knows_threads_and_modes),
        TEST(captures_into_a_graph),
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
        TEST(writes_and_waits_for_words),
        TEST(runs_the_body_of_the_value),
        TEST(loops_and_nests),
        TEST(refuses_wrong_conditions),
        TEST(survives_the_end_of_a_context),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
