// verdict: none
// options: host=guard
// content: none
// Another thread reads the result behind the copy.
#include "host_memory.h"
#include <thread>

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::thread([&] { load(&host[7]); }).join();
    return finish();
}
