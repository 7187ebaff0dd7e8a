/* Learning in the hooks, of kernels that are machine code only: what is known, what waits for it,
 * what is lost or fails. */
#include "tests/unit/hook/test_hook.h"

#include "runtime/trace/trace.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

static void (*fake_trace)(uint64_t address, uint64_t bytes, int kind, int at_once);
static void (*fake_trace_report)(void);
static void (*fake_trace_quality)(int inexact, int lost);

enum { PENDING = 8192 };

static const char machine_code[64] = "\177ELF\2\1\1";

/* 128 bytes, aligned as the real driver's memory is: alignment is in the key. */
static CUdeviceptr buffer(void)
{
    return (device(512) + 255) & ~(CUdeviceptr)255;
}

/* A kernel with two pointers of which nothing is known yet. */
static CUfunction fresh(void)
{
    static int number;
    char name[32];
    CUmodule module;
    CUfunction f;
    snprintf(name, sizeof name, "kernel%d", ++number);
    OK(cuModuleLoadData(&module, machine_code));
    OK(cuModuleGetFunction(&f, module, name));
    fake_set_parameters(2);
    return f;
}

static CUresult launch_code(CUfunction f, CUdeviceptr p, CUdeviceptr q, CUstream stream)
{
    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&p, &q}, NULL);
}

/* It writes the first half of what the second pointer points to. */
static void launch(CUfunction f, CUdeviceptr p, CUdeviceptr q, CUstream stream, int at_once)
{
    fake_trace(q, 64, DEVICE_TRACE_WRITE, at_once);
    OK(launch_code(f, p, q, stream));
}

/* The device says of this launch what is not so; nobody may listen. */
static void launch_unheard(CUfunction f, CUdeviceptr p, CUdeviceptr q, CUstream stream)
{
    fake_trace(p, 128, DEVICE_TRACE_WRITE, 1);
    OK(launch_code(f, p, q, stream));
}

static void report_on_another_thread(void)
{
    pthread_t thread;
    assert_int_equal(
        pthread_create(&thread, NULL, (void *(*)(void *))(void *)fake_trace_report, NULL), 0);
    pthread_join(thread, NULL);
}

static void the_third_launch_is_known(void **state)
{
    (void)state;
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr p = buffer(), q = buffer(), r = buffer();
    CUstream s = non_blocking(), t = non_blocking();
    launch(f, p, q, s, 1);
    launch(f, q, p, s, 1);
    launch_unheard(f, p, r, s);
    OK(cuMemsetD8Async(p, 0, 64, s));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(r + 64, 0, 64, t)); /* the other half */
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(r, 0, 64, t));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_false(race.possible);
    assert_string_equal(race.previous.arguments, "1");
    assert_int_equal(race.address, r);
    assert_int_equal(race.bytes, 64);
}

/* Parameters of unknown layout, in a buffer. */
static void a_buffer_is_the_parameters(void **state)
{
    (void)state;
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr p = buffer(), q = buffer();
    CUstream s = non_blocking();
    fake_set_parameters(-2);
    for (int i = 0; i < 3; i++) {
        CUdeviceptr pointers[2] = {i % 2 ? q : p, i % 2 ? p : q};
        size_t bytes = sizeof pointers;
        void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, pointers, CU_LAUNCH_PARAM_BUFFER_SIZE,
                         &bytes, CU_LAUNCH_PARAM_END};
        fake_trace(i < 2 ? pointers[1] : p, i < 2 ? 64 : 128, DEVICE_TRACE_WRITE, 1);
        OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, extra));
    }
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(q, 0, 128, non_blocking()));
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_false(race.possible);
    assert_int_equal(race.bytes, 64);
    fake_set_parameters(2);
}

/* Launches that were made before the first traces came. */
static void launches_wait_for_the_first(void **state)
{
    (void)state;
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr p = buffer(), q = buffer(), r = buffer();
    launch(f, p, q, non_blocking(), 0);
    launch(f, q, p, non_blocking(), 0);
    for (int i = 0; i < 2; i++)
        OK(launch_code(f, p, r, non_blocking())); /* traced by this device, and not listened to */
    assert_int_equal(races(), 0);
    report_on_another_thread();
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_false(race.possible);
    assert_int_equal(race.address, r);
    assert_int_equal(race.bytes, 64);
}

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* No more of them are kept than the detector has room for, and each costs the same. */
static void launches_behind_a_held_trace_do_not_pile_up(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr p = buffer(), q = buffer();
    CUstream s = non_blocking();
    launch(f, p, q, s, 0);
    launch(f, p, q, s, 0);
    const double began = cpu_seconds();
    for (int i = 0; i < PENDING; i++)
        launch_unheard(f, p, q, s);
    const size_t full = mallinfo2().uordblks;
    for (int i = 0; i < PENDING; i++)
        launch_unheard(f, p, q, s);
    assert_in_range(mallinfo2().uordblks, 0, full + (1 << 20));
    assert_true(cpu_seconds() - began < 2);
    assert_int_equal(races(), 0);
    report_on_another_thread();
    OK(cuMemsetD8Async(q, 0, 4, non_blocking()));
    assert_int_equal(races(), 1);
}

