// verdict: race
// options: host=content
// expect: the host's store before cudaStreamSynchronize
// The host changes the source of a copy too early. Whatever that copy brings, the next one brings
// the same in its place: no order ends differently.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    store(&host[5], 1);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
