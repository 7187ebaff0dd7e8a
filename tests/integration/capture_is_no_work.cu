// verdict: none
// What is captured and never launched touches nothing.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    launch_fill(a, p);
    CHECK(cudaStreamEndCapture(a, &graph));
    launch_fill(b, p);
    return finish();
}
