// verdict: none
// cuda: 13
// output: -
// What the driver answers where its documentation leaves it open: one line for each question, the
// same with csan and without. The answers expected are those of an H200 (driver 580, CUDA 13.0); a
// line that differs says so, and the program fails.
#include "graph.h"

static int different;

// Asks, and forgets the error.
static void expect_answer(const char *question, cudaError_t answer, const char *expected)
{
    cudaGetLastError();
    const char *name = cudaGetErrorName(answer);
    bool same = strcmp(name, expected) == 0;
    printf("%-55s %s%s%s\n", question, name, same ? "" : ", not ", same ? "" : expected);
    different += !same;
}

static void begin(cudaStream_t stream)
{
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
}

// Whatever became of the capture, the stream is to be free again.
static void end(cudaStream_t stream)
{
    cudaGraph_t graph = nullptr;
    if (cudaStreamEndCapture(stream, &graph) == cudaSuccess)
        CHECK(cudaGraphDestroy(graph));
    cudaGetLastError();
}

static void CUDART_CB callback(cudaStream_t, cudaError_t, void *) {}

static void events(cudaStream_t a, cudaStream_t b)
{
    cudaEvent_t event = event_create(), never = event_create(), outside = event_create();
    CHECK(cudaEventRecord(outside, b));
    begin(a);
    CHECK(cudaEventRecord(event, a));
    end(a);
    expect_answer("wait for an event of a capture that ended", cudaStreamWaitEvent(b, event, 0),
                  "cudaErrorInvalidValue");
    expect_answer("query an event of a capture that ended", cudaEventQuery(event),
                  "cudaErrorInvalidValue");
    begin(a);
    CHECK(cudaEventRecord(event, a));
    expect_answer("synchronize the captured stream", cudaStreamSynchronize(a),
                  "cudaErrorStreamCaptureUnsupported");
    expect_answer("wait for an event of an invalidated capture", cudaStreamWaitEvent(b, event, 0),
                  "cudaErrorInvalidValue");
    end(a);
    begin(a);
    expect_answer("wait under capture for an event never recorded",
                  cudaStreamWaitEvent(a, never, 0), "cudaSuccess");
    end(a);
    begin(a);
    expect_answer("query another event under capture", cudaEventQuery(outside),
                  "cudaErrorStreamCaptureUnsupported");
    expect_answer("and synchronize the captured stream", cudaStreamSynchronize(a),
                  "cudaErrorStreamCaptureUnsupported");
    end(a);
}

static void streams(cudaStream_t a, cudaStream_t b)
{
    cudaGraph_t graph;
    begin(a);
    expect_answer("synchronize another stream under capture", cudaStreamSynchronize(b),
                  "cudaErrorStreamCaptureUnsupported");
    end(a);
    begin(a);
    expect_answer("add a callback", cudaStreamAddCallback(a, callback, nullptr, 0),
                  "cudaErrorStreamCaptureUnsupported");
    end(a);
    begin(a);
    stream_follows(b, a);
    expect_answer("end in a stream that was forked", cudaStreamEndCapture(b, &graph),
                  "cudaErrorStreamCaptureUnmatched");
    expect_answer("and then where it began", cudaStreamEndCapture(a, &graph),
                  "cudaErrorStreamCaptureInvalidated");
    expect_answer("begin in the legacy stream",
                  cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal),
                  "cudaErrorStreamCaptureUnsupported");
    begin(a);
    expect_answer("begin twice", cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal),
                  "cudaErrorIllegalState");
    end(a);
}

static void memory(cudaStream_t a)
{
    int *p = device_array<int>(), *q = nullptr, host[4] = {};
    begin(a);
    expect_answer("allocate under capture", cudaMalloc((void **)&q, 64),
                  "cudaErrorStreamCaptureUnsupported");
    end(a);
    begin(a);
    expect_answer("copy synchronously beside a non-blocking capture",
                  cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice), "cudaSuccess");
    end(a);
    begin(a);
    expect_answer("set synchronously beside a non-blocking capture", cudaMemset(p, 0, 64),
                  "cudaSuccess");
    end(a);
}

static void graphs(cudaStream_t a)
{
    int *own;
    cudaGraph_t graph, clone, empty = graph_create();
    cudaGraphExec_t exec, second;
    cudaGraphNode_t one, two;
    CHECK(cudaGraphAddEmptyNode(&one, empty, nullptr, 0));
    CHECK(cudaGraphAddEmptyNode(&two, empty, &one, 1));
    expect_answer("add an edge that closes a cycle",
                  cudaGraphAddDependencies(empty, &two, &one, nullptr, 1), "cudaSuccess");
    expect_answer("add an edge that is there",
                  cudaGraphAddDependencies(empty, &one, &two, nullptr, 1), "cudaErrorInvalidValue");
    begin(a);
    CHECK(cudaMallocAsync((void **)&own, 64, a));
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    expect_answer("instantiate a graph that allocates twice",
                  cudaGraphInstantiate(&second, graph, 0), "cudaErrorNotSupported");
    expect_answer("clone it", cudaGraphClone(&clone, graph), "cudaErrorNotSupported");
    CHECK(cudaGraphLaunch(exec, a));
    expect_answer("launch it again without a free", cudaGraphLaunch(exec, a),
                  "cudaErrorInvalidValue");
    CHECK(cudaFreeAsync(own, a));
    CHECK(cudaStreamSynchronize(a));
}

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    events(a, b);
    streams(a, b);
    memory(a);
    graphs(a);
    if (different)
        return 1;
    return finish();
}
