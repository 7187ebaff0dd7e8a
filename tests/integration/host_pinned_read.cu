// verdict: race
// expect: host_pinned_read.cu:{access}
// expect: the host's load .* does not wait for cudaMemcpyAsync
// options: host=guard
// content: none
// The host reads a result that a copy may not have brought yet.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    load(&host[5]); // at: access
    return finish();
}
