// verdict: race
// expect: host_vector_read.cu:{access}
// expect: Overlap: 16 bytes, 256 to 271
// options: host=guard
// content: none
// Sixteen bytes at once: the report has all of them.
#include "host_memory.h"

typedef int four_ints __attribute__((vector_size(16)));
static four_ints kept;

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    kept = *(const volatile four_ints *)&host[64]; // at: access
    return finish();
}
