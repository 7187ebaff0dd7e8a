// verdict: race
// options: host=guard
// expect: csan_host_writes \(.*{declared}
// expect: , 1 race,
// reject: the host's store
// A store that the program declares, and that csan sees as well, is one race.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    csan_host_writes(host, 64); // at: declared
    store(host, 1);
    store(host + 15, 1);
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
