/* A driver that does nothing, built as libcuda.so.1 for the tests of the hooks: every call succeeds
 * at once, unless the test sets another result, and is counted. Streams, events and memory are
 * plain numbers. The test reaches its controls (fake_*) with dlsym. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { HOST_FUNCTIONS = 64 };

static struct {
    pthread_mutex_t mutex;
    CUresult fail_next; /* what the next call returns */
    uint64_t calls;
    uintptr_t next_handle;
    void *reuse_handle; /* given out by the next create */
    CUstreamCaptureStatus capture;
    CUcontext current;
    bool alone;      /* no thread has a context but what it pushed, */
    pthread_t owner; /* except this one */
    struct {
        CUhostFn function;
        CUstreamCallback callback;
        CUstream stream;
        void *data;
    } queued[HOST_FUNCTIONS];
    int queued_count;
    int primary_active;
    uint64_t variables_at; /* they lie elsewhere in each context, and this much further */
    int parameters;        /* how many pointers every kernel takes; -1: it does not say */
    int architecture;      /* 90: compute capability 9.0; 0: it does not say */
    int structure;         /* bytes of the one structure that every kernel takes; 0: pointers */
    int run_at_once;       /* host functions: within the call that enqueues them */
    int takes;             /* nanoseconds that every call lasts at least */
    char log[256];         /* launches and waits for streams; see fake_log */
    size_t logged;
} fake = {.mutex = PTHREAD_MUTEX_INITIALIZER,
          .next_handle = 0x10000,
          .current = (CUcontext)0xc0,
          .primary_active = 1,
          .parameters = -1};

/* ---- Controls ---- */

/* Of the thread's next call that gives a result: 1 once it is in the driver, which it leaves at 2.
 */
static __thread int *fake_gate_of_thread;

EXPORT void fake_fail_next(int result)
{
    __atomic_store_n(&fake.fail_next, result, __ATOMIC_RELAXED);
}
EXPORT uint64_t fake_calls(void)
{
    return __atomic_load_n(&fake.calls, __ATOMIC_RELAXED);
}
EXPORT void fake_reuse_handle(void *handle)
{
    fake.reuse_handle = handle;
}
EXPORT void fake_capture(int status)
{
    fake.capture = status;
}
EXPORT void fake_set_context(void *context)
{
    fake.current = context;
}
EXPORT void fake_context_is_of_this_thread(int alone)
{
    fake.alone = alone;
    fake.owner = pthread_self();
}
EXPORT void fake_gate(int *gate)
{
    fake_gate_of_thread = gate;
}
EXPORT void fake_move_variables(uint64_t by)
{
    fake.variables_at = by;
}
EXPORT void fake_set_parameters(int count)
{
    __atomic_store_n(&fake.parameters, count, __ATOMIC_RELAXED);
}
EXPORT void fake_set_architecture(int architecture)
{
    __atomic_store_n(&fake.architecture, architecture, __ATOMIC_RELAXED);
}
EXPORT void fake_set_structure(int bytes)
{
    fake.structure = bytes;
}
EXPORT void fake_run_at_once(int on)
{
    fake.run_at_once = on;
}
EXPORT void fake_takes(int nanoseconds)
{
    fake.takes = nanoseconds;
}
/* What the calling thread's next wait for a stream returns: csan's own threads wait, too. */
static __thread CUresult fail_wait;

EXPORT void fake_fail_wait(int result)
{
    fail_wait = result;
}
/* What was called since this was: k a kernel's launch, [02] a graph's, of its nodes 0 and 2, s a
 * wait for a stream, d a graph's end. */
EXPORT const char *fake_log(void)
{
    static char copy[sizeof fake.log];
    memcpy(copy, fake.log, sizeof copy);
    memset(fake.log, 0, sizeof fake.log);
    fake.logged = 0;
    return copy;
}
/* For fake_graph.c, too. */
void fake_note(char what);
void fake_note(char what)
{
    const size_t at = __atomic_fetch_add(&fake.logged, 1, __ATOMIC_RELAXED);
    if (at + 1 < sizeof fake.log)
        fake.log[at] = what;
}

