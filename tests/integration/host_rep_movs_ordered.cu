// verdict: none
// options: host=guard
// machine: x86-64
// content: none
// A string instruction behind the copy.
#include "host_memory.h"

static char copied[HOST_N * sizeof(int)];

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    const void *from = host;
    void *to = copied;
    size_t count = HOST_BYTES;
    asm volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
    return finish();
}
