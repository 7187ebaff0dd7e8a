// verdict: race
// expect: host_memset_to.cu:{access}
// expect: the host's store
// options: host=guard
// content: race
// memset writes over what a copy may still read.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    memset(host, 1, HOST_BYTES); // at: access
    return finish();
}
