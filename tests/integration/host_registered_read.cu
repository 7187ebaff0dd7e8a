// verdict: race
// expect: host_registered_read.cu:{access}
// options: host=guard
// content: none
// The host reads registered memory that a copy may not have filled yet.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = registered_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    load(&host[100]); // at: access
    return finish();
}
