// verdict: none
// options: host=guard
// content: none
// The host waits for the kernel that reads managed memory.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = managed_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_copy(stream, device, host, HOST_N);
    CHECK(cudaStreamSynchronize(stream));
    store(&host[0], 1);
    return finish();
}
