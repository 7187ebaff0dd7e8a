/* The parts of the fake driver (fake_cuda.c) that differ where it stands for a GPU's: device memory
 * is memory, events and streams may be late, and an observer gets contexts, modules and launches,
 * as from the tools interface. */
#define __CUDA_API_VERSION_INTERNAL
#include "tests/unit/hook/tracer/fake_gpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { TABLE = 4096 };

CUresult fake_result(void);
void *fake_handle(void);
CUresult fake_launching(CUfunction function, CUstream stream);
void fake_context_made(void);
CUresult cuCtxGetCurrent(CUcontext *context);

static struct {
    pthread_mutex_t mutex;
    const struct fake_observer *observer;
    CUcontext announced;
    uintptr_t next;
    int launches, launching, hold, broken, failing, busy, block_records, records_blocked,
        block_copies, copies_blocked, block_ends, ends_blocked, prohibited, block_graphs,
        graphs_blocked;
    CUstream ending; /* atomic */
    struct {
        CUfunction function;
        CUmodule module;
        CUkernel kernel; /* whose it is; or NULL */
    } functions[TABLE];
    int function_count;
    CUevent held[TABLE];
    int held_count;
    struct {
        void *p;
        size_t bytes;
    } pinned[TABLE];
    int pinned_count;
} gpu = {.mutex = PTHREAD_MUTEX_INITIALIZER, .next = 0x100000};

/* As fake_sanitizer.c has it. */
static __thread CUstreamCaptureMode mode __attribute__((tls_model("initial-exec"))) =
    CU_STREAM_CAPTURE_MODE_GLOBAL;

static void *number(void)
{
    void *reused = fake_handle();
    return reused ? reused : (void *)__atomic_add_fetch(&gpu.next, 16, __ATOMIC_RELAXED);
}

static void unsafe(void)
{
    if (mode != CU_STREAM_CAPTURE_MODE_RELAXED)
        __atomic_add_fetch(&gpu.prohibited, 1, __ATOMIC_RELAXED);
}

static int is_on(const int *what)
{
    return __atomic_load_n(what, __ATOMIC_ACQUIRE);
}

static void set_on(int *what, int on)
{
    __atomic_store_n(what, on, __ATOMIC_RELEASE);
}

static void stay_while(const int *blocked, int *here)
{
    if (!is_on(blocked))
        return;
    set_on(here, 1);
    while (is_on(blocked))
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    set_on(here, 0);
}

/* ---- Controls ---- */

EXPORT void fake_observe(const struct fake_observer *observer)
{
    gpu.observer = observer;
}
EXPORT void fake_hold(int on)
{
    pthread_mutex_lock(&gpu.mutex);
    gpu.hold = on;
    if (!on)
        gpu.held_count = 0;
    pthread_mutex_unlock(&gpu.mutex);
}
EXPORT void fake_break(int result)
{
    set_on(&gpu.broken, result);
}
EXPORT void fake_fail_launches(int result)
{
    set_on(&gpu.failing, result);
}
EXPORT void fake_busy(int on)
{
    set_on(&gpu.busy, on);
}
EXPORT void fake_block_records(int on)
{
    set_on(&gpu.block_records, on);
}
EXPORT int fake_records_blocked(void)
{
    return is_on(&gpu.records_blocked);
}
EXPORT void fake_block_copies(int on)
{
    set_on(&gpu.block_copies, on);
}
EXPORT int fake_copies_blocked(void)
{
    return is_on(&gpu.copies_blocked);
}
EXPORT void fake_block_graphs(int on)
{
    set_on(&gpu.block_graphs, on);
}
EXPORT int fake_graphs_blocked(void)
{
    return is_on(&gpu.graphs_blocked);
}
EXPORT void fake_block_ends(int on)
{
    set_on(&gpu.block_ends, on);
}
EXPORT int fake_ends_blocked(void)
{
    return is_on(&gpu.ends_blocked);
}
EXPORT int fake_launches(void)
{
    return is_on(&gpu.launches);
}
EXPORT int fake_launching_now(void)
{
    return is_on(&gpu.launching);
}
EXPORT int fake_prohibited(void)
{
    return is_on(&gpu.prohibited);
}

/* ---- Contexts, modules, launches ---- */

