// verdict: race
// expect: the host's store before cudaStreamSynchronize .* does not wait for cudaMemcpyAsync .*host_content_large.cu:{enqueue}
// expect: changed between cudaMemcpyAsync .*host_content_large.cu:{enqueue}. and cudaStreamSynchronize .*host_content_large.cu:{wait}
// options: host=content
// Of a large buffer only pieces are compared. The host overwrites all of it.
#include "host_memory.h"

int main()
{
    const int count = 1 << 20;
    const size_t bytes = count * sizeof(int);
    int *device = device_array<int>(count), *host;
    CHECK(cudaMallocHost((void **)&host, bytes));
    memset(host, 0, bytes);
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream)); // at: enqueue
    memset(host, 1, bytes);
    CHECK(cudaStreamSynchronize(stream)); // at: wait
    return finish();
}
