// verdict: none
// options: host=guard
// content: none
// The program's own handler of SIGSEGV, set while pages are guarded, gets its own faults and no
// others.
#include "host_memory.h"
#include <csetjmp>
#include <csignal>
#include <sys/mman.h>

static sigjmp_buf before;
static volatile int faults;
static void *const unmapped = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

static void handler(int, siginfo_t *info, void *)
{
    faults = faults + (info->si_addr == unmapped);
    siglongjmp(before, 1);
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, HOST_BYTES, cudaMemcpyDeviceToHost, stream));
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    if (sigaction(SIGSEGV, &action, nullptr) != 0)
        return 102;
    if (sigsetjmp(before, 1) == 0)
        store((int *)unmapped, 1);
    CHECK(cudaStreamSynchronize(stream));
    load(&host[0]);
    if (faults != 1)
        return 103;
    return finish();
}
