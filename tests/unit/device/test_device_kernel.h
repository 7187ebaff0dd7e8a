/* For tests of the embedded device with kernels: tests/data/device/kernels.cu, compiled by nvcc
 * beside this program, in a context that all tests of a program share. Each program runs once under
 * each scheduling policy. */
#ifndef TESTS_UNIT_DEVICE_TEST_DEVICE_KERNEL_H
#define TESTS_UNIT_DEVICE_TEST_DEVICE_KERNEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CUDA_ENABLE_DEPRECATED /* cuLaunch and its kin */
#include <cuda.h>
#include "tests/unit/device/test_schedules.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/trace/trace.h"

static const char *schedule;

static inline bool is_random(void)
{
    return !strncmp(schedule, "random", 6);
}

#define ok(call) assert_int_equal((call), CUDA_SUCCESS)

static CUcontext context;
static CUmodule module;
static char *fatbin;
static size_t fatbin_bytes;

/* build/tests/unit/test_device_kernel -> build/tests/data/device_kernels.<kind> */
static inline char *read_data(const char *kind, size_t *bytes)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    assert_true(length > 0);
    path[length] = 0;
    *strrchr(path, '/') = 0;
    *strrchr(path, '/') = 0;
    sprintf(path + strlen(path), "/data/device_kernels.%s", kind);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(*bytes + 1);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    data[*bytes] = 0;
    fclose(file);
    return data;
}

static inline int start(void **state)
{
    (void)state;
    ok(cuInit(0));
    ok(cuDevicePrimaryCtxRetain(&context, 0));
    ok(cuCtxSetCurrent(context));
    fatbin = read_data("fatbin", &fatbin_bytes);
    ok(cuModuleLoadData(&module, fatbin));
    return 0;
}

static inline int finish(void **state)
{
    (void)state;
    ok(cuModuleUnload(module));
    ok(cuDevicePrimaryCtxRelease(0));
    free(fatbin);
    return 0;
}

static inline CUfunction kernel(const char *name)
{
    CUfunction function = NULL;
    ok(cuModuleGetFunction(&function, module, name));
    return function;
}

static inline CUdeviceptr managed(size_t bytes)
{
    CUdeviceptr memory = 0;
    ok(cuMemAllocManaged(&memory, bytes, CU_MEM_ATTACH_GLOBAL));
    memset((void *)memory, 0, bytes);
    return memory;
}

/* add or multiply */
static inline CUresult launch_on(CUstream stream, const char *name, CUdeviceptr p, int value, int n)
{
    void *params[] = {&p, &value, &n};
    return cuLaunchKernel(kernel(name), (unsigned)(n + 63) / 64, 1, 1, 64, 1, 1, 0, stream, params,
                          NULL);
}

#endif
