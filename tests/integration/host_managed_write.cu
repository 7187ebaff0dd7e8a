// verdict: race
// expect: host_managed_write.cu:{access}
// options: host=guard
// content: none
// The host writes managed memory while a kernel reads it.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = managed_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_copy(stream, device, host, HOST_N);
    store(&host[0], 1); // at: access
    return finish();
}