EXPORT void fake_set_primary_active(int active)
{
    fake.primary_active = active;
}

/* Run the host functions enqueued so far, as the driver's own thread would. */
EXPORT void fake_run_host_functions(void)
{
    for (int i = 0; i < fake.queued_count; i++)
        if (fake.queued[i].function)
            fake.queued[i].function(fake.queued[i].data);
        else
            fake.queued[i].callback(fake.queued[i].stream, CUDA_SUCCESS, fake.queued[i].data);
    fake.queued_count = 0;
}

/* ---- The driver ---- */

static int64_t clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static CUresult result(void)
{
    int *gate = fake_gate_of_thread;
    __atomic_fetch_add(&fake.calls, 1, __ATOMIC_RELAXED);
    if (gate) {
        fake_gate_of_thread = NULL;
        __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(gate, __ATOMIC_ACQUIRE) != 2)
            ;
    }
    for (int64_t end = fake.takes ? clock_now() + fake.takes : 0; end && clock_now() < end;)
        ;
    if (!__atomic_load_n(&fake.fail_next, __ATOMIC_RELAXED))
        return CUDA_SUCCESS;
    return __atomic_exchange_n(&fake.fail_next, CUDA_SUCCESS, __ATOMIC_RELAXED);
}

/* The same for fake_graph.c. */
CUresult fake_result(void);
CUresult fake_result(void)
{
    return result();
}
void *fake_handle(void);
void *fake_handle(void)
{
    return __atomic_exchange_n(&fake.reuse_handle, NULL, __ATOMIC_RELAXED);
}

static void *handle(size_t bytes)
{
    void *reused = __atomic_exchange_n(&fake.reuse_handle, NULL, __ATOMIC_RELAXED);
    if (reused)
        return reused;
    return (void *)__atomic_fetch_add(&fake.next_handle, (bytes + 4096) / 4096 * 4096,
                                      __ATOMIC_RELAXED);
}

/* Calls of which only the result matters. */
#define SUCCEEDS(name, ...)                                                                        \
    EXPORT CUresult name(__VA_ARGS__)                                                              \
    {                                                                                              \
        return result();                                                                           \
    }

#define GIVES(name, type, bytes, ...)                                                              \
    EXPORT CUresult name(type *out, ##__VA_ARGS__)                                                 \
    {                                                                                              \
        CUresult code = result();                                                                  \
        if (code == CUDA_SUCCESS)                                                                  \
            *out = (type)handle(bytes);                                                            \
        return code;                                                                               \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"
#undef cuStreamDestroy
/* What a test wants done while this library is being opened: the address of a function. */
__attribute__((constructor)) static void opened(void)
{
    const char *address = getenv("FAKE_WHEN_OPENED");
    if (address)
        ((void (*)(void))(uintptr_t)strtoull(address, NULL, 0))();
}

/* An empty fat binary, for tests that close this library under csan. */
EXPORT const unsigned char fake_image[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16};

EXPORT CUresult cuInit(unsigned flags)
{
    return result();
}
enum { PUSHED_MAX = 8 };
static __thread struct {
    CUcontext contexts[PUSHED_MAX];
    unsigned depth;
} pushed;

EXPORT CUresult cuCtxGetCurrent(CUcontext *context)
{
    const bool has = !fake.alone || pthread_equal(pthread_self(), fake.owner);
    *context = pushed.depth ? pushed.contexts[pushed.depth - 1] : has ? fake.current : NULL;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    CUresult code = result();
    if (code == CUDA_SUCCESS && pushed.depth < PUSHED_MAX)
        pushed.contexts[pushed.depth++] = context;
    return code;
}
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    CUresult code = result();
    if (code == CUDA_SUCCESS && pushed.depth)
        *context = pushed.contexts[--pushed.depth];
    return code;
}
EXPORT CUresult cuStreamGetFlags(CUstream stream, unsigned *flags)
{
    *flags = CU_STREAM_NON_BLOCKING;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    *context = fake.current;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    *status = fake.capture;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr p)
{
    return CUDA_ERROR_INVALID_VALUE; /* nothing but what the program allocated is known */
}
EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    *flags = 0;
    *active = fake.primary_active;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuFuncGetName(const char **name, CUfunction function)
{
    static __thread char text[32];
    snprintf(text, sizeof text, "kernel_%lx", (unsigned long)(uintptr_t)function);
    *name = text;
    return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    (void)function;
    *offset = 0;
    *bytes = (size_t)fake.structure;
    if (fake.structure)
        return index ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    const int parameters = __atomic_load_n(&fake.parameters, __ATOMIC_RELAXED);
    if (parameters == -2) /* it does not say */
        return CUDA_ERROR_NOT_FOUND;
    if (parameters < 0 || index >= (size_t)parameters)
        return CUDA_ERROR_INVALID_VALUE;
    *offset = 8 * index;
    *bytes = 8;
    return CUDA_SUCCESS;
}

#ifndef FAKE_GPU
static int architecture(void)
{
    return __atomic_load_n(&fake.architecture, __ATOMIC_RELAXED);
}
EXPORT CUresult cuDeviceGetCount(int *count)
{
    *count = architecture() != 0;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return architecture() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}
EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    const int number = architecture();
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? number / 10
             : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? number % 10
                                                                         : 0;
    return CUDA_SUCCESS;
}
#endif

