// verdict: race
// expect: host_call_direct.cu:{access}
// expect: read .* does not wait for cudaMemcpyAsync
// options: host=guard
// syscall(2) fills a buffer that a copy may still read, passing the C library's read by.
#include "host_memory.h"
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    const int zeros = open("/dev/zero", O_RDONLY);
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    if (syscall(SYS_read, zeros, host, HOST_BYTES) != (long)HOST_BYTES) // at: access
        return 102;
    return finish();
}
