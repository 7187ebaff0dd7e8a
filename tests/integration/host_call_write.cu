// verdict: race
// expect: host_call_write.cu:{access}
// expect: write .* does not wait for cudaMemcpyAsync
// options: host=guard
// content: none
// write(2) sends a result that may not be there yet.
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
    CHECK_CALL(write(nowhere, host, HOST_BYTES) == (ssize_t)HOST_BYTES); // at: access
    return finish();
}
