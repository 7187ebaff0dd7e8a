// verdict: race
// expect: the host's store before cudaMemcpyAsync .* does not wait for cudaMemcpyAsync
// expect: changed between cudaMemcpyAsync .*host_content_loop.cu:{enqueue}. and cudaMemcpyAsync .*host_content_loop.cu:{enqueue}
// options: host=content
// A loop refills its buffer without waiting: each copy is a second look at what the one before
// reads.
#include "host_memory.h"

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    const size_t bytes = HOST_BYTES;
    cudaStream_t stream = nonblocking_stream();
    for (int turn = 0; turn < 3; turn++) {
        memset(host, turn, bytes);
        CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream)); // at: enqueue
    }
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
