// Allocations that fail for want of memory (CSAN_DEVICE_MEMORY=64M), and what the program does
// then.
//   exhausted CASE
// clang-format off
#include <csan/csan.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <csignal>
#include <stdexcept>
#include <unistd.h>

enum { MB = 1 << 20 };

static void *make(size_t bytes)
{
    void *p = 0;
    return cudaMalloc(&p, bytes) == cudaSuccess ? p : 0; // make
}

static void fill()
{
    for (int i = 0; i < 10; i++) make(4 * MB); // many
    make(8 * MB);                              // one
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    cudaStream_t s;
    cudaStreamCreate(&s);
    if (!strcmp(what, "fine")) { make(MB); return 3; }
    fill();
    if (!strcmp(what, "pool")) {
        void *p;
        cudaMemPool_t pool; uint64_t all = ~0ull;
        cudaDeviceGetDefaultMemPool(&pool, 0);
        cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
        cudaMallocAsync(&p, 12 * MB, s); cudaFreeAsync(p, s); cudaStreamSynchronize(s);
    }
    if (!strcmp(what, "blocks")) {
        char *region = (char *)make(12 * MB);
        csan_pool_alloc(region, 2 * MB, s); csan_pool_alloc(region + 6 * MB, 2 * MB, s);
    }
    if (make(32 * MB)) return 9; // fails
    if (!strcmp(what, "retry")) { if (!make(2 * MB)) return 9; return 1; }
    if (!strcmp(what, "again")) {
        cudaGetLastError();
        cudaDeviceReset();
        if (!make(32 * MB)) return 9;
        return 1;
    }
    if (!strcmp(what, "abort")) abort();
    if (!strcmp(what, "throw")) throw std::runtime_error("no memory");
    if (!strcmp(what, "segv")) raise(SIGSEGV);
    if (!strcmp(what, "_exit")) _exit(2);
    if (!strcmp(what, "survives")) return 0;
    if (!strcmp(what, "loop")) { for (int i = 0; i < 3; i++) make(40 * MB); return 0; } // loop
    return 1;
}
