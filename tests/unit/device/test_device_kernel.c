/* The embedded device with kernels: launches on streams, and what they are ordered by. */
#include "tests/unit/device/test_device_kernel.h"

static void passes_parameters(void **state)
{
    (void)state;
    struct {
        CUdeviceptr target;
        short step;
        long long scale;
    } pair = {managed(4), -3, 1000};
    char first = 7;
    double last = 2.5;
    void *params[] = {&first, &pair, &last};
    CUfunction function = kernel("by_value");
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ok(cuCtxSynchronize());
    assert_int_equal(*(int *)pair.target, 7 - 3000 + 2);
    char buffer[40] = {0};
    size_t bytes = sizeof buffer;
    buffer[0] = 1;
    memcpy(buffer + 8, &pair, sizeof pair);
    memcpy(buffer + 32, &last, sizeof last);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    ok(cuCtxSynchronize());
    assert_int_equal(*(int *)pair.target, 1 - 3000 + 2);
    bytes = 39;
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    ok(cuMemFree(pair.target));
}

/* "Each block contains the number of threads specified by a previous call to
 * cuFuncSetBlockShape()." */
static void launches_what_was_set(void **state)
{
    (void)state;
    CUfunction add = kernel("add");
    CUdeviceptr p = managed(64 * sizeof(int));
    int *values = (int *)p;
    memset(values, 0, 64 * sizeof(int));
    assert_int_equal(cuLaunch(add), CUDA_ERROR_INVALID_VALUE);
    ok(cuFuncSetBlockShape(add, 8, 1, 1));
    ok(cuFuncSetSharedSize(add, 16));
    ok(cuParamSetv(add, 0, &p, sizeof p));
    ok(cuParamSeti(add, 8, 3));
    ok(cuParamSeti(add, 12, 64));
    assert_int_equal(cuLaunch(add), CUDA_ERROR_INVALID_VALUE);
    ok(cuParamSetSize(add, 16));
    ok(cuLaunch(add));
    ok(cuLaunchGrid(add, 2, 1));
    ok(cuLaunchGridAsync(add, 3, 1, NULL));
    ok(cuCtxSynchronize());
    assert_int_equal(values[7], 9);
    assert_int_equal(values[8], 6);
    assert_int_equal(values[16], 3);
    assert_int_equal(values[24], 0);
    assert_int_equal(cuFuncSetBlockShape(add, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuParamSetv(add, 4090, values, 8), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchGrid(add, 0, 1), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemFree(p));
}

static void checks_launches(void **state)
{
    (void)state;
    CUdeviceptr p = managed(4096);
    void *params[] = {&p};
    CUfunction function = kernel("reverse");
    assert_int_equal(cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 32, 32, 2, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(function, 1, 70000, 1, 1, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 50000, NULL, params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(kernel("bounded"), 1, 1, 1, 65, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, (CUstream)module, params, NULL),
                     CUDA_ERROR_INVALID_HANDLE);
    ok(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
    assert_int_equal(
        cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449),
        CUDA_ERROR_INVALID_VALUE);
    for (int i = 0; i < 1000; i++)
        ((int *)p)[i] = i;
    ok(cuLaunchKernel(function, 1, 1, 1, 1000, 1, 1, 232448, NULL, params, NULL));
    ok(cuCtxSynchronize());
    for (int i = 0; i < 1000; i++)
        assert_int_equal(((int *)p)[i], 999 - i);
    ok(cuMemFree(p));
}

/* Each block leaves the shape of its cluster and its own rank there. */
#define PLACE_IN_CLUSTER                                                                           \
    "{ .reg .b32 %r<8>; .reg .b64 %d<3>; ld.param.b64 %d0, [out];\n"                               \
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %nctaid.x;\n"                      \
    "mad.lo.u32 %r0, %r1, %r2, %r0; mad.wide.u32 %d1, %r0, 16, %d0;\n"                             \
    "mov.u32 %r3, %cluster_nctaid.x; mov.u32 %r4, %cluster_nctaid.y;\n"                            \
    "mov.u32 %r5, %cluster_nctaid.z; mov.u32 %r6, %cluster_ctarank;\n"                             \
    "st.global.v4.b32 [%d1], {%r3, %r4, %r5, %r6}; ret; }\n"
static const char cluster_code[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry clustered(.param .b64 out) .explicitcluster .reqnctapercluster 2, 2, "
    "1\n" PLACE_IN_CLUSTER ".visible .entry unclustered(.param .b64 out)\n" PLACE_IN_CLUSTER;

/* A launch that names no cluster has the one in the code, or else the attribute's. */
static void clusters_without_being_asked(void **state)
{
    (void)state;
    CUmodule clusters;
    CUfunction fixed, function;
    ok(cuModuleLoadData(&clusters, cluster_code));
    ok(cuModuleGetFunction(&fixed, clusters, "clustered"));
    ok(cuModuleGetFunction(&function, clusters, "unclustered"));
    int *out = (int *)managed(8 * 4 * sizeof(int));
    CUdeviceptr p = (CUdeviceptr)out;
    void *params[] = {&p};
    ok(cuLaunchKernel(fixed, 4, 2, 1, 32, 1, 1, 0, NULL, params, NULL));
    ok(cuCtxSynchronize());
    for (int i = 0; i < 8; i++) {
        int shape[] = {2, 2, 1, i / 4 * 2 + i % 2};
        assert_memory_equal(out + 4 * i, shape, sizeof shape);
    }
    assert_int_equal(cuLaunchKernel(fixed, 4, 1, 1, 32, 1, 1, 0, NULL, params, NULL),
                     CUDA_ERROR_INVALID_CLUSTER_SIZE);
    ok(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
    ok(cuLaunchKernel(function, 4, 2, 1, 32, 1, 1, 0, NULL, params, NULL));
    ok(cuCtxSynchronize());
    for (int i = 0; i < 8; i++) {
        int shape[] = {4, 1, 1, i % 4};
        assert_memory_equal(out + 4 * i, shape, sizeof shape);
    }
    ok(cuModuleUnload(clusters));
    ok(cuMemFree(p));
}

static void computes_occupancy(void **state)
{
    (void)state;
    int blocks = 0, grid = 0, block = 0;
    size_t shared = 0;
    CUfunction function = kernel("add");
    ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
    assert_int_equal(blocks, 8);
    ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 32, 0));
    assert_int_equal(blocks, 32);
    ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 32, 100 << 10));
    assert_int_equal(blocks, 2);
    ok(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0));
    assert_int_equal(block, 1024);
    assert_int_equal(grid, 264);
    ok(cuOccupancyAvailableDynamicSMemPerBlock(&shared, function, 2, 128));
    assert_true(shared > 100 << 10 && shared <= 113 << 10);
    ok(cuFuncGetAttribute(&block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("bounded")));
    assert_int_equal(block, 64);
}

