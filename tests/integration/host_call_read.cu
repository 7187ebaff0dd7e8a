// verdict: race
// expect: host_call_read.cu:{access}
// expect: read .* does not wait for cudaMemcpyAsync
// options: host=guard
// content: none
// read(2) fills a buffer that a copy may still read: the kernel would refuse guarded pages.
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
    CHECK_CALL(read(zeros, host, HOST_BYTES) == (ssize_t)HOST_BYTES); // at: access
    return finish();
}
