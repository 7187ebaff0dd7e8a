// verdict: race
// gpu: race
// expect: memcpy_async_unordered.cu:{second}
// Two asynchronous copies to the same place: both exact, on any device.
#include "program.h"

int main()
{
    int *host, *p = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, 2 * BYTES));
    memset(host, 0, 2 * BYTES);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, a));
    CHECK(cudaMemcpyAsync(p, host + N, BYTES, cudaMemcpyHostToDevice, b)); // at: second
    return finish();
}
