// verdict: race
// expect: host_signals_blocked.cu:{access}
// options: host=guard
// content: none
// A thread that blocks all signals: its access is seen, and does not end the process.
#include "host_memory.h"
#include <csignal>
#include <thread>

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    std::thread([&] {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
        load(&host[7]); // at: access
    }).join();
    return finish();
}
