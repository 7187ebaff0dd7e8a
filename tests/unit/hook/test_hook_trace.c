/* Launches on a device that reports what each one touched: before the launching thread knows the
 * launch's number, or after; on its own thread, or within the call. */
#include "tests/unit/short_memory.h"
#include "tests/unit/hook/test_hook.h"

#include "runtime/trace/trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define OK(call) assert_int_equal((call), CUDA_SUCCESS)

static void (*fake_trace)(uint64_t address, uint64_t bytes, int kind, int at_once);
static void (*fake_trace_report)(void);
static void (*fake_trace_quality)(int inexact, int lost);

/* scatter writes to an address that its PTX does not give; fill to one that it does. */
static const char module_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry scatter(.param .u64 scatter_param_0, .param .u64 scatter_param_1)\n"
    "{\n.reg .b64 %rd<5>;\n.reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [scatter_param_1];\ncvta.to.global.u64 %rd2, %rd1;\n"
    "mov.u32 %r1, %clock;\nand.b32 %r2, %r1, 15;\nmul.wide.u32 %rd3, %r2, 4;\n"
    "add.s64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], %r1;\nret;\n}\n"
    ".visible .entry fill(.param .u64 fill_param_0, .param .u64 fill_param_1)\n"
    "{\n.reg .b64 %rd<3>;\n.reg .f32 %f<2>;\n"
    "ld.param.u64 %rd1, [fill_param_1];\ncvta.to.global.u64 %rd2, %rd1;\n"
    "mov.f32 %f1, 0f00000000;\nst.global.f32 [%rd2], %f1;\nret;\n}\n";

static CUfunction function(const char *name)
{
    static CUmodule module;
    CUfunction f;
    if (!module)
        OK(cuModuleLoadData(&module, module_text));
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static void launch_function(CUfunction f, CUdeviceptr p, CUstream stream)
{
    CUdeviceptr other = 0;
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&other, &p}, NULL));
}

static void launch(CUdeviceptr p, CUstream stream)
{
    static CUfunction f;
    if (!f)
        f = function("scatter");
    launch_function(f, p, stream);
}

static void *report_it(void *unused)
{
    (void)unused;
    fake_trace_report();
    return NULL;
}

static void report_on_another_thread(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, report_it, NULL), 0);
    pthread_join(thread, NULL);
}

/* Two launches that write the halves of p, or the same half, on two streams. */
static void halves(int same, int at_once)
{
    CUdeviceptr p = device(128);
    fake_trace(p, 64, DEVICE_TRACE_WRITE, at_once);
    launch(p, non_blocking());
    fake_trace(same ? p : p + 64, 64, DEVICE_TRACE_WRITE, at_once);
    launch(p, non_blocking());
    if (!at_once)
        report_on_another_thread();
}

static void *wait_for_the_device(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++)
        OK(cuCtxSynchronize());
    return NULL;
}

/* The first launch opens the source, and other threads may ask for it then (make SANITIZE=thread).
 */
static void a_source_is_opened_while_others_wait(void **state)
{
    (void)state;
    pthread_t thread;
    CUdeviceptr p = device(128);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_the_device, NULL), 0);
    fake_trace(p, 64, DEVICE_TRACE_WRITE, 1);
    launch(p, non_blocking());
    pthread_join(thread, NULL);
    assert_int_equal(races(), 0);
}

static void enqueued_within_the_call(void **state)
{
    (void)state;
    halves(0, 1);
    assert_int_equal(races(), 0);
    halves(1, 1);
    assert_int_equal(races(), 1);
}

static void enqueued_later(void **state)
{
    (void)state;
    halves(0, 0);
    assert_int_equal(races(), 0);
    halves(1, 0);
    assert_int_equal(races(), 1);
}