GIVES(cuLibraryLoadData, CUlibrary, 1, const void *image, CUjit_option *options, void **values,
      unsigned count, CUlibraryOption *library_options, void **library_values,
      unsigned library_count)
GIVES(cuLibraryGetKernel, CUkernel, 1, CUlibrary library, const char *name)
#ifndef FAKE_GPU
GIVES(cuKernelGetFunction, CUfunction, 1, CUkernel kernel)
#endif
GIVES(cuStreamCreate, CUstream, 1, unsigned flags)
GIVES(cuStreamCreateWithPriority, CUstream, 1, unsigned flags, int priority)
#ifndef FAKE_GPU
/* Slow enough for other threads to get between the hook's two halves. */
EXPORT CUresult cuStreamDestroy_v2(CUstream stream)
{
    (void)stream;
    sched_yield();
    return result();
}
#endif
EXPORT CUresult cuStreamSynchronize(CUstream stream)
{
    const CUresult code = fail_wait;
    (void)stream;
    fake_note('s');
    fail_wait = CUDA_SUCCESS;
    return code ? code : result();
}
SUCCEEDS(cuStreamSynchronize_ptsz, CUstream stream)
SUCCEEDS(cuStreamWaitEvent, CUstream stream, CUevent event, unsigned flags)
GIVES(cuEventCreate, CUevent, 1, unsigned flags)
SUCCEEDS(cuEventDestroy_v2, CUevent event)
SUCCEEDS(cuEventRecordWithFlags, CUevent event, CUstream stream, unsigned flags)
SUCCEEDS(cuEventSynchronize, CUevent event)
SUCCEEDS(cuEventElapsedTime, float *ms, CUevent start, CUevent end)
SUCCEEDS(cuCtxSetCurrent, CUcontext context)
SUCCEEDS(cuCtxSynchronize, void)
SUCCEEDS(cuCtxSynchronize_v2, CUcontext context)
SUCCEEDS(cuDevicePrimaryCtxRelease_v2, CUdevice device)
SUCCEEDS(cuDevicePrimaryCtxReset_v2, CUdevice device)
#ifdef FAKE_GPU
void fake_context_made(void);
#else
static void fake_context_made(void) {}
#endif
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    *context = fake.current;
    fake_context_made();
    return result();
}
EXPORT CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned flags,
                               CUdevice device)
{
    (void)params, (void)flags, (void)device;
    *context = fake.current;
    fake_context_made();
    return result();
}

