// verdict: none
// options: host=guard
// content: none
// read(2) behind the copy.
#include "host_memory.h"
#include <fcntl.h>
#include <unistd.h>

#define CHECK_CALL(what)                                                                           \
    if (!(what))                                                                                   \
    exit(102)

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    const int zeros = open("/dev/zero", O_RDONLY);
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK_CALL(read(zeros, host, HOST_BYTES) == (ssize_t)HOST_BYTES);
    return finish();
}