/* A context is new to the observer when it is first made or a module loaded in it. */
static CUcontext context_now(void)
{
    CUcontext context;
    cuCtxGetCurrent(&context);
    if (__atomic_exchange_n(&gpu.announced, context, __ATOMIC_RELAXED) != context && gpu.observer)
        gpu.observer->context(context, 1);
    return context;
}
void fake_context_made(void)
{
    context_now();
}
/* The context's pinned memory goes with it. */
EXPORT CUresult cuCtxDestroy_v2(CUcontext context)
{
    CUresult code = fake_result();
    pthread_mutex_lock(&gpu.mutex);
    while (code == CUDA_SUCCESS && gpu.pinned_count) {
        gpu.pinned_count--;
        munmap(gpu.pinned[gpu.pinned_count].p, gpu.pinned[gpu.pinned_count].bytes);
    }
    pthread_mutex_unlock(&gpu.mutex);
    if (code == CUDA_SUCCESS && gpu.observer && context == gpu.announced) {
        gpu.observer->context(context, 0);
        gpu.announced = NULL;
    }
    return code;
}
EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    CUresult code = fake_result();
    (void)image;
    if (code != CUDA_SUCCESS)
        return code;
    *module = number();
    CUcontext context = context_now();
    if (gpu.observer)
        gpu.observer->module(*module, context, 1);
    return code;
}
EXPORT CUresult cuModuleUnload(CUmodule module)
{
    CUresult code = fake_result();
    if (code == CUDA_SUCCESS && gpu.observer)
        gpu.observer->module(module, context_now(), 0);
    return code;
}
static void function_add(CUfunction function, CUmodule module, CUkernel kernel)
{
    pthread_mutex_lock(&gpu.mutex);
    if (gpu.function_count == TABLE)
        abort();
    gpu.functions[gpu.function_count].function = function;
    gpu.functions[gpu.function_count].kernel = kernel;
    gpu.functions[gpu.function_count++].module = module;
    pthread_mutex_unlock(&gpu.mutex);
}
EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CUresult code = fake_result();
    (void)name;
    if (code != CUDA_SUCCESS)
        return code;
    *function = number();
    function_add(*function, module, NULL);
    return code;
}
/* The newest of that handle. */
static CUmodule module_of(CUfunction function)
{
    CUmodule module = NULL;
    pthread_mutex_lock(&gpu.mutex);
    for (int i = 0; i < gpu.function_count; i++)
        if (gpu.functions[i].function == function)
            module = gpu.functions[i].module;
    pthread_mutex_unlock(&gpu.mutex);
    return module;
}
static CUfunction function_of(CUkernel kernel)
{
    CUfunction function = NULL;
    pthread_mutex_lock(&gpu.mutex);
    for (int i = 0; i < gpu.function_count; i++)
        if (gpu.functions[i].kernel == kernel)
            function = gpu.functions[i].function;
    pthread_mutex_unlock(&gpu.mutex);
    return function;
}
EXPORT CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    (void)path;
    return cuModuleLoadData(module, NULL);
}
EXPORT CUresult cuDeviceGetCount(int *count)
{
    *count = 1;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}
/* As the cubins of fake_cubin.h. */
EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    *module = module_of(function);
    return *module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
/* Kernels of libraries are loaded by this, each into a module of its own. */
EXPORT CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    CUmodule module = NULL;
    *function = function_of(kernel);
    CUresult code = *function ? CUDA_SUCCESS : cuModuleLoadData(&module, NULL);
    if (*function || code != CUDA_SUCCESS)
        return code;
    *function = number();
    function_add(*function, module, kernel);
    return CUDA_SUCCESS;
}
/* As the tools interface reports it. */
static CUfunction function_reported(CUfunction handle)
{
    CUfunction function = function_of((CUkernel)handle);
    return function ? function : handle;
}
CUresult fake_launching(CUfunction function, CUstream stream)
{
    __atomic_add_fetch(&gpu.launches, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&gpu.launching, 1, __ATOMIC_SEQ_CST);
    const CUfunction reported = function_reported(function);
    if (gpu.observer)
        gpu.observer->launch(reported, module_of(reported), context_now(), stream);
    __atomic_sub_fetch(&gpu.launching, 1, __ATOMIC_SEQ_CST);
    CUresult code = fake_result();
    return code == CUDA_SUCCESS ? (CUresult)is_on(&gpu.failing) : code;
}
int fake_is_patched(CUfunction kernel)
{
    return gpu.observer && gpu.observer->is_patched(module_of(function_reported(kernel)));
}
/* All that begin are reported before the first runs. */
CUresult fake_launching_nodes(const CUfunction *kernels, const CUgraphNode *nodes,
                              const int *larger, size_t count)
{
    __atomic_add_fetch(&gpu.launching, 1, __ATOMIC_SEQ_CST);
    for (size_t i = 0; gpu.observer && i < count; i++) {
        const CUfunction reported = function_reported(kernels[i]);
        gpu.observer->node(reported, module_of(reported), context_now(), nodes[i]);
    }
    stay_while(&gpu.block_graphs, &gpu.graphs_blocked);
    __atomic_sub_fetch(&gpu.launching, 1, __ATOMIC_SEQ_CST);
    for (size_t i = 0; gpu.observer && i < count; i++) {
        const CUfunction reported = function_reported(kernels[i]);
        gpu.observer->node_runs(reported, module_of(reported), larger[i]);
    }
    return (CUresult)is_on(&gpu.failing);
}