GIVES(cuMemAllocManaged, CUdeviceptr, bytes, size_t bytes, unsigned flags)
GIVES(cuMemAllocAsync, CUdeviceptr, bytes, size_t bytes, CUstream stream)
SUCCEEDS(cuMemFree_v2, CUdeviceptr p)
SUCCEEDS(cuMemFreeAsync, CUdeviceptr p, CUstream stream)
SUCCEEDS(cuMemHostRegister_v2, void *p, size_t bytes, unsigned flags)
SUCCEEDS(cuMemHostUnregister, void *p)

SUCCEEDS(cuMemcpy, CUdeviceptr to, CUdeviceptr from, size_t bytes)
SUCCEEDS(cuMemcpyAsync, CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
SUCCEEDS(cuMemcpyHtoD_v2, CUdeviceptr to, const void *from, size_t bytes)
SUCCEEDS(cuMemcpyHtoD_v2_ptds, CUdeviceptr to, const void *from, size_t bytes)
SUCCEEDS(cuMemcpyDtoH_v2, void *to, CUdeviceptr from, size_t bytes)
SUCCEEDS(cuMemcpyDtoD_v2, CUdeviceptr to, CUdeviceptr from, size_t bytes)
/* With fake_run_at_once: functions before it in its stream run during the call. */
EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes,
                                     CUstream stream)
{
    (void)to, (void)from, (void)bytes, (void)stream;
    CUresult code = result();
    if (code == CUDA_SUCCESS && fake.run_at_once)
        fake_run_host_functions();
    return code;
}
SUCCEEDS(cuMemcpyDtoDAsync_v2, CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
SUCCEEDS(cuMemcpyPeer, CUdeviceptr to, CUcontext a, CUdeviceptr from, CUcontext b, size_t bytes)
SUCCEEDS(cuMemcpy2DAsync_v2, const CUDA_MEMCPY2D *copy, CUstream stream)
SUCCEEDS(cuMemcpy3DAsync_v2, const CUDA_MEMCPY3D *copy, CUstream stream)
SUCCEEDS(cuMemsetD8_v2, CUdeviceptr p, unsigned char value, size_t count)
SUCCEEDS(cuMemsetD8Async_ptsz, CUdeviceptr p, unsigned char value, size_t count, CUstream stream)
SUCCEEDS(cuMemsetD32Async, CUdeviceptr p, unsigned value, size_t count, CUstream stream)
SUCCEEDS(cuMemsetD2D8Async, CUdeviceptr p, size_t pitch, unsigned char value, size_t width,
         size_t height, CUstream stream)
SUCCEEDS(cuMulticastUnbind, CUmemGenericAllocationHandle object, CUdevice device, size_t offset,
         size_t bytes)
SUCCEEDS(cuStreamBeginCapture_v2, CUstream stream, CUstreamCaptureMode mode)
#ifndef FAKE_GPU
/* What fake_gpu.c has in another way; a module of PTX text gives functions of any name. */
SUCCEEDS(cuStreamQuery, CUstream stream)
SUCCEEDS(cuEventRecord, CUevent event, CUstream stream)
SUCCEEDS(cuEventQuery, CUevent event)
SUCCEEDS(cuCtxDestroy_v2, CUcontext context)
GIVES(cuMemAlloc_v2, CUdeviceptr, bytes, size_t bytes)
SUCCEEDS(cuMemcpyDtoHAsync_v2, void *to, CUdeviceptr from, size_t bytes, CUstream stream)
SUCCEEDS(cuMemsetD8Async, CUdeviceptr p, unsigned char value, size_t count, CUstream stream)
GIVES(cuModuleLoadData, CUmodule, 1, const void *image)
GIVES(cuModuleGetFunction, CUfunction, 1, CUmodule module, const char *name)
SUCCEEDS(cuModuleUnload, CUmodule module)
EXPORT CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
    *p = malloc(bytes);
    return result();
}
EXPORT CUresult cuMemFreeHost(void *p)
{
    free(p);
    return result();
}
#endif

#ifdef FAKE_TRACE
/* The tracing interface of the embedded device: each launch touches what the test said last, and is
 * reported within the launch, or when the test says so. */
#include "runtime/trace/trace.h"

enum { UNKNOWN = 16 };

