// verdict: none
// options: host=guard
// content: none
// A host function behind the copy reads its result, and refills the buffer.
#include "host_memory.h"

static void read_result(void *host)
{
    load((int *)host);
    store((int *)host, 1);
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, read_result, host));
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    return finish();
}
