// verdict: none
// options: host=content
// A copy without Async waits for the kernel that reads the buffer, and then writes there. The host
// is ordered after the kernel when the copy has been made already: it is no store of the host's.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *out = device_array<int>(HOST_N),
        *host = pinned_memory();
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemset(device, 1, HOST_BYTES));
    launch_copy(stream, out, host, HOST_N);
    CHECK(cudaMemcpy(host, device, HOST_BYTES, cudaMemcpyDeviceToHost));
    return finish();
}
