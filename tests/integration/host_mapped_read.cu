// verdict: race
// expect: host_mapped_read.cu:{access}
// expect: the host's load .* does not wait for fill
// options: host=guard
// content: none
// A kernel writes mapped memory, and the host reads it meanwhile.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory(cudaHostAllocMapped);
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, host, 1, HOST_N);
    load(&host[HOST_N - 1]); // at: access
    return finish();
}
