// verdict: none
// options: host=guard
// content: none
// write(2) behind the copy.
#include "host_memory.h"
#include <fcntl.h>
#include <unistd.h>

#define CHECK_CALL(what)                                                                           \
    if (!(what))                                                                                   \
    exit(102)

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    const int nowhere = open("/dev/null", O_WRONLY);
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK_CALL(write(nowhere, host, HOST_BYTES) == (ssize_t)HOST_BYTES);
    return finish();
}
