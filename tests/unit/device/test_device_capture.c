/* Stream capture of the embedded device: what becomes nodes and edges, and the driver's own error
 * for what is not allowed. */
#include "tests/unit/device/device_graph.h"

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
    /* It has the graph, and need not ask for it. */
    ok(cuStreamBeginCaptureToGraph(a, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ok(cuMemsetD32Async(p, 9, 1, a));
    ok(cuStreamEndCapture(a, NULL));
    ok(cuGraphGetNodes(graph, NULL, &count));
    assert_int_equal(count, 5);
    ok(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    assert_int_equal(cuStreamEndCapture(a, NULL), CUDA_ERROR_INVALID_VALUE);
    ok(cuStreamEndCapture(a, &same));
    ok(cuGraphDestroy(same));
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
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
