// verdict: race
// expect: host_pinned_write.cu:{access}
// expect: the host's store .* does not wait for cudaMemcpyAsync
// expect: Overlap: 4 bytes, 20 to 23
// options: host=guard
// content: race
// The host refills a pinned buffer that a copy may still read.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    store(&host[5], 7); // at: access
    return finish();
}
