// verdict: race
// expect: the host's store .* does not wait for cudaMemcpyAsync
// reject: Note: some of these bytes changed
// options: host=guard+content
// A store that faults is reported once, as itself.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    store(&host[5], 7);
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
