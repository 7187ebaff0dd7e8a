/* The embedded device without kernels: memory, copies, pools, errors, threads. In which order work
 * is done is test_device_order.c's. */
#include "runtime/device/schedule/schedule.h"
#include "tests/unit/device/test_device.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- What the device is -------------------------------------------------------------------- */

static void says_what_it_is(void **state)
{
    (void)state;
    int value = 0, count = 0;
    char name[64];
    size_t total = 0;
    CUuuid uuid;
    ok(cuDriverGetVersion(&value));
    assert_int_equal(value, 13050);
    ok(cuDeviceGetCount(&count));
    assert_int_equal(count, 1);
    ok(cuDeviceGetName(name, sizeof name, 0));
    ok(cuDeviceGetUuid(&uuid, 0));
    ok(cuDeviceTotalMem(&total, 0));
    assert_true(total >= (size_t)1 << 30);
    ok(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    assert_int_equal(value, 9);
    ok(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    assert_int_equal(value, 132);
    assert_int_equal(cuDeviceGetAttribute(&value, (CUdevice_attribute)9999, 0),
                     CUDA_ERROR_INVALID_VALUE);
    CUdevice device;
    assert_int_equal(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
    assert_int_equal(cuDeviceGetName(name, sizeof name, 3), CUDA_ERROR_INVALID_DEVICE);
}

static void names_errors(void **state)
{
    (void)state;
    const char *text;
    ok(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    ok(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "an illegal memory access was encountered");
    ok(cuGetErrorString(CUDA_ERROR_TENSOR_MEMORY_LEAK, &text));
    assert_non_null(text);
    assert_int_equal(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    assert_null(text);
}

CUresult CUDAAPI cuMemcpyHtoD_v2_ptds(CUdeviceptr, const void *, size_t);
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);
CUresult CUDAAPI cuStreamSynchronize_ptsz(CUstream);

static void finds_entry_points_by_version(void **state)
{
    (void)state;
    void *function;
    CUdriverProcAddressQueryResult status;
    ok(cuGetProcAddress("cuMemAlloc", &function, 13000, 0, &status));
    assert_ptr_equal(function, cuMemAlloc); /* the macro names _v2 */
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SUCCESS);
    ok(cuGetProcAddress("cuCtxCreate", &function, 11000, 0, &status));
    assert_ptr_equal(function, cuCtxCreate_v2);
    ok(cuGetProcAddress("cuMemcpyHtoD", &function, 12000,
                        CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    assert_ptr_equal(function, cuMemcpyHtoD_v2_ptds);
    ok(cuGetProcAddress("cuStreamSynchronize", &function, 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM,
                        &status));
    assert_ptr_equal(function, cuStreamSynchronize);
    ok(cuGetProcAddress("cuInit", &function, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                        NULL));
    assert_ptr_equal(function, cuInit);
    ok(cuGetProcAddress("cuLaunchKernelEx", &function, 11000, 0, &status));
    assert_null(function);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    ok(cuGetProcAddress("cuNoSuchThing", &function, 13000, 0, &status));
    assert_null(function);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    assert_int_equal(cuGetProcAddress("cuInit", &function, 99000, 0, &status),
                     CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuLaunchHostFunc_v2(CUstream, CUhostFn, void *, unsigned);

/* What cuGetProcAddress answers for cuMemcpyBatchAsync of the newest form, by the driver's version.
 */
static void acts_as_an_older_driver(void **state)
{
    (void)state;
    void *function;
    int value;
    CUdriverProcAddressQueryResult status;
    setenv("CSAN_DEVICE_CUDA", "12.4", 1);
    ok(cuDriverGetVersion(&value));
    assert_int_equal(value, 12040);
    assert_int_equal(cuGetProcAddress("cuInit", &function, 12080, 0, &status),
                     CUDA_ERROR_INVALID_VALUE);
    ok(cuGetProcAddress("cuMemcpyBatchAsync", &function, 12040, 0, &status));
    assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    setenv("CSAN_DEVICE_CUDA", "13.0", 1);
    ok(cuGetProcAddress("cuMemcpyWithAttributesAsync", &function, 13000, 0, &status));
    assert_int_equal(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    assert_int_equal(cuGetProcAddress("cuInit", &function, 13020, 0, &status),
                     CUDA_ERROR_INVALID_VALUE);
    for (const char *const *wrong = (const char *const[]){"", "x", "13", "12.4x", "99.0", NULL};
         *wrong; wrong++) {
        setenv("CSAN_DEVICE_CUDA", *wrong, 1);
        ok(cuDriverGetVersion(&value));
        assert_int_equal(value, 13050);
    }
    unsetenv("CSAN_DEVICE_CUDA");
    ok(cuGetProcAddress("cuLaunchHostFunc", &function, 13050, 0, &status));
    assert_ptr_equal(function, cuLaunchHostFunc_v2);
}

static void lacks_what_it_lacks(void **state)
{
    (void)state;
    CUarray plane;
    assert_int_equal(cuArrayGetPlane(&plane, NULL, 0), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cuArrayGetPlane(&plane, NULL, 0), CUDA_ERROR_NOT_SUPPORTED);
}

/* ---- Contexts ------------------------------------------------------------------------------ */

static void keeps_a_stack_of_contexts(void **state)
{
    (void)state;
    CUcontext own, current;
    CUdeviceptr memory;
    ok(cuCtxCreate(&own, NULL, 0, 0));
    ok(cuCtxGetCurrent(&current));
    assert_ptr_equal(current, own);
    ok(cuMemAlloc(&memory, 100));
    ok(cuCtxPopCurrent(&current));
    assert_ptr_equal(current, own);
    ok(cuCtxGetCurrent(&current));
    assert_ptr_equal(current, context);
    ok(cuCtxPushCurrent(own));
    ok(cuCtxDestroy(own)); /* pops it, and frees its memory */
    ok(cuCtxGetCurrent(&current));
    assert_ptr_equal(current, context);
    assert_int_equal(cuCtxPushCurrent(own), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT); /* primary */
}

/* cuCtxDestroy's note: it is associated with no context. */
static void pool_memory_outlives_its_context(void **state)
{
    (void)state;
    CUcontext own;
    CUmemoryPool pool;
    CUdeviceptr memory;
    cuuint64_t before, used;
    unsigned char byte = 0;
    int ordinal = -1;
    ok(cuDeviceGetDefaultMemPool(&pool, 0));
    ok(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &before));
    ok(cuCtxCreate(&own, NULL, 0, 0));
    ok(cuMemAllocAsync(&memory, 100, NULL));
    ok(cuMemsetD8(memory, 7, 100));
    ok(cuCtxSynchronize());
    ok(cuCtxDestroy(own));
    ok(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_int_equal(used, before + 100);
    ok(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
    assert_int_equal(ordinal, 0);
    ok(cuMemcpyDtoH(&byte, memory + 99, 1));
    assert_int_equal(byte, 7);
    ok(cuMemFreeAsync(memory, NULL));
    ok(cuCtxSynchronize());
    ok(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    assert_int_equal(used, before);
}

static void *without_a_context(void *result)
{
    CUdeviceptr memory;
    *(CUresult *)result = cuMemAlloc(&memory, 100);
    return NULL;
}

/* The codes are those of an H200. */
static void keeps_limits(void **state)
{
    (void)state;
    size_t value = 77;
    ok(cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT));
    assert_int_equal(value, 2048);
    ok(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 1 << 20));
    ok(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
    assert_int_equal(value, 1 << 20);
    assert_int_equal(cuCtxGetLimit(&value, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH),
                     CUDA_ERROR_UNSUPPORTED_LIMIT);
    assert_int_equal(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2),
                     CUDA_ERROR_UNSUPPORTED_LIMIT);
    assert_int_equal(cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(value, 1 << 20);
}

static void wants_a_current_context(void **state)
{
    (void)state;
    CUresult result = CUDA_SUCCESS;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, without_a_context, &result), 0);
    pthread_join(thread, NULL);
    assert_int_equal(result, CUDA_ERROR_INVALID_CONTEXT);
}

/* ---- Memory -------------------------------------------------------------------------------- */

static void allocates_and_frees(void **state)
{
    (void)state;
    CUdeviceptr a, b, base;
    size_t bytes, free_before, free_after, total;
    ok(cuCtxSynchronize());
    ok(cuMemGetInfo(&free_before, &total));
    ok(cuMemAlloc(&a, 1000));
    ok(cuMemAlloc(&b, 1 << 20));
    assert_int_equal(a % 256, 0);
    assert_int_equal(b % 256, 0);
    assert_true(b >= a + 1000 || a >= b + (1 << 20));
    ok(cuMemGetAddressRange(&base, &bytes, a + 999));
    assert_int_equal(base, a);
    assert_int_equal(bytes, 1000);
    assert_int_equal(cuMemFree(a + 16), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemFree(a));
    assert_int_equal(cuMemFree(a), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemGetAddressRange(&base, &bytes, a), CUDA_ERROR_NOT_FOUND);
    ok(cuMemFree(b));
    ok(cuMemFree(0));
    ok(cuMemGetInfo(&free_after, &total));
    assert_int_equal(free_before, free_after);
    assert_int_equal(cuMemAlloc(&a, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAlloc(NULL, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemAlloc(&a, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cuMemAlloc(&a, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
}

/* Against a model: blocks never overlap, all space comes back. */
static void allocator_matches_a_model(void **state)
{
    (void)state;
    enum { BLOCKS = 200, ROUNDS = 4000 };
    static CUdeviceptr base[BLOCKS];
    static size_t size[BLOCKS];
    size_t free_before, free_after, total;
    uint64_t random = 1;
    ok(cuCtxSynchronize());
    ok(cuMemGetInfo(&free_before, &total));
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        int i = (int)(random >> 33) % BLOCKS;
        if (base[i]) {
            ok(cuMemFree(base[i]));
            base[i] = 0;
            continue;
        }
        size[i] = 1 + (random >> 40) % 100000;
        ok(cuMemAlloc(&base[i], size[i]));
        for (int j = 0; j < BLOCKS; j++)
            if (j != i && base[j])
                assert_true(base[i] + size[i] <= base[j] || base[j] + size[j] <= base[i]);
    }
    for (int i = 0; i < BLOCKS; i++)
        if (base[i])
            ok(cuMemFree(base[i]));
    ok(cuMemGetInfo(&free_after, &total));
    assert_int_equal(free_before, free_after);
}

static sigjmp_buf escape;
static void on_fault(int number)
{
    (void)number;
    siglongjmp(escape, 1);
}

static void host_cannot_touch_device_memory(void **state)
{
    (void)state;
    CUdeviceptr memory;
    struct sigaction action = {.sa_handler = on_fault}, before;
    ok(cuMemAlloc(&memory, 4096));
    sigaction(SIGSEGV, &action, &before);
    volatile bool touched = false;
    if (!sigsetjmp(escape, 1)) {
        *(volatile int *)memory = 1;
        touched = true;
    }
    sigaction(SIGSEGV, &before, NULL);
    assert_false(touched);
    ok(cuMemFree(memory));
}

static void attributes_of_addresses(void **state)
{
    (void)state;
    CUdeviceptr device_memory, managed, device_pointer;
    void *pinned, *pageable = malloc(8192);
    unsigned type = 0, flags = 0;
    bool is_managed = false;
    ok(cuMemAlloc(&device_memory, 512));
    ok(cuMemAllocManaged(&managed, 512, CU_MEM_ATTACH_GLOBAL));
    ok(cuMemHostAlloc(&pinned, 512, CU_MEMHOSTALLOC_PORTABLE));
    ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device_memory + 100));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)pinned));
    assert_int_equal(type, CU_MEMORYTYPE_HOST);
    ok(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    assert_true(is_managed);
    assert_int_equal(
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)pageable),
        CUDA_ERROR_INVALID_VALUE);
    ok(cuMemHostGetFlags(&flags, pinned));
    assert_int_equal(flags, CU_MEMHOSTALLOC_PORTABLE);
    ok(cuMemHostGetDevicePointer(&device_pointer, pinned, 0));
    assert_int_equal(device_pointer, (CUdeviceptr)pinned);
    *(int *)managed = 3; /* the host can */
    ok(cuMemPrefetchAsync(managed, 512, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, NULL));
    ok(cuMemHostRegister(pageable, 8192, 0));
    assert_int_equal(cuMemHostRegister((char *)pageable + 10, 10, 0),
                     CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    ok(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)pageable));
    ok(cuMemHostUnregister(pageable));
    assert_int_equal(cuMemHostUnregister(pageable), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    assert_int_equal(cuMemHostRegister((void *)4096, 4096, 0), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemFree(device_memory));
    ok(cuMemFree(managed));
    ok(cuMemFreeHost(pinned));
    assert_int_equal(cuMemFreeHost(pageable), CUDA_ERROR_INVALID_VALUE);
    free(pageable);
}

/* ---- Copies -------------------------------------------------------------------------------- */

static void copies_there_and_back(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    int to[COUNT], from[COUNT];
    CUdeviceptr a, b;
    for (int i = 0; i < COUNT; i++)
        to[i] = i * i;
    ok(cuMemAlloc(&a, sizeof to));
    ok(cuMemAlloc(&b, sizeof to));
    ok(cuMemcpyHtoD(a, to, sizeof to));
    memset(to, 0, sizeof to); /* staged: ours again */
    ok(cuMemcpyDtoD(b, a, sizeof to));
    ok(cuMemcpyDtoH(from, b, sizeof from));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(from[i], i * i);
    ok(cuMemsetD32(b, 7, COUNT));
    ok(cuMemsetD8(b, 1, 4));
    ok(cuMemsetD16(b + 4, 0x1234, 2));
    ok(cuMemcpy((CUdeviceptr)from, b, sizeof from));
    assert_int_equal(from[0], 0x01010101);
    assert_int_equal(from[1], 0x12341234);
    assert_int_equal(from[2], 7);
    assert_int_equal(from[COUNT - 1], 7);
    assert_int_equal(cuMemcpyHtoD(a, to, sizeof to + 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyHtoD(a + sizeof to, to, 1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyHtoD(a, NULL, 4), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyHtoD(0, to, 4), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyHtoD(a, (void *)4096, 4), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoH((void *)4096, a, 4), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpyDtoHAsync((void *)4096, a, 4, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemcpy((CUdeviceptr)to, 4096, 4), CUDA_ERROR_INVALID_VALUE);
    ok(cuCtxSynchronize());
    assert_int_equal(cuMemsetD32(a + 2, 7, 1), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemcpyHtoD(a, to, 0));
    ok(cuMemFree(a));
    ok(cuMemFree(b));
    assert_int_equal(cuMemcpyDtoH(from, b, 4), CUDA_ERROR_INVALID_VALUE);
}

static void copies_rows(void **state)
{
    (void)state;
    enum { WIDTH = 13, HEIGHT = 7 };
    char to[HEIGHT][WIDTH], from[HEIGHT][20];
    size_t pitch;
    CUdeviceptr memory;
    ok(cuMemAllocPitch(&memory, &pitch, WIDTH, HEIGHT, 4));
    assert_true(pitch >= WIDTH);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        to[i / WIDTH][i % WIDTH] = (char)i;
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = to,
                        .srcPitch = WIDTH,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = memory,
                        .dstPitch = pitch,
                        .WidthInBytes = WIDTH,
                        .Height = HEIGHT};
    ok(cuMemcpy2D(&in));
    CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                         .srcDevice = memory,
                         .srcPitch = pitch,
                         .srcXInBytes = 3,
                         .srcY = 2,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = from,
                         .dstPitch = 20,
                         .dstXInBytes = 1,
                         .WidthInBytes = WIDTH - 3,
                         .Height = HEIGHT - 2};
    memset(from, -1, sizeof from);
    ok(cuMemcpy2DUnaligned(&out));
    for (int y = 0; y < HEIGHT - 2; y++) {
        assert_int_equal((signed char)from[y][0], -1);
        for (int x = 0; x < WIDTH - 3; x++)
            assert_int_equal(from[y][x + 1], to[y + 2][x + 3]);
        assert_int_equal((signed char)from[y][WIDTH - 1], -1);
    }
    ok(cuMemsetD2D8(memory, pitch, 9, WIDTH, HEIGHT));
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = memory,
                         .srcPitch = pitch,
                         .srcHeight = 3,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = from,
                         .dstPitch = 20,
                         .dstHeight = 3,
                         .WidthInBytes = 2,
                         .Height = 1,
                         .Depth = 2};
    memset(from, 0, sizeof from);
    ok(cuMemcpy3D(&box));
    assert_int_equal(from[0][1], 9);
    assert_int_equal(from[1][0], 0);
    assert_int_equal(from[3][1], 9);
    in.dstMemoryType = CU_MEMORYTYPE_ARRAY; /* and no array */
    assert_int_equal(cuMemcpy2D(&in), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemFree(memory));
}

/* ---- Stream-ordered memory ----------------------------------------------------------------- */

static void pools_reuse_in_stream_order(void **state)
{
    (void)state;
    CUstream a, b;
    CUevent event;
    CUmemoryPool pool;
    CUdeviceptr first, second, third, plain;
    CUdeviceptr gate;
    cuuint64_t value;
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    int off = 0;
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuEventCreate(&event, 0));
    ok(cuMemAlloc(&gate, 4));
    ok(cuMemPoolCreate(&pool, &properties));
    ok(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &off));
    value = UINT64_MAX;
    ok(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
    /* the same stream: at once */
    ok(cuMemAllocFromPoolAsync(&first, 4000, pool, a));
    ok(cuMemsetD8Async(first, 1, 4000, a));
    ok(cuMemFreeAsync(first, a));
    assert_int_equal(cuMemFreeAsync(first, a), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemAllocFromPoolAsync(&second, 4000, pool, a));
    assert_int_equal(first, second);
    /* another stream: not before an event says so */
    ok(cuMemFreeAsync(second, a));
    ok(cuMemAllocFromPoolAsync(&third, 4000, pool, b));
    assert_int_not_equal(third, second);
    ok(cuEventRecord(event, a));
    ok(cuStreamWaitEvent(b, event, 0));
    ok(cuMemFreeAsync(third, a));
    ok(cuMemAllocFromPoolAsync(&third, 4000, pool, b));
    assert_int_equal(third, second);
    ok(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    assert_int_equal(value, 4000);
    ok(cuMemFree(third)); /* allowed, and does not wait */
    ok(cuCtxSynchronize());
    ok(cuMemPoolTrimTo(pool, 0));
    ok(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
    assert_int_equal(value, 0);
    ok(cuMemPoolDestroy(pool));
    ok(cuMemAlloc(&plain, 100));
    ok(cuMemFreeAsync(plain, a));
    ok(cuStreamSynchronize(a));
    assert_int_equal(cuMemFree(plain), CUDA_ERROR_INVALID_VALUE);
    ok(cuDeviceGetDefaultMemPool(&pool, 0));
    assert_int_equal(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
    ok(cuMemAllocAsync(&first, 1 << 20, a));
    ok(cuMemFreeAsync(first, a));
    ok(cuStreamSynchronize(a));
    ok(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
    assert_int_equal(value, 0); /* threshold 0: returned at the synchronization */
    ok(cuMemFree(gate));
    ok(cuEventDestroy(event));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
}

/* An allocation in the legacy stream is an operation there: blocking streams wait across it. */
static void an_allocation_is_work_of_its_stream(void **state)
{
    (void)state;
    CUstream before, after;
    CUdeviceptr block;
    uint8_t *bytes;
    ok(cuMemHostAlloc((void **)&bytes, 2, 0));
    memset(bytes, 0, 2);
    ok(cuStreamCreate(&before, CU_STREAM_DEFAULT));
    ok(cuStreamCreate(&after, CU_STREAM_DEFAULT));
    assert_int_equal(device_schedule_set("lazy"), 0);
    ok(cuMemsetD8Async((CUdeviceptr)bytes, 1, 1, before));
    ok(cuMemAllocAsync(&block, 16, NULL));
    ok(cuMemsetD8Async((CUdeviceptr)(bytes + 1), 1, 1, after));
    ok(cuStreamSynchronize(after));
    assert_int_equal(bytes[0], 1);
    assert_int_equal(device_schedule_set(schedule), 0);
    ok(cuMemFreeAsync(block, NULL));
    ok(cuStreamDestroy(before));
    ok(cuStreamDestroy(after));
    ok(cuMemFreeHost(bytes));
}

/* ---- Progress, threads, fork ----------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void works_while_the_program_only_looks(void **state)
{
    (void)state;
    atomic_uint *flag;
    CUstream stream;
    ok(cuStreamCreate(&stream, 0));
    ok(cuMemHostAlloc((void **)&flag, 64, 0));
    atomic_store(flag, 0);
    for (int i = 0; i < 30; i++)
        ok(cuMemsetD32Async((CUdeviceptr)flag, (unsigned)i, 1, stream));
    ok(cuMemsetD32Async((CUdeviceptr)flag, 99, 1, stream));
    double end = seconds() + 20;
    while (((volatile unsigned *)flag)[0] != 99 && seconds() < end)
        ;
    ok(cuStreamSynchronize(stream));
    assert_true(seconds() < end);
    ok(cuMemFreeHost(flag));
    ok(cuStreamDestroy(stream));
}

static void *hammer(void *failures)
{
    CUstream stream;
    CUevent event;
    CUdeviceptr memory, pooled;
    unsigned seen = 0;
    int bad = cuCtxSetCurrent(context) != CUDA_SUCCESS;
    bad += cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS;
    bad += cuEventCreate(&event, 0) != CUDA_SUCCESS;
    for (unsigned i = 1; i <= 60; i++) {
        bad += cuMemAlloc(&memory, 100 * i) != CUDA_SUCCESS;
        bad += cuMemAllocAsync(&pooled, 64 * i, stream) != CUDA_SUCCESS;
        bad += cuMemsetD32Async(memory, i, 1, stream) != CUDA_SUCCESS;
        bad += cuMemcpyDtoDAsync(pooled, memory, 4, stream) != CUDA_SUCCESS;
        bad += cuEventRecord(event, stream) != CUDA_SUCCESS;
        bad += cuStreamWaitEvent(CU_STREAM_PER_THREAD, event, 0) != CUDA_SUCCESS;
        bad += cuMemcpyDtoHAsync(&seen, pooled, 4, CU_STREAM_PER_THREAD) != CUDA_SUCCESS;
        bad += cuStreamSynchronize(CU_STREAM_PER_THREAD) != CUDA_SUCCESS;
        bad += seen != i;
        bad += cuMemFreeAsync(pooled, stream) != CUDA_SUCCESS;
        bad += cuMemFree(memory) != CUDA_SUCCESS;
    }
    bad += cuEventDestroy(event) != CUDA_SUCCESS;
    bad += cuStreamDestroy(stream) != CUDA_SUCCESS;
    atomic_fetch_add((atomic_int *)failures, bad);
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    pthread_t threads[8];
    atomic_int failures = 0;
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, &failures), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(failures, 0);
}

static void a_forked_child_has_no_device(void **state)
{
    (void)state;
    CUdeviceptr memory;
    ok(cuMemAlloc(&memory, 64));
    ok(cuMemsetD8Async(memory, 1, 64, NULL)); /* something pending */
    pid_t child = fork();
    if (child == 0) {
        bool right = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                     cuMemFree(memory) == CUDA_ERROR_NOT_INITIALIZED &&
                     cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED;
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    ok(cuMemFree(memory));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(says_what_it_is),
    cmocka_unit_test(names_errors),
    cmocka_unit_test(finds_entry_points_by_version),
    cmocka_unit_test(acts_as_an_older_driver),
    cmocka_unit_test(lacks_what_it_lacks),
    cmocka_unit_test(keeps_a_stack_of_contexts),
    cmocka_unit_test(keeps_limits),
    cmocka_unit_test(pool_memory_outlives_its_context),
    cmocka_unit_test(wants_a_current_context),
    cmocka_unit_test(allocates_and_frees),
    cmocka_unit_test(allocator_matches_a_model),
    cmocka_unit_test(host_cannot_touch_device_memory),
    cmocka_unit_test(attributes_of_addresses),
    cmocka_unit_test(copies_there_and_back),
    cmocka_unit_test(copies_rows),
    cmocka_unit_test(pools_reuse_in_stream_order),
    cmocka_unit_test(an_allocation_is_work_of_its_stream),
    cmocka_unit_test(works_while_the_program_only_looks),
    cmocka_unit_test(many_threads),
    cmocka_unit_test(a_forked_child_has_no_device),
};

TEST_MAIN(tests, start, finish)