static void what_is_not_checked_does_not_wait(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr p = buffer(), q = buffer();
    CUstream s = non_blocking();
    launch(f, p, q, s, 0);
    launch(f, p, q, s, 0);
    csan_ignore_begin();
    launch_unheard(f, p, q, s);
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 1000; i++)
        launch_unheard(f, p, q, s);
    csan_ignore_end();
    assert_in_range(mallinfo2().uordblks, 0, before + (1 << 19));
    report_on_another_thread();
}

static void a_launch_that_failed_taught_nothing(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr p = buffer(), q = buffer();
    CUstream s = non_blocking();
    for (int i = 0; i < 3; i++) {
        fake_fail_next(CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(launch_code(f, p, q, s), CUDA_ERROR_INVALID_VALUE);
    }
    launch(f, p, q, s, 1);
    launch(f, p, q, s, 1);
    launch_unheard(f, p, q, s);
    OK(cuMemsetD8Async(p, 0, 128, non_blocking()));
    assert_int_equal(races(), 0);
    OK(cuMemsetD8Async(q, 0, 4, non_blocking()));
    assert_int_equal(races(), 1);
}

static void lost_traces_hold_nobody(void **state)
{
    (void)state;
    CUfunction f = fresh();
    CUdeviceptr p = buffer(), q = buffer();
    CUstream s = non_blocking();
    fake_trace_quality(0, 1);
    for (int i = 0; i < 4; i++)
        launch(f, p, q, s, 0);
    report_on_another_thread();
    fake_trace_quality(0, 0);
    OK(cuMemsetD8Async(p, 0, 64, s));
    OK(cuMemsetD8Async(p, 0, 64, non_blocking())); /* a race that nothing holds back */
    assert_int_equal(races(), 1);
}

/* Indices that move: found at the fourth launch, a bound from then on. */
static void data_makes_a_bound(void **state)
{
    (void)state;
    struct csan_race race;
    CUfunction f = fresh();
    CUdeviceptr p = buffer(), q = buffer();
    CUstream s = non_blocking();
    for (int i = 0; i < 4; i++) {
        fake_trace(i < 3 ? q : q + 32, 32, DEVICE_TRACE_WRITE, 1);
        OK(launch_code(f, p, q, s));
    }
    launch_unheard(f, p, q, s);
    OK(cuMemsetD8Async(q + 96, 0, 32, non_blocking())); /* never touched so far */
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_true(race.possible);
    assert_string_equal(race.previous.arguments, "1");
}

/* Many threads, each with its own stream and buffers, and one kernel. */
enum { THREADS = 4, ROUNDS = 200 };
static CUfunction shared_function;

static void *launch_many(void *user)
{
    CUdeviceptr *own = user;
    CUstream s = non_blocking();
    for (int i = 0; i < ROUNDS; i++)
        launch(shared_function, own[0], own[i % 2], s, 1);
    return NULL;
}

static void threads_learn_together(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    CUdeviceptr buffers[THREADS][2];
    shared_function = fresh();
    for (int i = 0; i < THREADS; i++) {
        buffers[i][0] = buffer();
        buffers[i][1] = buffer();
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, buffers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(races(), 0);
}

int main(int argc, char **argv)
{
    (void)argc;
    setenv("CSAN_OPTIONS",
           "symbolize=0:print_summary=0:log_path=/dev/null:access=learn:learn_cache_mb=0:"
           "pending_limit=8192",
           0);
    hook_test_start_on(FAKE_DRIVER "/traced", argv);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    fake_trace = (void (*)(uint64_t, uint64_t, int, int))dlsym(driver, "fake_trace");
    fake_trace_report = (void (*)(void))dlsym(driver, "fake_trace_report");
    fake_trace_quality = (void (*)(int, int))dlsym(driver, "fake_trace_quality");
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    const struct CMUnitTest tests[] = {
        TEST(the_third_launch_is_known),
        TEST(a_buffer_is_the_parameters),
        TEST(launches_wait_for_the_first),
        TEST(a_launch_that_failed_taught_nothing),
        TEST(lost_traces_hold_nobody),
        TEST(data_makes_a_bound),
        TEST(threads_learn_together),
        TEST(launches_behind_a_held_trace_do_not_pile_up),
        TEST(what_is_not_checked_does_not_wait),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_learning", tests, NULL, NULL));
}
