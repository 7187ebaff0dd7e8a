// verdict: none
// A synchronous copy from pinned memory returns when it is complete.
#include "program.h"

int main()
{
    int *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    memset(host, 0, BYTES);
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMemcpy(p, host, BYTES, cudaMemcpyHostToDevice));
    launch_increment(a, p);
    return finish();
}
