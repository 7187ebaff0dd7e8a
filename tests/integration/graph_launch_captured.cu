// verdict: race
// expect: graph_launch_captured.cu:{first}
// expect: graph_launch_captured.cu:{second}
// A launch of a graph cannot be captured: the driver refuses it, the capture is invalid, and the
// graph has not run. Only what runs afterwards races.
#include "graph.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaGraph_t graph = nullptr;
    begin_capture(a);
    launch_fill(a, p); // at: first
    cudaGraphExec_t exec = instantiate(end_capture(a));
    begin_capture(a);
    cudaError_t refused = cudaGraphLaunch(exec, a);
    cudaGetLastError();
    if (refused != cudaErrorStreamCaptureUnsupported) {
        fprintf(stderr, "a captured launch gave %s\n", cudaGetErrorName(refused));
        return 102;
    }
    if (cudaStreamEndCapture(a, &graph) != cudaErrorStreamCaptureInvalidated || graph)
        return 103;
    cudaGetLastError();
    launch_increment(b, p); // ordered before what follows: nothing runs yet
    CHECK(cudaStreamSynchronize(b));
    CHECK(cudaGraphLaunch(exec, a));
    launch_increment(b, p); // at: second
    return finish();
}
