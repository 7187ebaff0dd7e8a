// verdict: none
// options: host=guard
// content: none
// Sixteen bytes at once, behind the copy.
#include "host_memory.h"

typedef int four_ints __attribute__((vector_size(16)));
static four_ints kept;

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    kept = *(const volatile four_ints *)&host[64];
    return finish();
}
