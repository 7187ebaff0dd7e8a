// verdict: none
// options: host=guard
// content: none
// The host adds behind the kernel.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = managed_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_increment(stream, host, HOST_N);
    CHECK(cudaStreamSynchronize(stream));
    __atomic_add_fetch(&host[3], 1, __ATOMIC_RELAXED);
    return finish();
}
