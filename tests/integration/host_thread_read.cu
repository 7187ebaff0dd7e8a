// verdict: race
// expect: host_thread_read.cu:{access}
// options: host=guard
// content: none
// Another thread reads the result.
#include "host_memory.h"
#include <thread>

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    std::thread([&] { load(&host[7]); }).join(); // at: access
    return finish();
}
