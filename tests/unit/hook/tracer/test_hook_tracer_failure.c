/* A kernel fails while the driver's tools interface is in use, when no GPU core dump comes: the
 * launches that had not finished are found by what their streams wrote (launch/progress.h). */
#include "tests/unit/hook/tracer/hook_gpu_run.h"

static void (*stop_stream)(CUstream stream);
static void (*fake_fail)(int code);

static CUfunction kernel_of(const char *image, const char *name)
{
    CUmodule module;
    CUfunction f;
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&f, module, name));
    fake_set_parameters(2);
    return f;
}

static CUfunction kernel(const char *name)
{
    return kernel_of(machine_code, name);
}

/* Writes a word at its first pointer; the other then stops. */
#define KERNEL(name, end)                                                                          \
    ".visible .entry " name "(.param .u64 p, .param .u64 q)\n{\n"                                  \
    "    .reg .b64 %rd<3>;\n    ld.param.u64 %rd1, [p];\n"                                         \
    "    cvta.to.global.u64 %rd2, %rd1;\n    st.global.u32 [%rd2], 1;\n    " end ";\n}\n"
static const char ptx[] = ".version 7.5\n.target sm_80\n.address_size 64\n" KERNEL("writes", "ret")
    KERNEL("traps", "trap");

/* Each in a function of its own: stacks name them. */
static __attribute__((noinline)) void launch_many(int times, CUfunction f, CUdeviceptr p,
                                                  CUdeviceptr q, CUstream stream)
{
    for (int i = 0; i < times; i++)
        launch(f, p, q, stream);
}

static void synchronize_failed(CUstream stream)
{
    fake_fail(CUDA_ERROR_ILLEGAL_ADDRESS);
    printf("synchronize %d\n", cuStreamSynchronize(stream));
}

static int mode_run(const char *mode)
{
    CUdeviceptr q, p = two_buffers(&q);
    controls_find();
    *(void **)&stop_stream = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_stop_stream");
    *(void **)&fake_fail = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_fail_wait");
    CUstream a, b;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    CUfunction good = kernel("good"), bad = kernel("bad"), later = kernel("later");
    launch_many(5, good, p, q, a);
    launch_many(5, good, p, q, b);
    CUfunction known = NULL;
    if (strcmp(mode, "writes") == 0 || strcmp(mode, "traps") == 0) {
        known = kernel_of(ptx, mode);
        launch_many(3, known, p, q, a);
    }
    if (strcmp(mode, "none") != 0)
        stop_stream(a);
    if (known) {
        launch_many(1, known, p, q, a);
        synchronize_failed(a);
        return 0;
    }
    launch_many(1, bad, p, q, a);
    launch_many(7, later, p, q, a);
    if (strcmp(mode, "two") == 0) {
        stop_stream(b);
        launch_many(1, later, p, q, b);
    } else {
        launch_many(3, good, p, q, b);
    }
    synchronize_failed(a);
    return 0;
}

static void said(const char *text)
{
    if (!strstr(output, text))
        fail_msg("not said: %s\nin: %s", text, output);
}

static void the_first_that_had_not_finished_is_named(void **state)
{
    (void)state;
    assert_int_equal(run("one", GPU ":" TOOLS, "", "exitcode=66"), 66);
    said("synchronize 700");
    said("illegal memory access in bad");
    said("the first launch of its stream that had not finished");
    said("access=ptx");
}

static void of_several_streams_each_is_named(void **state)
{
    (void)state;
    assert_int_equal(run("two", GPU ":" TOOLS, "", "exitcode=66"), 66);
    said("one of those that had not finished, bad, later.");
}

static void where_all_had_finished_the_newest_are_named(void **state)
{
    (void)state;
    assert_int_equal(run("none", GPU ":" TOOLS, "", "exitcode=66"), 66);
    said("The newest launches were of: ");
}

static void a_launch_that_is_known_needs_no_number(void **state)
{
    (void)state;
    assert_int_equal(run("writes", GPU ":" TOOLS, "", "exitcode=66"), 66);
    said("Which kernel failed is not known. The newest launches were of: writes, good.");
}

static void one_that_may_trap_does(void **state)
{
    (void)state;
    assert_int_equal(run("traps", GPU ":" TOOLS, "", "exitcode=66"), 66);
    said("illegal memory access in traps");
    said("the first launch of its stream that had not finished");
}

static void without_errors_nothing_is_written(void **state)
{
    (void)state;
    assert_int_equal(run("one", GPU ":" TOOLS, "", "exitcode=66:errors=off"), 0);
    assert_null(strstr(output, "CSAN: "));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return mode_run(argv[1]);
#define TEST(name) cmocka_unit_test_setup(name, hook_setup)
    gpu_test_start(argv);
    const struct CMUnitTest tests[] = {
        TEST(the_first_that_had_not_finished_is_named),
        TEST(of_several_streams_each_is_named),
        TEST(where_all_had_finished_the_newest_are_named),
        TEST(a_launch_that_is_known_needs_no_number),
        TEST(one_that_may_trap_does),
        TEST(without_errors_nothing_is_written),
    };
    return hook_finish(cmocka_run_group_tests_name("hook_tracer_failure", tests, NULL, NULL));
}