/* Two streams, kernels and copies, ordered by events: one result under every schedule. */
static void ordered_kernels_agree(void **state)
{
    (void)state;
    enum { N = 300, ROUNDS = 12 };
    static int host[N];
    CUdeviceptr p;
    CUstream a, b;
    CUevent there, back;
    int expected = 1;
    ok(cuMemAlloc(&p, sizeof host));
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuEventCreate(&there, 0));
    ok(cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < N; i++)
        host[i] = 1;
    ok(cuMemcpyHtoDAsync(p, host, sizeof host, a));
    for (int round = 0; round < ROUNDS; round++) {
        ok(launch_on(a, "add", p, round, N));
        ok(cuEventRecord(there, a));
        ok(cuStreamWaitEvent(b, there, 0));
        ok(launch_on(b, "multiply", p, 3, N));
        ok(cuEventRecord(back, b));
        ok(cuStreamWaitEvent(a, back, 0));
        expected = (expected + round) * 3;
    }
    ok(cuMemcpyDtoHAsync(host, p, sizeof host, a));
    ok(cuStreamSynchronize(a));
    for (int i = 0; i < N; i++)
        assert_int_equal(host[i], expected);
    ok(cuEventDestroy(there));
    ok(cuEventDestroy(back));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
    ok(cuMemFree(p));
}

