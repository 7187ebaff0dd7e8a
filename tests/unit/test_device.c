/* The embedded device without kernels: memory, streams, events, order, pools, errors. The whole
 * file runs once under each scheduling policy: what holds must hold under all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda.h>
#include "runtime/device/schedule.h"
#include <stdbool.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *schedule;

static bool is_lazy(void)
{
    return !strcmp(schedule, "lazy") || !strcmp(schedule, "reverse");
}
static bool is_eager(void)
{
    return !strcmp(schedule, "eager") || !strncmp(schedule, "hold", 4);
}

#define ok(call) assert_int_equal((call), CUDA_SUCCESS)

static CUcontext context;

static int start(void **state)
{
    (void)state;
    CUresult result = cuInit(0);
    if (result == CUDA_SUCCESS)
        result = cuDevicePrimaryCtxRetain(&context, 0);
    if (result == CUDA_SUCCESS)
        result = cuCtxSetCurrent(context);
    return result;
}

static int finish(void **state)
{
    (void)state;
    return cuCtxSynchronize() != CUDA_SUCCESS || cuDevicePrimaryCtxRelease(0) != CUDA_SUCCESS;
}

/* ---- What the device is -------------------------------------------------------------------- */

static void tells_what_it_is(void **state)
{
    (void)state;
    int value = 0, count = 0;
    char name[64];
    size_t total = 0;
    CUuuid uuid;
    ok(cuDriverGetVersion(&value));
    assert_int_equal(value, 13000);
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

static void lacks_what_it_lacks(void **state)
{
    (void)state;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR what = {.Width = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    assert_int_equal(cuArrayCreate(&array, &what), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cuArrayCreate(&array, &what), CUDA_ERROR_NOT_SUPPORTED);
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

static void *without_a_context(void *result)
{
    CUdeviceptr memory;
    *(CUresult *)result = cuMemAlloc(&memory, 100);
    return NULL;
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
        assert_int_equal(from[y][0], -1);
        for (int x = 0; x < WIDTH - 3; x++)
            assert_int_equal(from[y][x + 1], to[y + 2][x + 3]);
        assert_int_equal(from[y][WIDTH - 1], -1);
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
    in.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    assert_int_equal(cuMemcpy2D(&in), CUDA_ERROR_NOT_SUPPORTED);
    ok(cuMemFree(memory));
}

/* ---- Order --------------------------------------------------------------------------------- */

/* Two streams hand a buffer to and fro through events: the same result under every schedule. */
static void events_order_streams(void **state)
{
    (void)state;
    CUstream a, b;
    CUevent ready, back;
    CUdeviceptr memory;
    unsigned *seen;
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuEventCreate(&ready, CU_EVENT_DISABLE_TIMING));
    ok(cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
    ok(cuMemAlloc(&memory, 4));
    ok(cuMemHostAlloc((void **)&seen, 200 * sizeof *seen, 0));
    ok(cuStreamWaitEvent(a, back, 0)); /* never recorded: no order */
    for (unsigned i = 0; i < 200; i++) {
        ok(cuMemsetD32Async(memory, i, 1, a));
        ok(cuEventRecord(ready, a));
        ok(cuStreamWaitEvent(b, ready, 0));
        ok(cuMemcpyDtoHAsync(&seen[i], memory, 4, b));
        ok(cuEventRecord(back, b));
        ok(cuStreamWaitEvent(a, back, 0));
    }
    ok(cuEventSynchronize(back));
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(seen[i], i);
    ok(cuMemFreeHost(seen));
    ok(cuMemFree(memory));
    ok(cuEventDestroy(ready));
    ok(cuEventDestroy(back));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
}

/* "The last record wins", and a wait keeps the record it saw. */
static void a_wait_keeps_its_record(void **state)
{
    (void)state;
    CUstream a, b;
    CUevent event;
    unsigned *values;
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuEventCreate(&event, 0));
    ok(cuMemAllocManaged((CUdeviceptr *)&values, 8, CU_MEM_ATTACH_GLOBAL));
    for (int i = 0; i < 50; i++) {
        ok(cuMemsetD32Async((CUdeviceptr)values, 1, 1, a));
        ok(cuEventRecord(event, a));
        ok(cuStreamWaitEvent(b, event, 0));
        ok(cuMemcpyDtoDAsync((CUdeviceptr)(values + 1), (CUdeviceptr)values, 4, b));
        ok(cuEventRecord(event, b));
        ok(cuEventDestroy(event)); /* the wait lives on */
        ok(cuEventCreate(&event, 0));
        ok(cuStreamSynchronize(b));
        assert_int_equal(values[1], 1);
        ok(cuStreamSynchronize(a));
        values[0] = values[1] = 0;
    }
    ok(cuEventDestroy(event));
    ok(cuMemFree((CUdeviceptr)values));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
}

static void the_legacy_stream_orders_blocking_streams(void **state)
{
    (void)state;
    CUstream a, b;
    CUdeviceptr memory;
    unsigned *seen;
    ok(cuStreamCreate(&a, CU_STREAM_DEFAULT));
    ok(cuStreamCreate(&b, CU_STREAM_DEFAULT));
    ok(cuMemAlloc(&memory, 8));
    ok(cuMemHostAlloc((void **)&seen, 100 * sizeof *seen, 0));
    for (unsigned i = 0; i < 100; i++) {
        ok(cuMemsetD32Async(memory, i, 1, a));
        ok(cuMemcpyDtoDAsync(memory + 4, memory, 4, NULL)); /* after a, before b */
        ok(cuMemcpyDtoHAsync(&seen[i], memory + 4, 4, b));
        ok(cuMemcpyDtoDAsync(memory + 4, memory, 4, CU_STREAM_LEGACY));
    }
    ok(cuStreamSynchronize(NULL)); /* covers a and b */
    ok(cuStreamQuery(a));
    ok(cuStreamQuery(b));
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(seen[i], i);
    ok(cuMemFreeHost(seen));
    ok(cuMemFree(memory));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
}

/* Programs of random sets and copies, in which every two that touch the same word are ordered: by
 * their stream, by an event, or by the rules of the legacy stream. They end as if run one by one.
 */
enum { WORDS = 5, STREAMS = 5 };

struct random_program {
    CUdeviceptr memory;
    CUstream streams[STREAMS]; /* 0: legacy; the last two do not block */
    CUevent events[WORDS];     /* after the last use of each word */
    int user[WORDS];           /* stream of the last use, or -1 */
    unsigned expected[WORDS];
    uint64_t random;
};

static unsigned draw(struct random_program *program, unsigned below)
{
    program->random = program->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(program->random >> 33) % below;
}

static bool ordered_by_the_legacy_stream(int a, int b)
{
    return (a == 0 && b < STREAMS - 2) || (b == 0 && a < STREAMS - 2);
}

static void wait_for_word(struct random_program *program, unsigned word, int stream)
{
    int user = program->user[word];
    if (user >= 0 && user != stream && !ordered_by_the_legacy_stream(user, stream))
        ok(cuStreamWaitEvent(program->streams[stream], program->events[word], 0));
}

static void use_word(struct random_program *program, unsigned word, int stream)
{
    program->user[word] = stream;
    ok(cuEventRecord(program->events[word], program->streams[stream]));
}

static void random_step(struct random_program *program, unsigned value)
{
    int stream = (int)draw(program, STREAMS);
    unsigned to = draw(program, WORDS), from = draw(program, WORDS);
    bool is_copy = to != from && draw(program, 2);
    wait_for_word(program, to, stream);
    if (is_copy) {
        wait_for_word(program, from, stream);
        ok(cuMemcpyDtoDAsync(program->memory + 4 * to, program->memory + 4 * from, 4,
                             program->streams[stream]));
        use_word(program, from, stream);
    } else {
        ok(cuMemsetD32Async(program->memory + 4 * to, value, 1, program->streams[stream]));
    }
    use_word(program, to, stream);
    program->expected[to] = is_copy ? program->expected[from] : value;
}

static void ordered_programs_end_alike(void **state)
{
    (void)state;
    struct random_program program = {.random = 12345};
    unsigned seen[WORDS];
    ok(cuMemAlloc(&program.memory, 4 * WORDS));
    for (int i = 1; i < STREAMS; i++)
        ok(cuStreamCreate(&program.streams[i],
                          i < STREAMS - 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < WORDS; i++)
        ok(cuEventCreate(&program.events[i], CU_EVENT_DISABLE_TIMING));
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < WORDS; i++)
            program.user[i] = -1;
        for (unsigned i = 0; i < WORDS; i++)
            ok(cuMemsetD32(program.memory + 4 * i, program.expected[i] = i, 1));
        ok(cuCtxSynchronize());
        for (unsigned step = 1; step < 40; step++)
            random_step(&program, 100 * step);
        ok(cuCtxSynchronize());
        ok(cuMemcpyDtoH(seen, program.memory, sizeof seen));
        assert_memory_equal(seen, program.expected, sizeof seen);
    }
    for (int i = 0; i < WORDS; i++)
        ok(cuEventDestroy(program.events[i]));
    for (int i = 1; i < STREAMS; i++)
        ok(cuStreamDestroy(program.streams[i]));
    ok(cuMemFree(program.memory));
}

/* Without order between two writers, both outcomes happen under random; eager and lazy have one
 * each, and they differ. */
static unsigned race_once(CUstream a, CUstream b, CUdeviceptr memory)
{
    unsigned value = 0;
    ok(cuMemsetD32Async(memory, 1, 1, a));
    ok(cuMemsetD32Async(memory, 2, 1, b));
    ok(cuCtxSynchronize());
    ok(cuMemcpyDtoH(&value, memory, 4));
    return value;
}

static void races_go_both_ways(void **state)
{
    (void)state;
    CUstream a, b;
    CUdeviceptr memory;
    unsigned outcomes[3] = {0};
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuMemAlloc(&memory, 4));
    for (int i = 0; i < 100; i++)
        outcomes[race_once(a, b, memory)]++;
    if (is_eager())
        assert_int_equal(outcomes[2], 100);
    else if (is_lazy())
        assert_int_equal(outcomes[1], 100);
    else
        assert_true(outcomes[1] >= 10 && outcomes[2] >= 10);
    ok(cuMemFree(memory));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
}

