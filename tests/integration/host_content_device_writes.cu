// verdict: none
// options: host=content
// The stream itself copies a result into the buffer that an earlier copy reads: no store of the
// host's.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    launch_fill(stream, device, 3, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