/* The same program without its events: under random it really goes wrong, in different ways. */
static void racy_kernels_disagree(void **state)
{
    (void)state;
    CUdeviceptr p = managed(4);
    CUstream a, b;
    bool seen[64] = {false};
    int distinct = 0;
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    for (int round = 0; round < 40; round++) {
        *(int *)p = 1;
        ok(launch_on(a, "add", p, 2, 1));
        ok(launch_on(b, "multiply", p, 3, 1));
        ok(launch_on(a, "add", p, 1, 1));
        ok(cuCtxSynchronize());
        int value = *(int *)p;
        assert_in_range(value, 1, 63);
        distinct += !seen[value];
        seen[value] = true;
    }
    /* (1+2)*3+1, (1+2+1)*3, 1*3+2+1 when kernels do not overlap */
    if (is_random())
        assert_true(distinct >= 3);
    else
        assert_int_equal(distinct, 1);
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
    ok(cuMemFree(p));
}

/* Kernels of two streams run at the same time: unprotected counts get lost under random. */
static void concurrent_kernels_interleave(void **state)
{
    (void)state;
    enum { COUNTS = 300 };
    CUdeviceptr p = managed(4);
    CUstream a, b;
    int rounds = COUNTS, lost = 0;
    void *params[] = {&p, &rounds};
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    for (int round = 0; round < 10; round++) {
        *(int *)p = 0;
        ok(cuLaunchKernel(kernel("count_up"), 1, 1, 1, 1, 1, 1, 0, a, params, NULL));
        ok(cuLaunchKernel(kernel("count_up"), 1, 1, 1, 1, 1, 1, 0, b, params, NULL));
        ok(cuCtxSynchronize());
        assert_in_range(*(int *)p, 2, 2 * COUNTS);
        lost += *(int *)p != 2 * COUNTS;
    }
    if (is_random())
        assert_true(lost > 0);
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
    ok(cuMemFree(p));
}

static void CUDA_CB raise_flag(void *flag)
{
    atomic_store((atomic_int *)flag, 5);
}

/* A kernel that waits for another kernel, for a host function, for the host itself. */
static void spinning_kernels_let_others_run(void **state)
{
    (void)state;
    CUdeviceptr flag = managed(4), result = managed(4);
    CUstream a, b;
    int value = 3;
    void *wait[] = {&flag, &value, &result}, *set[] = {&flag, &value};
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuLaunchKernel(kernel("wait_for"), 1, 1, 1, 1, 1, 1, 0, a, wait, NULL));
    assert_int_equal(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    ok(cuLaunchKernel(kernel("set_flag"), 1, 1, 1, 1, 1, 1, 0, b, set, NULL));
    ok(cuStreamSynchronize(a));
    assert_int_equal(*(int *)result, 3);
    value = 5;
    ok(cuLaunchKernel(kernel("wait_for"), 1, 1, 1, 1, 1, 1, 0, a, wait, NULL));
    ok(cuLaunchHostFunc(b, raise_flag, (void *)flag));
    ok(cuStreamSynchronize(a));
    assert_int_equal(*(int *)result, 5);
    value = 8;
    ok(cuLaunchKernel(kernel("wait_for"), 1, 1, 1, 1, 1, 1, 0, a, wait, NULL));
    atomic_store((atomic_int *)flag, 8);
    ok(cuStreamSynchronize(a));
    assert_int_equal(*(int *)result, 8);
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
    ok(cuMemFree(flag));
    ok(cuMemFree(result));
}

