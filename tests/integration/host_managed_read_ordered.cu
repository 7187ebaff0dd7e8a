// verdict: none
// options: host=guard
// content: none
// The host waits for the kernel that writes managed memory.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = managed_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, host, 1, HOST_N);
    CHECK(cudaStreamSynchronize(stream));
    load(&host[0]);
    return finish();
}