static void a_schedule_is_chosen_between_programs(void **state)
{
    (void)state;
    static const struct {
        const char *schedule;
        unsigned outcome;
    } cases[] = {{"eager", 2},      {"lazy", 1},  {"reverse", 1}, {"hold:1-1:2", 1},
                 {"hold:1-1:9", 1}, {"eager", 2}, {"reverse", 1}};
    struct device_schedule_position position;
    CUstream a, b;
    CUdeviceptr memory;
    ok(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    ok(cuMemAlloc(&memory, 4));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(device_schedule_set(cases[i].schedule), 0);
        assert_int_equal(race_once(a, b, memory), cases[i].outcome);
        device_schedule_now(&position);
        assert_true(position.newest >= 2);
        assert_true(position.clock >= 2);
    }
    unsigned outcomes[2][100];
    for (int run = 0; run < 2; run++) {
        assert_int_equal(device_schedule_set("random:5"), 0);
        for (int i = 0; i < 100; i++)
            outcomes[run][i] = race_once(a, b, memory);
    }
    assert_memory_equal(outcomes[0], outcomes[1], sizeof outcomes[0]);
    static const char *const wrong[] = {"",         "eagre",    "random:", "random:x", "random:1x",
                                        "hold:1-2", "hold:1:2", "replay:", "lazy:1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(device_schedule_set(wrong[i]), -1);
    assert_int_equal(device_schedule_set(NULL), -1);
    assert_int_equal(device_schedule_set(schedule), 0);
    ok(cuMemFree(memory));
    ok(cuStreamDestroy(a));
    ok(cuStreamDestroy(b));
}

static void enqueues_return_before_the_work(void **state)
{
    (void)state;
    CUstream stream;
    CUevent event;
    CUdeviceptr memory;
    bool seen_pending = false;
    ok(cuStreamCreate(&stream, 0));
    ok(cuEventCreate(&event, 0));
    ok(cuMemAlloc(&memory, 4));
    for (int i = 0; i < 50; i++) {
        for (int k = 0; k < 10; k++)
            ok(cuMemsetD32Async(memory, 5, 1, stream));
        ok(cuEventRecord(event, stream));
        CUresult result = cuEventQuery(event);
        seen_pending |= result == CUDA_ERROR_NOT_READY;
        if (result != CUDA_ERROR_NOT_READY)
            assert_int_equal(result, CUDA_SUCCESS);
        while ((result = cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY)
            ; /* progress is made by asking */
        assert_int_equal(result, CUDA_SUCCESS);
        ok(cuEventQuery(event));
    }
    if (strncmp(schedule, "hold", 4) != 0) /* it may hold these */
        assert_int_equal(seen_pending, !is_eager());
    ok(cuMemFree(memory));
    ok(cuEventDestroy(event));
    ok(cuStreamDestroy(stream));
}

static void times_events(void **state)
{
    (void)state;
    CUevent first, second, blind;
    float milliseconds = -1;
    ok(cuEventCreate(&first, 0));
    ok(cuEventCreate(&second, 0));
    ok(cuEventCreate(&blind, CU_EVENT_DISABLE_TIMING));
    assert_int_equal(cuEventElapsedTime(&milliseconds, first, second), CUDA_ERROR_INVALID_HANDLE);
    ok(cuEventRecord(first, NULL));
    ok(cuEventSynchronize(first));
    usleep(3000);
    ok(cuEventRecord(second, NULL));
    ok(cuEventRecord(blind, NULL));
    ok(cuEventSynchronize(second));
    ok(cuEventElapsedTime(&milliseconds, first, second));
    assert_true(milliseconds >= 3 && milliseconds < 10000);
    assert_int_equal(cuEventElapsedTime(&milliseconds, first, blind), CUDA_ERROR_INVALID_HANDLE);
    ok(cuEventDestroy(first));
    ok(cuEventDestroy(second));
    ok(cuEventDestroy(blind));
    assert_int_equal(cuEventRecord(first, NULL), CUDA_ERROR_INVALID_HANDLE);
}

static void stale_handles_are_errors(void **state)
{
    (void)state;
    CUstream stream;
    ok(cuStreamCreate(&stream, 0));
    ok(cuMemcpyDtoDAsync(0, 0, 0, stream));
    ok(cuStreamDestroy(stream));
    assert_int_equal(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuStreamSynchronize((CUstream)context), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuStreamDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
}

/* ---- Host functions ------------------------------------------------------------------------ */

struct note {
    int order[64], count;
    pthread_t thread;
    CUresult call;
};

static void CUDA_CB take_note(void *data)
{
    struct note *note = data;
    int count = 0;
    note->order[note->count] = note->count;
    note->count++;
    note->thread = pthread_self();
    note->call = cuDeviceGetCount(&count);
}

static void host_functions_run_in_order(void **state)
{
    (void)state;
    struct note note = {0};
    CUstream stream;
    ok(cuStreamCreate(&stream, 0));
    for (int i = 0; i < 20; i++)
        ok(cuLaunchHostFunc(stream, take_note, &note));
    ok(cuStreamSynchronize(stream));
    assert_int_equal(note.count, 20);
    assert_int_equal(note.call, CUDA_ERROR_NOT_PERMITTED);
    assert_false(pthread_equal(note.thread, pthread_self()));
    ok(cuStreamDestroy(stream));
}

static void CUDA_CB take_lock(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
}

/* The program holds a lock during API calls that the host function needs: no deadlock. */
static void host_functions_may_wait_for_the_caller(void **state)
{
    (void)state;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    CUstream stream, other;
    CUdeviceptr memory;
    ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    ok(cuMemAlloc(&memory, 64));
    pthread_mutex_lock(&lock);
    ok(cuLaunchHostFunc(stream, take_lock, &lock));
    for (int i = 0; i < 20; i++)
        ok(cuMemsetD8Async(memory, 1, 64, other));
    ok(cuStreamSynchronize(other));
    pthread_mutex_unlock(&lock);
    ok(cuStreamSynchronize(stream));
    ok(cuMemFree(memory));
    ok(cuStreamDestroy(stream));
    ok(cuStreamDestroy(other));
}

static void CUDA_CB called_back(CUstream stream, CUresult status, void *data)
{
    if (status == CUDA_SUCCESS)
        *(CUstream *)data = stream;
}

static void callbacks_get_their_stream(void **state)
{
    (void)state;
    CUstream stream, seen = NULL;
    ok(cuStreamCreate(&stream, 0));
    ok(cuStreamAddCallback(stream, called_back, &seen, 0));
    ok(cuStreamSynchronize(stream));
    assert_ptr_equal(seen, stream);
    ok(cuStreamDestroy(stream));
}

/* ---- Pageable memory ------------------------------------------------------------------------- */

/* A buffer goes back and forth within one stream: each copy sees what the one before left. */
static void pageable_copies_stay_in_order(void **state)
{
    (void)state;
    int a[16] = {0}, b[16] = {0};
    CUdeviceptr first, second;
    CUstream stream;
    ok(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ok(cuMemAlloc(&first, sizeof a));
    ok(cuMemAlloc(&second, sizeof a));
    for (int i = 1; i < 50; i++) {
        ok(cuMemsetD32Async(first, (unsigned)i, 16, stream));
        ok(cuMemcpyDtoHAsync(a, first, sizeof a, stream));
        ok(cuMemcpyHtoDAsync(second, a, sizeof a, stream));
        ok(cuMemcpyDtoHAsync(b, second, sizeof b, stream));
        ok(cuStreamSynchronize(stream));
        assert_int_equal(a[15], i);
        assert_int_equal(b[15], i);
    }
    ok(cuMemFree(first));
    ok(cuMemFree(second));
    ok(cuStreamDestroy(stream));
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

/* ---- Determinism: the same seed, the same run --------------------------------------------------
 */

static int print_outcomes(void)
{
    CUstream streams[4];
    CUdeviceptr memory;
    if (start(NULL) || cuMemAlloc(&memory, 64) != CUDA_SUCCESS)
        return 1;
    for (int i = 0; i < 4; i++)
        if (cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
            return 1;
    for (int round = 0; round < 40; round++) {
        unsigned value = 0;
        for (int i = 0; i < 4; i++)
            cuMemsetD32Async(memory, (unsigned)i, 1, streams[i]);
        cuCtxSynchronize();
        cuMemcpyDtoH(&value, memory, 4);
        putchar('0' + (int)value);
    }
    return 0;
}

static void outcomes_of(const char *program, int seed, char *text, size_t bytes)
{
    char command[600];
    snprintf(command, sizeof command, "CSAN_SCHEDULE=random:%d '%s' outcomes", seed, program);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    memset(text, 0, bytes);
    assert_int_equal(fread(text, 1, bytes - 1, pipe), 40);
    assert_int_equal(pclose(pipe), 0);
}

static const char *self;

static void a_seed_decides(void **state)
{
    (void)state;
    char first[64], again[64], other[64];
    outcomes_of(self, 7, first, sizeof first);
    outcomes_of(self, 7, again, sizeof again);
    outcomes_of(self, 8, other, sizeof other);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
}

static int run_under_each_schedule(char **arguments)
{
    static const char *const schedules[] = {"eager",     "lazy",    "random:1",
                                            "random:42", "reverse", "hold:3-9:20"};
    int failed = 0;
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        pid_t child = fork();
        if (child == 0) {
            setenv("CSAN_SCHEDULE", schedules[i], 1);
            setenv("TEST_SCHEDULE", schedules[i], 1);
            execv("/proc/self/exe", arguments);
            _exit(127);
        }
        int status = -1;
        waitpid(child, &status, 0);
        if (status) {
            fprintf(stderr, "test_device: failed under CSAN_SCHEDULE=%s\n", schedules[i]);
            failed = 1;
        }
    }
    return failed;
}

int main(int count, char **arguments)
{
    self = arguments[0];
    if (count > 1 && !strcmp(arguments[1], "outcomes"))
        return print_outcomes();
    schedule = getenv("TEST_SCHEDULE");
    if (!schedule)
        return run_under_each_schedule(arguments);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_it_is),
        cmocka_unit_test(names_errors),
        cmocka_unit_test(finds_entry_points_by_version),
        cmocka_unit_test(lacks_what_it_lacks),
        cmocka_unit_test(keeps_a_stack_of_contexts),
        cmocka_unit_test(wants_a_current_context),
        cmocka_unit_test(allocates_and_frees),
        cmocka_unit_test(allocator_matches_a_model),
        cmocka_unit_test(host_cannot_touch_device_memory),
        cmocka_unit_test(attributes_of_addresses),
        cmocka_unit_test(copies_there_and_back),
        cmocka_unit_test(copies_rows),
        cmocka_unit_test(events_order_streams),
        cmocka_unit_test(a_wait_keeps_its_record),
        cmocka_unit_test(the_legacy_stream_orders_blocking_streams),
        cmocka_unit_test(ordered_programs_end_alike),
        cmocka_unit_test(races_go_both_ways),
        cmocka_unit_test(a_schedule_is_chosen_between_programs),
        cmocka_unit_test(enqueues_return_before_the_work),
        cmocka_unit_test(times_events),
        cmocka_unit_test(stale_handles_are_errors),
        cmocka_unit_test(host_functions_run_in_order),
        cmocka_unit_test(host_functions_may_wait_for_the_caller),
        cmocka_unit_test(callbacks_get_their_stream),
        cmocka_unit_test(pageable_copies_stay_in_order),
        cmocka_unit_test(pools_reuse_in_stream_order),
        cmocka_unit_test(an_allocation_is_work_of_its_stream),
        cmocka_unit_test(works_while_the_program_only_looks),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(a_forked_child_has_no_device),
        cmocka_unit_test(a_seed_decides),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
