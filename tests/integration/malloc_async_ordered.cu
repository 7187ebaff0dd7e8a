// verdict: none
// Allocated, used on another stream that waited, freed by the first that waited in turn.
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t born = event_create(), used = event_create();
    int *p;
    CHECK(cudaMallocAsync((void **)&p, BYTES, a));
    CHECK(cudaEventRecord(born, a));
    CHECK(cudaStreamWaitEvent(b, born, 0));
    launch_fill(b, p);
    CHECK(cudaEventRecord(used, b));
    CHECK(cudaStreamWaitEvent(a, used, 0));
    CHECK(cudaFreeAsync(p, a));
    return finish();
}
