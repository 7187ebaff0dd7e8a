// verdict: race
// expect: host_handler_within_step.cu:{early}
// options: host=guard
// One load reads the end of a guarded page, beside what the copy writes, and a page that the
// program itself has closed. The program's handler of SIGSEGV loads from the guarded page, too, and
// opens the closed one. No trap of a single step is left that would end the program.
#include "host_memory.h"
#include <csignal>
#include <cstdint>
#include <sys/mman.h>

enum { PAGE = 4096, COPIED = 1024 };

static char *page; // the guarded one; the closed one follows
static volatile int faults;

static void handler(int, siginfo_t *, void *)
{
    faults = faults + 1;
    load((int *)(page + 4 * PAGE + 2 * COPIED));
    load((int *)page); // at: early
    if (mprotect(page + PAGE, PAGE, PROT_READ | PROT_WRITE) != 0)
        _exit(104);
}

int main()
{
    int *device = device_array<int>(HOST_N);
    cudaStream_t stream = nonblocking_stream();
    struct sigaction action = {};
    page = (char *)pinned_memory();
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    if (sigaction(SIGSEGV, &action, nullptr) != 0 || mprotect(page + PAGE, PAGE, PROT_NONE) != 0)
        return 102;
    CHECK(cudaMemcpyAsync(page, device, COPIED, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(page + 4 * PAGE, device, COPIED, cudaMemcpyDeviceToHost, stream));
    const uint64_t both = *(volatile uint64_t *)(page + PAGE - 4);
    if (both != 0 || faults != 1)
        return 103;
    return finish();
}
