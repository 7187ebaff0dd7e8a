// verdict: race
// expect: host_signal_read.cu:{access}
// options: host=guard
// content: none
// A handler of the program's reads the result.
#include "host_memory.h"
#include <csignal>

static int *shared;

static void handler(int)
{
    load(&shared[9]); // at: access
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    shared = host;
    signal(SIGUSR1, handler);
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    raise(SIGUSR1);
    return finish();
}
