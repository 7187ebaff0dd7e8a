// verdict: none
// options: host=guard
// content: none
// The host waits for the copy into registered memory.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = registered_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    load(&host[100]);
    return finish();
}
