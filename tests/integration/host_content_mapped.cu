// verdict: race
// expect: the host's store before cudaStreamSynchronize .* does not wait for copy
// options: host=content
// A kernel reads mapped memory, which the host changes too early.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory(cudaHostAllocMapped);
    cudaStream_t stream = nonblocking_stream();
    launch_copy(stream, device, host, HOST_N);
    store(&host[1], 1);
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