static void cooperative_grids_synchronize(void **state)
{
    (void)state;
    enum { BLOCKS = 9 };
    CUdeviceptr sum = managed(4), out = managed(4 * BLOCKS);
    void *params[] = {&sum, &out};
    CUfunction function = kernel("sum_over_grid");
    ok(cuLaunchCooperativeKernel(function, BLOCKS, 1, 1, 64, 1, 1, 0, NULL, params));
    ok(cuCtxSynchronize());
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(((int *)out)[i], BLOCKS * (BLOCKS + 1) / 2);
    assert_int_equal(*(int *)sum, BLOCKS * (BLOCKS + 1) / 2 + BLOCKS);
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    CUlaunchConfig config = {.gridDimX = BLOCKS,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    *(int *)sum = 0;
    ok(cuLaunchKernelEx(&config, function, params, NULL));
    ok(cuCtxSynchronize());
    assert_int_equal(((int *)out)[BLOCKS - 1], BLOCKS * (BLOCKS + 1) / 2);
    assert_int_equal(cuLaunchCooperativeKernel(function, 5000, 1, 1, 1024, 1, 1, 0, NULL, params),
                     CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    ok(cuMemFree(sum));
    ok(cuMemFree(out));
}

static void launches_record_events(void **state)
{
    (void)state;
    CUevent event;
    CUdeviceptr p = managed(4);
    int value = 1, n = 1;
    void *params[] = {&p, &value, &n};
    ok(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                                   .value.launchCompletionEvent = {event, 0}};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 32,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = &attribute,
                             .numAttrs = 1};
    ok(cuLaunchKernelEx(&config, kernel("add"), params, NULL));
    ok(cuEventSynchronize(event));
    ok(cuCtxSynchronize());
    assert_int_equal(*(int *)p, 1);
    ok(cuEventDestroy(event));
    ok(cuMemFree(p));
}

static void *launch_and_check(void *failures)
{
    CUstream stream;
    CUdeviceptr p;
    CUfunction add;
    int seen[100], value = 1, n = 100;
    void *params[] = {&p, &value, &n};
    int bad = cuCtxSetCurrent(context) != CUDA_SUCCESS;
    bad += cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS;
    bad += cuModuleGetFunction(&add, module, "add") != CUDA_SUCCESS;
    for (int round = 0; round < 10; round++) {
        bad += cuMemAllocAsync(&p, sizeof seen, stream) != CUDA_SUCCESS;
        bad += cuMemsetD32Async(p, 0, 100, stream) != CUDA_SUCCESS;
        for (int i = 0; i < 5; i++)
            bad += cuLaunchKernel(add, 2, 1, 1, 64, 1, 1, 0, stream, params, NULL) != CUDA_SUCCESS;
        bad += cuMemcpyDtoHAsync(seen, p, sizeof seen, stream) != CUDA_SUCCESS;
        bad += cuMemFreeAsync(p, stream) != CUDA_SUCCESS;
        bad += cuStreamSynchronize(stream) != CUDA_SUCCESS;
        for (int i = 0; i < 100; i++)
            bad += seen[i] != 5;
    }
    bad += cuStreamDestroy(stream) != CUDA_SUCCESS;
    atomic_fetch_add((atomic_int *)failures, bad);
    return NULL;
}

static void many_threads_launch(void **state)
{
    (void)state;
    pthread_t threads[8];
    atomic_int failures = 0;
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_and_check, &failures), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failures, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(passes_parameters),
    cmocka_unit_test(launches_what_was_set),
    cmocka_unit_test(checks_launches),
    cmocka_unit_test(clusters_without_being_asked),
    cmocka_unit_test(computes_occupancy),
    cmocka_unit_test(ordered_kernels_agree),
    cmocka_unit_test(racy_kernels_disagree),
    cmocka_unit_test(concurrent_kernels_interleave),
    cmocka_unit_test(spinning_kernels_let_others_run),
    cmocka_unit_test(cooperative_grids_synchronize),
    cmocka_unit_test(launches_record_events),
    cmocka_unit_test(many_threads_launch),
};

TEST_MAIN(tests, start, finish)
