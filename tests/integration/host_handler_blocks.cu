// verdict: race
// expect: host_handler_blocks.cu:{access}
// options: host=guard
// A handler that runs with all signals blocked: its access is seen, and does not end the process.
#include "host_memory.h"
#include <csignal>
#include <poll.h>

static int *host;
static volatile int seen, handled;

static void on_signal(int)
{
    seen = load(&host[3 + 4096 * handled]); // at: access
    handled = handled + 1;
}

int main()
{
    int *device = device_array<int>(HOST_N);
    host = pinned_memory();
    struct sigaction action = {};
    action.sa_handler = on_signal;
    sigfillset(&action.sa_mask);
    sigset_t all, before;
    sigfillset(&all);
    if (sigaction(SIGUSR1, &action, nullptr) != 0)
        return 102;
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    raise(SIGUSR1);
    // It is delivered within the call, whose mask has all others.
    pthread_sigmask(SIG_SETMASK, &all, &before);
    raise(SIGUSR1);
    sigdelset(&all, SIGUSR1);
    timespec soon = {5, 0};
    ppoll(nullptr, 0, &soon, &all);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return handled == 2 ? finish() : 103;
}
