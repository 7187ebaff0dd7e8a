// verdict: none
// options: host=content
// A kernel reads mapped memory and writes it, too.
#include "host_memory.h"

int main()
{
    int *host = pinned_memory(cudaHostAllocMapped);
    cudaStream_t stream = nonblocking_stream();
    launch_increment(stream, host, HOST_N);
    CHECK(cudaStreamSynchronize(stream));
    return finish();
}
