// verdict: race
// expect: host_signals_blocked.cu:{access}
// options: host=guard
// content: none
// A thread that blocks all signals, and one that was made so: their accesses are seen, and do not
// end the process.
#include "host_memory.h"
#include <csignal>
#include <pthread.h>
#include <thread>

static int *host;

static void *blocked(void *)
{
    load(&host[8192]);
    return nullptr;
}

int main()
{
    int *device = device_array<int>(HOST_N);
    host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    sigset_t all;
    sigfillset(&all);
    std::thread([&] {
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
        load(&host[7]); // at: access
    }).join();
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setsigmask_np(&attributes, &all);
    if (pthread_create(&thread, &attributes, blocked, nullptr) != 0 ||
        pthread_join(thread, nullptr) != 0)
        return 102;
    return finish();
}
