// verdict: race
// expect: free_async_other_stream.cu:{free}
// Freed on a stream that does not wait for the one that uses it.
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *p;
    CHECK(cudaMallocAsync((void **)&p, BYTES, a));
    launch_fill(a, p);
    CHECK(cudaFreeAsync(p, b)); // at: free
    return finish();
}
