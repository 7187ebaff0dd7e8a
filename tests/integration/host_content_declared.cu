// verdict: race
// expect: csan_host_writes
// reject: Note: some of these bytes changed
// options: host=content
// A store that the program declares is reported once.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    csan_host_writes(host, sizeof(int));
    store(host, 1);
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
