// verdict: race
// expect: host_managed_add.cu:{access}
// options: host=guard
// content: none
// An atomic addition of the host meets a kernel that writes the same word.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = managed_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_increment(stream, host, HOST_N);
    __atomic_add_fetch(&host[3], 1, __ATOMIC_RELAXED); // at: access
    return finish();
}