static struct {
    device_trace_done *done;
    void *user;
    uint64_t launches;
    int inexact, lost;
    pthread_mutex_t mutex;
    struct device_trace_launch unknown[UNKNOWN];
    struct device_trace_range ranges[UNKNOWN];
    int unknown_count;
} trace = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* What the thread's next launches touch, and whether they are reported at once. */
static __thread struct {
    uint64_t last;
    int later;
    struct device_trace_range range;
} trace_self;

EXPORT void device_trace_subscribe(device_trace_done *done, void *user)
{
    trace.done = done;
    trace.user = user;
}
EXPORT uint64_t device_trace_last_launch(void)
{
    return trace_self.last;
}
EXPORT void fake_trace(uint64_t address, uint64_t bytes, int kind, int at_once)
{
    trace_self.range =
        (struct device_trace_range){.address = address, .bytes = bytes, .kind = (uint32_t)kind};
    trace_self.later = !at_once;
}
/* What it says of its words from now on. */
EXPORT void fake_trace_quality(int inexact, int lost)
{
    trace.inexact = inexact;
    trace.lost = lost;
}
EXPORT void fake_trace_report(void)
{
    for (int i = 0; i < trace.unknown_count; i++)
        trace.done(trace.user, &trace.unknown[i]);
    trace.unknown_count = 0;
}
static void launched(void)
{
    struct device_trace_range range = trace_self.range;
    struct device_trace_launch launch = {
        .inexact = trace.inexact, .lost = trace.lost, .count = 1, .ranges = &range};
    if (!trace.done || fake.capture)
        return; /* captured launches have no number */
    launch.id = trace_self.last = __atomic_add_fetch(&trace.launches, 1, __ATOMIC_RELAXED);
    if (!trace_self.later) {
        trace.done(trace.user, &launch);
        return;
    }
    pthread_mutex_lock(&trace.mutex);
    if (trace.unknown_count < UNKNOWN) {
        trace.ranges[trace.unknown_count] = range;
        launch.ranges = &trace.ranges[trace.unknown_count];
        trace.unknown[trace.unknown_count++] = launch;
    }
    pthread_mutex_unlock(&trace.mutex);
}
static CUresult launching(CUfunction f, CUstream stream)
{
    return result();
}
#elif defined(FAKE_GPU)
CUresult fake_launching(CUfunction f, CUstream stream);
static CUresult launching(CUfunction f, CUstream stream)
{
    return fake_launching(f, stream);
}
static void launched(void) {}
#else
static CUresult launching(CUfunction f, CUstream stream)
{
    return result();
}
static void launched(void) {}
#endif

EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, CUstream stream,
                               void **parameters, void **extra)
{
    CUresult code = launching(f, stream);
    fake_note('k');
    if (code == CUDA_SUCCESS)
        launched();
    return code;
}
EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **parameters,
                                 void **extra)
{
    return launching(f, config->hStream);
}

static CUresult enqueue(CUstream stream, CUhostFn function, CUstreamCallback callback, void *data)
{
    CUresult code = result();
    pthread_mutex_lock(&fake.mutex);
    bool at_once = fake.run_at_once || fake.queued_count == HOST_FUNCTIONS;
    if (code == CUDA_SUCCESS && !at_once) {
        fake.queued[fake.queued_count].function = function;
        fake.queued[fake.queued_count].callback = callback;
        fake.queued[fake.queued_count].stream = stream;
        fake.queued[fake.queued_count++].data = data;
    }
    pthread_mutex_unlock(&fake.mutex);
    if (code == CUDA_SUCCESS && at_once && function)
        function(data);
    return code;
}
EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    return enqueue(stream, function, NULL, data);
}
EXPORT CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data,
                                    unsigned flags)
{
    return enqueue(stream, NULL, callback, data);
}

