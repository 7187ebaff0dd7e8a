// verdict: race
// expect: host_call_direct.cu:{access}
// expect: read .* does not wait for cudaMemcpyAsync
// options: host=guard
// syscall(2) fills a buffer that a copy may still read, passing the C library's read by. Functions
// of the program's own stand in front of the C library's, and make their system calls so.
#include "host_memory.h"
#include <cstdarg>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" ssize_t read(int file, void *memory, size_t bytes)
{
    return syscall(SYS_read, file, memory, bytes);
}
extern "C" int ioctl(int file, unsigned long request, ...) noexcept
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return (int)syscall(SYS_ioctl, file, request, argument);
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    const int zeros = open("/dev/zero", O_RDONLY);
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemcpyAsync(device, host, HOST_BYTES, cudaMemcpyHostToDevice, stream));
    if (read(zeros, host, HOST_BYTES) != (ssize_t)HOST_BYTES) // at: access
        return 102;
    if (ioctl(zeros, 0, nullptr) != -1)
        return 103;
    return finish();
}
