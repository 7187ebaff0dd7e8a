/* Launches and sets that can be deferred, but for a place's first, and the test's program run in a
 * process of its own, for the tests of runtime/hook/session/deferred.h. */
#ifndef TESTS_UNIT_HOOK_HOOK_DEFERRED_H
#define TESTS_UNIT_HOOK_HOOK_DEFERRED_H

#include "tests/unit/hook/test_hook.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

/* fill: writes a float. large: the same, with more parameters than are deferred. */
static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry fill(.param .u64 fill_param_0)\n"
    "{\n.reg .b64 %rd<3>;\n.reg .f32 %f<2>;\n"
    "ld.param.u64 %rd1, [fill_param_0];\ncvta.to.global.u64 %rd2, %rd1;\n"
    "st.global.f32 [%rd2], %f1;\nret;\n}\n"
    ".visible .entry large(.param .u64 large_param_0, .param .align 8 .b8 large_param_1[16384])\n"
    "{\n.reg .b64 %rd<3>;\n.reg .f32 %f<2>;\n"
    "ld.param.u64 %rd1, [large_param_0];\ncvta.to.global.u64 %rd2, %rd1;\n"
    "st.global.f32 [%rd2], %f1;\nret;\n}\n";

static inline CUmodule module_load(void)
{
    CUmodule module;
    OK(cuModuleLoadData(&module, module_text));
    return module;
}

static inline CUfunction function_of(CUmodule module, const char *name)
{
    CUfunction f;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static inline CUfunction filling(void)
{
    static CUfunction f;
    if (!f)
        f = function_of(module_load(), "fill");
    return f;
}

static inline void launch(CUfunction f, CUdeviceptr p, CUstream stream)
{
    static unsigned char bytes[16384];
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&p, bytes}, NULL));
}

static inline void fill(CUdeviceptr p, CUstream stream)
{
    launch(filling(), p, stream);
}

static __attribute__((noipa, unused)) void set(CUdeviceptr p, CUstream stream)
{
    OK(cuMemsetD8Async(p, 0, 16, stream));
}

/* By both functions that can copy between devices' memory. */
static __attribute__((noipa, unused)) void copy(CUdeviceptr to, CUdeviceptr from, CUstream stream)
{
    static unsigned turn;
    if (turn++ % 2)
        OK(cuMemcpyAsync(to, from, 16, stream));
    else
        OK(cuMemcpyDtoDAsync_v2(to, from, 16, stream));
}

/* From one place, and that often. */
static __attribute__((noipa, unused)) void fill_each(unsigned count, const CUdeviceptr *p,
                                                     const CUstream *streams)
{
    for (unsigned i = 0; i < count; i++)
        fill(p[i], streams[i]);
}

/* The program does something else of which csan knows. */
static inline void turn_to(CUstream stream)
{
    OK(cuStreamQuery(stream));
}

/* Threads of this process that are csan's own. */
static inline int own_threads(void)
{
    int count = 0;
    struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    while ((entry = readdir(tasks)) != NULL) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(name, sizeof name, file))
            count += strcmp(name, "csan\n") == 0;
        if (file)
            fclose(file);
    }
    closedir(tasks);
    return count;
}

/* What the last run printed. */
static char output[65536];

/* Its exit code. */
static inline int run(const char *mode, const char *options)
{
    char command[512];
    snprintf(command, sizeof command, "CSAN=1 CSAN_OPTIONS='symbolize=0:%s' '%s' %s 2>&1", options,
             program_invocation_name, mode);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#endif