static void traced_races_are_exact_and_name_their_argument(void **state)
{
    (void)state;
    struct csan_race race;
    halves(1, 0);
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_false(race.possible);
    assert_string_equal(race.current.arguments, "1");
    assert_int_equal(race.bytes, 64);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* One launch is not kept, the other's ranges are not, and nobody waits for either. */
static void memory_that_is_short_holds_up_nobody(void **state)
{
    (void)state;
#ifdef MEMORY_IS_NEVER_SHORT
    skip();
#endif
    const size_t missing[] = {TABLE_BYTES, sizeof(struct device_trace_range)};
    for (int i = 0; i < 2; i++) {
        CUdeviceptr p = device(128);
        fake_trace(p, 64, DEVICE_TRACE_WRITE, i);
        short_of = missing[i];
        short_from = i == 0 ? 2 : 1; /* behind the detector's own table */
        launch(p, non_blocking());
        short_of = 0;
        const double began = seconds();
        OK(cuMemsetD8Async(p, 0, 64, non_blocking()));
        assert_int_equal(races(), 1); /* by its fallback */
        assert_true(seconds() - began < 0.5);
        report_on_another_thread();
        csan_races_clear();
        hook_setup(NULL);
    }
}

static void no_report_falls_back_to_the_direction(void **state)
{
    (void)state;
    CUdeviceptr p = device(128);
    struct csan_race race;
    fake_trace(p, 64, DEVICE_TRACE_WRITE, 0);
    launch(p, non_blocking());
    launch(p, non_blocking());
    for (int waited = 0; !races() && waited < 20; waited++)
        OK(cuCtxSynchronize()); /* ops go on when the time is out */
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_true(race.possible);
    report_on_another_thread(); /* too late, and harmless */
}

/* The halves apart are a bound that may be taken; lost words leave the direction, at once. */
static void coarse_and_lost_words_are_bounds(void **state)
{
    (void)state;
    struct csan_race race;
    fake_trace_quality(1, 0);
    halves(0, 0);
    assert_int_equal(races(), 0);
    halves(1, 0);
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_true(race.possible);
    uint64_t mark = csan_race_mark();
    fake_trace_quality(0, 1);
    halves(0, 0);
    fake_trace_quality(0, 0);
    assert_int_equal(csan_races_since(mark, &race, 1), 1);
    assert_true(race.possible);
}

static void annotated_launches_are_not_overruled(void **state)
{
    (void)state;
    CUdeviceptr p = device(128);
    for (int at_once = 0; at_once < 2; at_once++) {
        fake_trace(p, 64, DEVICE_TRACE_WRITE, at_once);
        csan_launch_reads((void *)p, 64);
        launch(p, non_blocking());
        csan_launch_reads((void *)p, 64);
        launch(p, non_blocking());
        report_on_another_thread();
    }
    assert_int_equal(races(), 0);
}

/* A captured launch has no number, and must not take the place of the one before it. */
static void captured_launch_leaves_the_one_before(void **state)
{
    (void)state;
    struct csan_race race;
    CUdeviceptr p = device(128);
    CUstream s = non_blocking(), t = non_blocking();
    fake_trace(p, 64, DEVICE_TRACE_WRITE, 0);
    launch(p, s);
    OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    fake_capture(CU_STREAM_CAPTURE_STATUS_ACTIVE);
    launch(p, s);
    fake_capture(CU_STREAM_CAPTURE_STATUS_NONE);
    launch(p, t);
    report_on_another_thread();
    assert_int_equal(csan_races_since(hook_mark(), &race, 1), 1);
    assert_false(race.possible);
}

/* A launch of which the device says that it wrote where its PTX says it cannot, or there as well;
 * or that it did not. It may say so of a word that is a bound, or lost. */
static int mode_run(const char *mode, const char *quality)
{
    CUdeviceptr p = device(128), q = device(128);
    fake_trace_quality(strcmp(quality, "inexact") == 0, strcmp(quality, "lost") == 0);
    fake_trace(strcmp(mode, "outside") == 0 ? q : p, strcmp(mode, "wider") == 0 ? 8 : 4,
               DEVICE_TRACE_WRITE, 1);
    launch_function(function("fill"), p, non_blocking());
    return 3;
}

static char output[4096];

static int run(const char *mode, const char *options)
{
    char command[512];
    snprintf(command, sizeof command, "CSAN_OPTIONS='symbolize=0:%s' '%s' %s 2>&1", options,
             program_invocation_name, mode);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    return WEXITSTATUS(pclose(pipe));
}

static void wrong_ranges_are_reported_and_fail(void **state)
{
    (void)state;
    assert_int_equal(run("outside", "verify_ranges=1"), 70);
    assert_non_null(strstr(output, "csan: ranges are wrong: kernel fill: argument (none), write"));
    assert_non_null(strstr(output, "grid 1 1 1, block 1 1 1"));
    assert_int_equal(run("outside", "verify_ranges=0"), 3);
    assert_null(strstr(output, "csan: ranges"));
}

static void right_ranges_are_summed_up(void **state)
{
    (void)state;
    assert_int_equal(run("inside", "verify_ranges=1"), 3);
    assert_null(strstr(output, "wrong"));
    assert_non_null(strstr(output, "csan: ranges: fill: 1 launches, 0 incomplete, 0 not judged, "
                                   "pointers: "));
}

/* A bound judges exact ranges alone, and what is lost nothing; neither counts as judged. */
static void bounds_and_lost_words_are_not_verified(void **state)
{
    (void)state;
    assert_int_equal(run("wider", "verify_ranges=1"), 70);
    assert_int_equal(run("wider inexact", "verify_ranges=1"), 3);
    assert_null(strstr(output, "wrong"));
    assert_non_null(strstr(output, "csan: ranges: fill: 1 launches, 0 incomplete, 1 not judged, "));
    assert_int_equal(run("outside inexact", "verify_ranges=1"), 70);
    assert_non_null(strstr(output, "were not touched, and an exact range has them"));
    assert_null(strstr(output, "no range has them"));
    assert_int_equal(run("outside lost", "verify_ranges=1"), 3);
    assert_null(strstr(output, "wrong"));
    assert_non_null(strstr(output, "csan: ranges: fill: 1 launches, 0 incomplete, 1 not judged, "));
}

/* Without its word a launch is known as on a GPU. */
static void trace_can_be_left_out(void **state)
{
    (void)state;
    assert_int_equal(run("inside", "trace=0"), 3);
    assert_null(strstr(output, "traced"));
    assert_int_equal(run("outside", "trace=0:verify_ranges=1"), 70);
    assert_null(strstr(output, "traced"));
}

int main(int argc, char **argv)
{
    setenv("CSAN_OPTIONS", "symbolize=0:print_summary=0:log_path=/dev/null:pending_timeout_ms=100",
           0);
    hook_test_start_on(FAKE_DRIVER "/traced", argv);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    fake_trace = (void (*)(uint64_t, uint64_t, int, int))dlsym(driver, "fake_trace");
    fake_trace_report = (void (*)(void))dlsym(driver, "fake_trace_report");
    fake_trace_quality = (void (*)(int, int))dlsym(driver, "fake_trace_quality");
    if (argc > 1)
        return mode_run(argv[1], argc > 2 ? argv[2] : "");
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    const struct CMUnitTest tests[] = {
        TEST(a_source_is_opened_while_others_wait), /* by the first launch */
        TEST(enqueued_within_the_call),
        TEST(enqueued_later),
        TEST(memory_that_is_short_holds_up_nobody),
        TEST(traced_races_are_exact_and_name_their_argument),
        TEST(no_report_falls_back_to_the_direction),
        TEST(coarse_and_lost_words_are_bounds),
        TEST(annotated_launches_are_not_overruled),
        TEST(captured_launch_leaves_the_one_before),
        TEST(wrong_ranges_are_reported_and_fail),
        TEST(right_ranges_are_summed_up),
        TEST(bounds_and_lost_words_are_not_verified),
        TEST(trace_can_be_left_out),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_trace", tests, NULL, NULL));
}
