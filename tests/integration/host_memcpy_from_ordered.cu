// verdict: none
// options: host=guard
// content: none
// memcpy reads the result behind the copy.
#include "host_memory.h"

static int copied[HOST_N];

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    memcpy(copied, host, HOST_BYTES);
    return finish();
}
