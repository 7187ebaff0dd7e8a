// verdict: none
// options: host=guard
// content: none
// cudaFreeHost waits for the copy; the memory is open again before it is given back.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeHost(host));
    int *again = pinned_memory();
    for (int i = 0; i < HOST_N; i++)
        store(&again[i], i);
    return finish();
}
