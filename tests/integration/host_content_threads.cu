// verdict: none
// options: host=content:host_order=threads
// One thread waits for the copy and refills its source. That another thread learns of the copy only
// later makes it no race.
#include "host_memory.h"

#include <thread>

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    std::thread([&] {
        CHECK(cudaStreamSynchronize(stream));
        memset(host, 1, HOST_BYTES);
    }).join();
    CHECK(cudaDeviceSynchronize());
    return finish();
}
