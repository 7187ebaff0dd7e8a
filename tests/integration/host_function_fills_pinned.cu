// verdict: none
// options: host=guard
// content: none
// The same with pinned memory, which the copy reads in its stream's order.
#include "host_memory.h"

static void fill(void *memory)
{
    store((int *)memory, 3);
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaLaunchHostFunc(stream, fill, host));
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    return finish();
}
