// verdict: race
// expect: memcpy_async_host_writes_early.cu:{host}
// The host fills the pinned buffer again before the copy out of it is done.
#include "program.h"

int main()
{
    int *host, *p = device_array<int>();
    CHECK(cudaMallocHost((void **)&host, BYTES));
    memset(host, 0, BYTES);
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMemcpyAsync(p, host, BYTES, cudaMemcpyHostToDevice, a));
    csan_host_writes(host, BYTES); // at: host
    return finish();
}
