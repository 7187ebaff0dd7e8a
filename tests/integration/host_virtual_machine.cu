// verdict: race
// expect: the host's load .* does not wait for cudaMemcpyAsync
// expect: host_virtual_machine.cu:{access}
// options: host=guard:host_order=threads:host_guard_us=1000000
// content: none
// no-tsan: its handlers run late
// A handler of SIGSEGV as virtual machines have it, set before the first call of CUDA: a load of a
// polling page that another thread closes goes on elsewhere, and so does one of a null pointer, by
// a changed context. Threads do both while pages are guarded, and load what lies beside a copy's
// bytes.
#include "host_memory.h"
#include <atomic>
#include <csignal>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#include <ucontext.h>

enum { PAGE = 4096, ELSEWHERE = -1, LOOPS = 20000 };

static int *polling, *host;
static std::atomic<bool> stop;
static std::atomic<int> strangers, polls, nulls;

// Returns ELSEWHERE where the handler has it go on.
static int load_or_go(const int *p)
{
    int value;
#if defined(__aarch64__)
    asm volatile("adr x11, 1f\n"
                 "ldr %w0, [%1]\n"
                 "b 2f\n"
                 "1: mov %w0, #-1\n"
                 "2:"
                 : "=&r"(value)
                 : "r"(p)
                 : "x11", "memory");
#else
    asm volatile("lea 1f(%%rip), %%r11\n"
                 "mov (%1), %0\n"
                 "jmp 2f\n"
                 "1: mov $-1, %0\n"
                 "2:"
                 : "=&r"(value)
                 : "r"(p)
                 : "r11", "memory");
#endif
    return value;
}

static void on_fault(int, siginfo_t *info, void *context)
{
    const char *at = (const char *)info->si_addr;
    if (at >= (char *)polling && at < (char *)polling + PAGE)
        polls++;
    else if (at < (char *)PAGE)
        nulls++;
    else if (strangers++ == 0)
        signal(SIGSEGV, SIG_DFL);
    mcontext_t &machine = ((ucontext_t *)context)->uc_mcontext;
#if defined(__aarch64__)
    machine.pc = machine.regs[11];
#else
    machine.gregs[REG_RIP] = machine.gregs[REG_R11];
#endif
}

static void managed_code()
{
    char room[64 << 10]; // the handler's stack
    const stack_t stack = {room, 0, sizeof room}, none = {nullptr, SS_DISABLE, 0};
    sigaltstack(&stack, nullptr);
    for (int i = 0; i < LOOPS || !stop; i++) {
        load_or_go(polling);
        if (i % 16 == 0 && load_or_go((int *)8) != ELSEWHERE)
            strangers++;
        if (load(host + 100) != 5)
            strangers++;
    }
    sigaltstack(&none, nullptr);
}

int main()
{
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER;
    polling = (int *)mmap(nullptr, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (polling == MAP_FAILED || sigaction(SIGSEGV, &action, nullptr) != 0)
        return 102;
    int *device = device_array<int>(HOST_N);
    host = pinned_memory();
    host[100] = 5;
    cudaStream_t stream = nonblocking_stream();
    std::thread first(managed_code), second(managed_code);
    for (int i = 0; i < 200; i++) {
        CHECK(cudaMemcpyAsync(host, device, 64, cudaMemcpyDeviceToHost, stream));
        mprotect(polling, PAGE, PROT_NONE);
        sched_yield();
        mprotect(polling, PAGE, PROT_READ);
        CHECK(cudaStreamSynchronize(stream));
    }
    while (polls == 0) { // at least once
        mprotect(polling, PAGE, PROT_NONE);
        sched_yield();
    }
    mprotect(polling, PAGE, PROT_READ);
    stop = true;
    first.join();
    second.join();
    if (strangers || !nulls)
        return 103;
    CHECK(cudaMemcpyAsync(host, device, 64, cudaMemcpyDeviceToHost, stream));
    load(&host[3]); // at: access
    return finish();
}