/* A texture and a surface may have the same number: each kind counts for itself. */
EXPORT CUresult cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource,
                                  const CUDA_TEXTURE_DESC *how, const CUDA_RESOURCE_VIEW_DESC *view)
{
    static uint64_t last;
    CUresult code = result();
    void *reused = __atomic_exchange_n(&fake.reuse_handle, NULL, __ATOMIC_RELAXED);
    if (code == CUDA_SUCCESS)
        *texture = reused ? (uintptr_t)reused : __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return code;
}
EXPORT CUresult cuSurfObjectCreate(CUsurfObject *surface, const CUDA_RESOURCE_DESC *resource)
{
    static uint64_t last;
    CUresult code = result();
    if (code == CUDA_SUCCESS)
        *surface = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return code;
}
SUCCEEDS(cuTexObjectDestroy, CUtexObject texture)
SUCCEEDS(cuSurfObjectDestroy, CUsurfObject surface)

static void map_put(CUtensorMap *map, unsigned at, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++)
        map->opaque[(at + i) / 64] |= (value >> i & 1) << (at + i) % 64;
}

/* As a real driver has them, as far as csan reads them (runtime/hook/state/tensor_map.c); `how`
 * distinguishes the rest. */
static CUresult encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *base,
                       const cuuint64_t *sizes, const cuuint64_t *strides, cuuint32_t side,
                       uint64_t how)
{
    static const unsigned types[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 7, 8};
    CUresult code = result();
    if (code != CUDA_SUCCESS)
        return code;
    memset(map, 0, sizeof *map);
    map->opaque[0] = (uintptr_t)base;
    map_put(map, 64, 1, how >= 16);
    map_put(map, 68, 3, rank - 1);
    map_put(map, 71, 4, (unsigned)type < 13 ? types[type] : 15);
    map_put(map, 75, 2, how & 3);
    map_put(map, 80, 1, type == 11 || type == 12);
    for (cuuint32_t i = 0; i < rank; i++)
        map_put(map, 256 + 32 * i, 32, sizes[i] - 1);
    for (cuuint32_t i = 0; i + 1 < rank; i++) {
        map_put(map, 96 + 32 * i, 32, strides[i] >> 4);
        map_put(map, 224 + 4 * i, 4, strides[i] >> 36);
    }
    map_put(map, 440, 8, side - 1);
    map->opaque[8] = (uint64_t)type << 32 | how;
    return code;
}
EXPORT CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                       void *base, const cuuint64_t *sizes,
                                       const cuuint64_t *strides, const cuuint32_t *box,
                                       const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                       CUtensorMapFloatOOBfill fill)
{
    return encode(map, type, rank, base, sizes, strides, box[0], interleave);
}
EXPORT CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                        void *base, const cuuint64_t *sizes,
                                        const cuuint64_t *strides, const int *lower,
                                        const int *upper, cuuint32_t channels, cuuint32_t pixels,
                                        const cuuint32_t *steps, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle,
                                        CUtensorMapL2promotion promotion,
                                        CUtensorMapFloatOOBfill fill)
{
    return encode(map, type, rank, base, sizes, strides, channels, 16 + (uint64_t)interleave);
}
EXPORT CUresult cuTensorMapEncodeIm2colWide(
    CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *base,
    const cuuint64_t *sizes, const cuuint64_t *strides, int lower, int upper, cuuint32_t channels,
    cuuint32_t pixels, const cuuint32_t *steps, CUtensorMapInterleave interleave,
    CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill)
{
    return encode(map, type, rank, base, sizes, strides, channels, 32 + (uint64_t)interleave);
}
EXPORT CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *base)
{
    CUresult code = result();
    if (code == CUDA_SUCCESS)
        map->opaque[0] = (uintptr_t)base;
    return code;
}

EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *p, size_t *bytes, CUmodule module,
                                     const char *name)
{
    *p = 0xabc000 + fake.variables_at + ((uintptr_t)fake.current - 0xc0) * 4096;
    *bytes = 4;
    return result();
}

