// verdict: race
// expect: host_sort.cu:{access}
// options: host=guard
// content: none
// std::sort in the standard library's code, inlined, touches what a copy still writes.
#include "host_memory.h"
#include <algorithm>

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    // What the copy brings: a sort of what changes meanwhile may run out of bounds.
    std::fill_n(host, HOST_N, 1);
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    std::sort(host, host + HOST_N); // at: access
    return finish();
}
