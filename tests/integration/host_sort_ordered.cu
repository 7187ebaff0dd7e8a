// verdict: none
// options: host=guard
// content: none
// std::sort behind the copy.
#include "host_memory.h"
#include <algorithm>

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::sort(host, host + HOST_N);
    return finish();
}
