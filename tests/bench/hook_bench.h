/* What the benchmarks through the real hooks share. They run with a driver that does nothing (the
 * tests' fake), so that the time is csan's own. CSAN=0 shows the cost of the loop and the driver.
 */
#ifndef BENCH_HOOK_BENCH_H
#define BENCH_HOOK_BENCH_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static inline double nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline void check(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s failed: %d; run make bench\n", what, (int)result);
    exit(1);
}

/* Runs the program again, with csan and the fake driver, unless it is that run. */
static inline void bench_start(char **argv)
{
    if (getenv("HOOK_BENCH"))
        return;
    setenv("HOOK_BENCH", "1", 1);
    setenv("LD_LIBRARY_PATH", FAKE_DRIVER, 1);
    setenv("CSAN", "1", 0);
    setenv("CSAN_OPTIONS", "print_summary=0", 1);
    execv("/proc/self/exe", argv);
    exit(1);
}

#endif
