// verdict: race
// gpu: race
// expect: use_after_free_async.cu:{use}
// A launch in stream order after the free: the memory may be somebody else's by then. (The launch
// only says that it writes there, so that no device has to bear it.)
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream();
    int *p;
    CHECK(cudaMallocAsync((void **)&p, BYTES, a));
    launch_fill(a, p);
    CHECK(cudaFreeAsync(p, a));
    csan_launch_writes(p, BYTES);
    fill<<<1, BLOCK, 0, a>>>(p, 1, 0); // at: use
    CHECK(cudaGetLastError());
    return finish();
}
