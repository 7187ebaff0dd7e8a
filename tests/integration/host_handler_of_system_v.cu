// verdict: none
// options: host=guard
// A handler of the program's that is set in the way of System V is there for one fault. Pages stay
// guarded.
#include "host_memory.h"
#include <csetjmp>
#include <csignal>
#include <sys/mman.h>

extern "C" sighandler_t __sysv_signal(int, sighandler_t);

static sigjmp_buf before;
static void *const unmapped = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

static void handler(int)
{
    siglongjmp(before, 1);
}

int main()
{
    int *device = device_array<int>(HOST_N), *host = pinned_memory();
    cudaStream_t stream = nonblocking_stream();
    launch_fill(stream, device, 1, HOST_N);
    CHECK(cudaMemcpyAsync(host, device, 64, cudaMemcpyDeviceToHost, stream));
    for (int i = 0; i < 40; i++) {
        if (__sysv_signal(SIGSEGV, handler) == SIG_ERR)
            return 102;
        if (sigsetjmp(before, 1) == 0)
            store((int *)unmapped, 1);
        store(&host[100], i); // other bytes of the guarded page
    }
    CHECK(cudaStreamSynchronize(stream));
    return load(&host[100]) == 39 ? finish() : 103;
}
