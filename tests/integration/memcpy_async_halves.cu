// verdict: none
// Two asynchronous copies to the two halves of one array.
#include "program.h"

int main()
{
    int *host, *p = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    memset(host, 0, BYTES);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemcpyAsync(p, host, BYTES / 2, cudaMemcpyHostToDevice, a));
    CHECK(cudaMemcpyAsync(p + N / 2, host + N / 2, BYTES / 2, cudaMemcpyHostToDevice, b));
    return finish();
}