/* A function of a version newer than csan's table. */
EXPORT CUresult fake_new_cuMemAlloc(CUdeviceptr *p, size_t bytes, int what)
{
    return result();
}

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *status)
{
    char name[128];
    void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (strcmp(symbol, "cuMemAlloc") == 0 && version > 13000) {
        *pfn = (void *)fake_new_cuMemAlloc;
        return result();
    }
    if (strcmp(symbol, "cuGraphInstantiate") == 0 && version >= 12000)
        symbol = "cuGraphInstantiateWithFlags"; /* as cuda.h has it */
    *pfn = NULL;
    for (int v2 = version >= 3020; v2 >= 0 && !*pfn; v2--)
        for (int thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? 2 : 0;
             thread >= 0 && !*pfn; thread--) {
            static const char *const suffix[] = {"", "_ptds", "_ptsz"};
            snprintf(name, sizeof name, "%s%s%s", symbol, v2 ? "_v2" : "", suffix[thread]);
            *pfn = dlsym(self, name);
        }
    return *pfn ? result() : CUDA_ERROR_NOT_FOUND;
}

/* Memory of others: a page each, at the same place however often it is opened. */
enum { FOREIGN = 0x70000000, PAGE_BYTES = 4096 };
#define LIES_AT(name, address, ...)                                                                \
    EXPORT CUresult name(CUdeviceptr *p, ##__VA_ARGS__)                                            \
    {                                                                                              \
        CUresult code = result();                                                                  \
        if (code == CUDA_SUCCESS)                                                                  \
            *p = (address);                                                                        \
        return code;                                                                               \
    }
EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr p)
{
    *base = p / PAGE_BYTES * PAGE_BYTES;
    *bytes = PAGE_BYTES;
    return CUDA_SUCCESS;
}
LIES_AT(cuIpcOpenMemHandle_v2, FOREIGN, CUipcMemHandle handle, unsigned flags)
SUCCEEDS(cuIpcCloseMemHandle, CUdeviceptr p)
GIVES(cuIpcOpenEventHandle, CUevent, 1, CUipcEventHandle shared)
GIVES(cuMemCreate, CUmemGenericAllocationHandle, 1, size_t bytes, const CUmemAllocationProp *prop,
      unsigned long long flags)
LIES_AT(cuMemPoolImportPointer, FOREIGN + 0x10000, CUmemoryPool pool,
        CUmemPoolPtrExportData *shared)
LIES_AT(cuExternalMemoryGetMappedBuffer, FOREIGN + 0x20000, CUexternalMemory memory,
        const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *description)
SUCCEEDS(cuSignalExternalSemaphoresAsync, const CUexternalSemaphore *semaphores,
         const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params, unsigned count, CUstream stream)
SUCCEEDS(cuDestroyExternalSemaphore, CUexternalSemaphore semaphore)
SUCCEEDS(cuWaitExternalSemaphoresAsync, const CUexternalSemaphore *semaphores,
         const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params, unsigned count, CUstream stream)

#ifndef FAKE_GPU
SUCCEEDS(cuStreamWriteValue32_v2, CUstream stream, CUdeviceptr p, cuuint32_t value, unsigned flags)
#endif
SUCCEEDS(cuStreamWriteValue64_v2, CUstream stream, CUdeviceptr p, cuuint64_t value, unsigned flags)
SUCCEEDS(cuStreamWaitValue32_v2, CUstream stream, CUdeviceptr p, cuuint32_t value, unsigned flags)
SUCCEEDS(cuStreamWaitValue64_v2, CUstream stream, CUdeviceptr p, cuuint64_t value, unsigned flags)

GIVES(cuArrayCreate_v2, CUarray, 1, const CUDA_ARRAY_DESCRIPTOR *descriptor)
GIVES(cuArray3DCreate_v2, CUarray, 1, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
SUCCEEDS(cuArrayDestroy, CUarray array)
SUCCEEDS(cuMemcpyHtoAAsync_v2, CUarray to, size_t offset, const void *from, size_t bytes,
         CUstream stream)
SUCCEEDS(cuMemcpyAtoD_v2, CUdeviceptr to, CUarray from, size_t offset, size_t bytes)
SUCCEEDS(cuMemcpyAtoHAsync_v2, void *to, CUarray from, size_t offset, size_t bytes, CUstream stream)
