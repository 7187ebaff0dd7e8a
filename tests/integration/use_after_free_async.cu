// verdict: race
// gpu: race
// A copy in stream order after the free: the memory may be somebody else's by then.
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream();
    int *p;
    CHECK(cudaMallocAsync((void **)&p, BYTES, a));
    launch_fill(a, p);
    CHECK(cudaFreeAsync(p, a));
    cudaMemsetAsync(p, 0, BYTES, a); // may fail or not; csan must tell in both cases
    cudaGetLastError();
    return finish();
}
