/* The embedded device with kernels: faults, and traces of what launches touch. */
#include "tests/unit/device/test_device_kernel.h"

/* In a context of its own: the error sticks to it, and only to it. */
static void expect_fault(const char *name, void **params, CUresult expected)
{
    CUcontext own;
    CUmodule loaded;
    CUfunction function;
    CUdeviceptr memory;
    CUstream stream;
    ok(cuCtxCreate(&own, NULL, 0, 0));
    ok(cuModuleLoadData(&loaded, fatbin));
    ok(cuModuleGetFunction(&function, loaded, name));
    ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL); /* never runs */
    assert_int_equal(cuStreamSynchronize(stream), expected);
    assert_int_equal(cuMemAlloc(&memory, 16), expected);
    assert_int_equal(cuStreamQuery(NULL), expected);
    assert_int_equal(cuCtxSynchronize(), expected);
    ok(cuCtxDestroy(own));
    ok(cuCtxSynchronize()); /* the primary context is well */
}

static void faults_stick(void **state)
{
    (void)state;
    CUdeviceptr p = managed(64), none = 0, freed;
    long long offset = 1ll << 40, zero = 0, middle = 1 << 17;
    void *far[] = {&p, &offset}, *null[] = {&none, &zero}, *odd[] = {&p},
         *dead[] = {&freed, &middle};
    int on_the_stack = 0;
    CUdeviceptr pageable = (CUdeviceptr)&on_the_stack;
    void *host[] = {&pageable, &zero};
    expect_fault("bad_address", far, CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_fault("bad_address", null, CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_fault("bad_address", host, CUDA_ERROR_ILLEGAL_ADDRESS);
    ok(cuMemAlloc(&freed, 1 << 20));
    ok(cuMemFree(freed));
    expect_fault("bad_address", dead, CUDA_ERROR_ILLEGAL_ADDRESS);
    expect_fault("misaligned", odd, CUDA_ERROR_MISALIGNED_ADDRESS);
    expect_fault("traps", NULL, CUDA_ERROR_LAUNCH_FAILED);
    expect_fault("asserts", odd, CUDA_ERROR_ASSERT);
    ok(cuMemFree(p));
}

/* ---- Traces -------------------------------------------------------------------------------- */

struct seen {
    uint64_t id, read, written;
    int calls;
};

static void note_launch(void *user, const struct device_trace_launch *launch)
{
    struct seen *seen = user;
    seen->calls++;
    seen->id = launch->id;
    for (size_t i = 0; i < launch->count; i++) {
        const struct device_trace_range *range = &launch->ranges[i];
        uint64_t bytes = range->bytes;
        for (uint32_t k = 0; k < range->dims; k++)
            bytes *= range->count[k];
        if (range->kind == DEVICE_TRACE_READ)
            seen->read += bytes;
        else
            seen->written += bytes;
    }
}

static void traces_what_launches_touch(void **state)
{
    (void)state;
    CUdeviceptr p = managed(4000);
    struct seen seen = {0};
    ok(launch_on(NULL, "add", p, 1, 10));
    ok(cuCtxSynchronize());
    device_trace_subscribe(note_launch, &seen);
    ok(launch_on(NULL, "add", p, 1, 100));
    uint64_t id = device_trace_last_launch();
    ok(cuCtxSynchronize());
    device_trace_subscribe(NULL, NULL);
    ok(launch_on(NULL, "add", p, 1, 10));
    ok(cuCtxSynchronize());
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.id, id);
    assert_int_equal(seen.read, 400);
    assert_int_equal(seen.written, 400);
    assert_true(device_trace_last_launch() > id);
    ok(cuMemFree(p));
}

/* Launches behind one that fails never run: the observer hears of each all the same. */
static void traces_launches_that_never_ran(void **state)
{
    (void)state;
    CUcontext own;
    CUmodule loaded;
    CUfunction function;
    struct seen seen = {0};
    ok(cuCtxCreate(&own, NULL, 0, 0));
    ok(cuModuleLoadData(&loaded, fatbin));
    ok(cuModuleGetFunction(&function, loaded, "traps"));
    device_trace_subscribe(note_launch, &seen);
    int launched = 0;
    for (int i = 0; i < 5; i++)
        launched += cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS;
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    assert_int_equal(seen.calls, launched);
    device_trace_subscribe(NULL, NULL);
    ok(cuCtxDestroy(own));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(faults_stick),
    cmocka_unit_test(traces_what_launches_touch),
    cmocka_unit_test(traces_launches_that_never_ran),
};

TEST_MAIN(tests, start, finish)
