// verdict: race
// options: host=guard
// expect: csan_host_writes \(.*{declared}
// expect: , 3 races,
// Beside a store that the program declares there are one that it does not, and one after more work.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    csan_host_writes(host, 64); // at: declared
    store(host + 16, 1);
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    store(host, 1);
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
