/* Tests that run themselves again as programs of their own, on the GPU that stands in: what
 * learning does from a program's start to its end. */
#ifndef TESTS_UNIT_HOOK_TRACER_HOOK_GPU_RUN_H
#define TESTS_UNIT_HOOK_TRACER_HOOK_GPU_RUN_H

#include "tests/unit/hook/tracer/hook_gpu.h"

#include <errno.h>

static char output[8192];

/* For a run of this program for one launch. */
static inline CUdeviceptr two_buffers(CUdeviceptr *second)
{
    CUdeviceptr first = 0;
    fake_set_parameters =
        (void (*)(int))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_set_parameters");
    if (!fake_set_parameters || cuMemAlloc_v2(&first, 512) != CUDA_SUCCESS ||
        cuMemAlloc_v2(second, 512) != CUDA_SUCCESS)
        exit(2);
    return first;
}

/* This program again, for one launch on that driver, and what it prints. */
static inline int run(const char *mode, const char *directory, const char *environment,
                      const char *options)
{
    char command[2048];
    snprintf(command, sizeof command,
             "env -u CUDA_HOME -u CUDA_PATH ASAN_OPTIONS=verify_asan_link_order=0 "
             "LD_LIBRARY_PATH='%s' %s CSAN_OPTIONS="
             "'symbolize=0:access=learn:learn_cache_mb=0:%s' '%s' %s 2>&1",
             directory, environment, options, program_invocation_name, mode);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

/* So many launches, each reported before the next, with the device idle between. */
static inline void launch_reported(int times, CUfunction f, CUdeviceptr p, CUdeviceptr q)
{
    for (int i = 0; i < times; i++) {
        launch(f, p, q, NULL);
        wait_reported();
        cuCtxSynchronize();
    }
}

#endif
