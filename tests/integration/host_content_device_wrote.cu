// verdict: none
// options: host=content
// A copy is enqueued whose source is still to be written by a copy before it in the stream.
#include "host_memory.h"

int main()
{
    int *from = device_array<int>(HOST_N), *to = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, from, 3, HOST_N);
    CHECK(cudaMemcpyAsync(host, from, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(to, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
