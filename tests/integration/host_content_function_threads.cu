// verdict: none
// options: host=content:host_order=threads
// With host_order=threads: a host function behind the copy refills its source, and one before the
// next copy does.
#include "host_memory.h"

static void refill(void *memory)
{
    memset(memory, 1, HOST_BYTES);
}

static void refill_again(void *memory)
{
    memset(memory, 2, HOST_BYTES);
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaLaunchHostFunc(stream, refill, host));
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaLaunchHostFunc(stream, refill_again, host));
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
