// verdict: none
// options: host=guard
// content: none
// The host waits for the kernel that writes mapped memory.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory(cudaHostAllocMapped);
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, host, 1, HOST_N);
    CHECK(cudaStreamSynchronize(stream));
    load(&host[HOST_N - 1]);
    return finish();
}
