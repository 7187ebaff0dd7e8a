// verdict: race
// expect: host_managed_read.cu:{access}
// options: host=guard
// content: none
// The host reads managed memory while a kernel writes it.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = managed_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, host, 1, HOST_N);
    load(&host[0]); // at: access
    return finish();
}
