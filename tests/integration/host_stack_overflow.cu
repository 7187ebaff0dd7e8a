// verdict: none
// options: host=guard
// A program's handler of SIGSEGV on an alternate stack finds that the stack is full, with pages
// guarded, and goes on.
#include "host_memory.h"
#include <csetjmp>
#include <csignal>
#include <sys/mman.h>
#include <thread>

static sigjmp_buf before;
static volatile int depth;

static void handler(int, siginfo_t *, void *)
{
    siglongjmp(before, 1);
}

__attribute__((noinline)) static int deeper(int n)
{
    volatile char room[4096];
    room[0] = (char)n;
    depth = n;
    return n < 0 ? 0 : deeper(n + 1) + room[0];
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    std::thread([] {
        static char room[65536];
        stack_t stack = {}, previous;
        stack.ss_sp = room;
        stack.ss_size = sizeof room;
        struct sigaction action = {};
        action.sa_sigaction = handler;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        if (sigaltstack(&stack, &previous) != 0 || sigaction(SIGSEGV, &action, nullptr) != 0)
            exit(102);
        if (sigsetjmp(before, 1) == 0)
            deeper(0);
        if (sigaltstack(&previous, nullptr) != 0)
            exit(104);
    }).join();
    CHECK(cudaStreamSynchronize(stream));
    return depth > 100 && load(&host[0]) == 1 ? finish() : 103;
}
