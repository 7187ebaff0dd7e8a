/* See test_hook.h. */
#include "tests/unit/hook/test_hook.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void (*fake_fail_next)(int result);
uint64_t (*fake_calls)(void);
void (*fake_reuse_handle)(void *handle);
void (*fake_capture)(int status);
void (*fake_set_context)(void *context);
void (*fake_context_is_of_this_thread)(int alone);
void (*fake_set_primary_active)(int active);
void (*fake_run_host_functions)(void);
void (*fake_run_at_once)(int on);
void (*fake_gate)(int *gate);
void (*fake_move_variables)(uint64_t by);
void (*fake_set_parameters)(int count);
void (*fake_set_architecture)(int architecture);

static uint64_t mark;

static void find(void *driver, void **function, const char *name)
{
    *function = dlsym(driver, name);
    if (!*function) {
        fprintf(stderr, "the fake driver has no %s\n", name);
        exit(2);
    }
}

void hook_test_start(char **argv)
{
    hook_test_start_on(FAKE_DRIVER, argv);
}

void hook_test_start_on(const char *directory, char **argv)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    if (!path || strcmp(path, directory) != 0) {
        setenv("LD_LIBRARY_PATH", directory, 1);
        setenv("CSAN", "1", 0);
        /* A driver call in a signal handler is the program's own risk, and a driver's as much. */
        setenv("TSAN_OPTIONS", "report_signal_unsafe=0", 0);
        setenv("CSAN_OPTIONS", "symbolize=0:print_summary=0:log_path=/dev/null", 0);
        execv("/proc/self/exe", argv);
        perror("exec");
        exit(2);
    }
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    find(driver, (void **)&fake_fail_next, "fake_fail_next");
    find(driver, (void **)&fake_calls, "fake_calls");
    find(driver, (void **)&fake_reuse_handle, "fake_reuse_handle");
    find(driver, (void **)&fake_capture, "fake_capture");
    find(driver, (void **)&fake_set_context, "fake_set_context");
    find(driver, (void **)&fake_context_is_of_this_thread, "fake_context_is_of_this_thread");
    find(driver, (void **)&fake_set_primary_active, "fake_set_primary_active");
    find(driver, (void **)&fake_run_at_once, "fake_run_at_once");
    find(driver, (void **)&fake_gate, "fake_gate");
    find(driver, (void **)&fake_move_variables, "fake_move_variables");
    find(driver, (void **)&fake_set_parameters, "fake_set_parameters");
    find(driver, (void **)&fake_set_architecture, "fake_set_architecture");
    find(driver, (void **)&fake_run_host_functions, "fake_run_host_functions");
}

int hook_setup(void **state)
{
    (void)state;
    cuCtxSynchronize();
    csan_races_clear();
    mark = csan_race_mark();
    return 0;
}

CUstream blocking(void)
{
    CUstream stream;
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    return stream;
}

CUstream non_blocking(void)
{
    CUstream stream;
    assert_int_equal(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    return stream;
}

CUevent event(void)
{
    CUevent made;
    assert_int_equal(cuEventCreate(&made, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    return made;
}

CUdeviceptr device(size_t bytes)
{
    CUdeviceptr p;
    assert_int_equal(cuMemAlloc_v2(&p, bytes), CUDA_SUCCESS);
    return p;
}

size_t races(void)
{
    return csan_races_since(mark, NULL, 0);
}

int first_kind(void)
{
    struct csan_race race;
    return csan_races_since(mark, &race, 1) ? race.kind : -1;
}

uint64_t hook_mark(void)
{
    return mark;
}

int hook_finish(int failed)
{
    csan_races_clear();
    return failed;
}
