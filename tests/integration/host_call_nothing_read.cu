// verdict: none
// options: host=guard
// A read that finds nothing touches nothing; one that was made before the copy was enqueued, and
// ends when all is done, touches the buffer then. A path may lie in a guarded page.
#include "host_memory.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    int ends[2], quiet[2];
    if (pipe(ends) != 0 || pipe2(quiet, O_NONBLOCK) != 0)
        return 102;
    cudaStream_t stream = nonblocking_stream();
    ssize_t got = 0;
    std::thread reader([&] { got = read(ends[0], host + 8192, 4096); });
    usleep(20000);
    CHECK(cudaMemcpyAsync(device, host, 32768, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(host + 8192, device, 32768, cudaMemcpyDeviceToHost, stream));
    if (read(quiet[0], host, 4096) != -1 || errno != EAGAIN)
        return 103;
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpyAsync(host, device, 64, cudaMemcpyDeviceToHost, stream));
    strcpy((char *)(host + 100), "/dev/zero");
    const int file = (int)syscall(SYS_openat, AT_FDCWD, host + 100, O_RDONLY);
    if (file < 0)
        return 104;
    CHECK(cudaStreamSynchronize(stream));
    if (write(ends[1], "abcd", 4) != 4)
        return 105;
    reader.join();
    return got == 4 && !memcmp(host + 8192, "abcd", 4) ? finish() : 106;
}