/* ---- Streams and events ---- */

EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *other)
{
    CUstreamCaptureMode old = mode;
    mode = *other;
    *other = old;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamDestroy_v2(CUstream stream)
{
    __atomic_store_n(&gpu.ending, stream, __ATOMIC_RELEASE);
    stay_while(&gpu.block_ends, &gpu.ends_blocked);
    __atomic_store_n(&gpu.ending, NULL, __ATOMIC_RELEASE);
    return fake_result();
}
EXPORT CUresult cuStreamQuery(CUstream stream)
{
    CUresult code = fake_result();
    unsafe();
    if (stream && stream == __atomic_load_n(&gpu.ending, __ATOMIC_ACQUIRE))
        __atomic_add_fetch(&gpu.prohibited, 1, __ATOMIC_RELAXED);
    return code == CUDA_SUCCESS && is_on(&gpu.busy) ? CUDA_ERROR_NOT_READY : code;
}
EXPORT CUresult cuEventRecord(CUevent event, CUstream stream)
{
    CUresult code = fake_result();
    (void)stream;
    stay_while(&gpu.block_records, &gpu.records_blocked);
    pthread_mutex_lock(&gpu.mutex);
    if (code == CUDA_SUCCESS && gpu.hold && gpu.held_count < TABLE)
        gpu.held[gpu.held_count++] = event;
    pthread_mutex_unlock(&gpu.mutex);
    return code;
}
EXPORT CUresult cuEventQuery(CUevent event)
{
    CUresult code = is_on(&gpu.broken);
    unsafe();
    pthread_mutex_lock(&gpu.mutex);
    for (int i = 0; i < gpu.held_count; i++)
        if (gpu.held[i] == event)
            code = CUDA_ERROR_NOT_READY;
    pthread_mutex_unlock(&gpu.mutex);
    return code;
}

/* ---- Words that streams write ---- */

static CUstream stopped[4]; /* a kernel in these does not end; atomic */

/* What the stream writes from now on does not come. */
EXPORT void fake_stop_stream(CUstream stream)
{
    for (int i = 0; i < 4; i++)
        if (!stopped[i]) {
            stopped[i] = stream;
            return;
        }
}
EXPORT CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr p, cuuint32_t value,
                                        unsigned flags)
{
    (void)flags;
    for (int i = 0; i < 4; i++)
        if (stopped[i] == stream)
            return fake_result();
    *(volatile cuuint32_t *)(uintptr_t)p = value;
    return fake_result();
}

/* ---- Memory ---- */

enum { LARGE = 64 << 20 };

/* Never freed: the tests are short. Full of what a GPU's memory is full of, unless it is large. A
 * handle to be reused is memory of the test's. */
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes)
{
    CUresult code = fake_result();
    void *memory = fake_handle();
    unsafe();
    if (code != CUDA_SUCCESS)
        return code;
    if (!memory)
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (bytes < LARGE)
        memset(memory, 0xa5, bytes);
    *p = (CUdeviceptr)memory;
    return code;
}
EXPORT CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
    CUresult code = fake_result();
    (void)flags;
    *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*p == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&gpu.mutex);
    if (gpu.pinned_count == TABLE)
        abort();
    gpu.pinned[gpu.pinned_count].p = *p;
    gpu.pinned[gpu.pinned_count++].bytes = bytes;
    pthread_mutex_unlock(&gpu.mutex);
    return code;
}
EXPORT CUresult cuMemFreeHost(void *p)
{
    (void)p; /* with the context */
    return fake_result();
}
EXPORT CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t count, CUstream stream)
{
    CUresult code = fake_result();
    (void)stream;
    if (code == CUDA_SUCCESS)
        memset((void *)p, value, count);
    return code;
}
EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    CUresult code = fake_result();
    (void)stream;
    stay_while(&gpu.block_copies, &gpu.copies_blocked);
    if (code == CUDA_SUCCESS)
        memcpy(to, (const void *)from, bytes);
    return code;
}
