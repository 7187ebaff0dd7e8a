/* Launches, memory and streams of the libraries. See work.h. The driver's functions are called by
 * their linked names: csan's hooks stand in front of them, as they do for NVIDIA's libraries. */
#include "runtime/device/library/work.h"

#include <cuda.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    const char *said[256];
    size_t count;
} lacking = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t kernels = PTHREAD_MUTEX_INITIALIZER;

/* ---- What is missing ---- */

static bool is_said(const char *what)
{
    for (size_t i = 0; i < lacking.count; i++)
        if (strcmp(lacking.said[i], what) == 0)
            return true;
    return false;
}

void library_lacks_of(const char *what, const char *why)
{
    pthread_mutex_lock(&lacking.lock);
    const bool known = is_said(what);
    if (!known && lacking.count < sizeof lacking.said / sizeof *lacking.said)
        lacking.said[lacking.count++] = what;
    pthread_mutex_unlock(&lacking.lock);
    if (!known)
        fprintf(stderr, "csan device: %s %s\n", what, why);
}

void library_lacks(const char *what)
{
    library_lacks_of(what, "is not supported on the embedded device; the call fails. Run this "
                           "program on a GPU, or use another function");
}

int library_lacks_function(const char *name, uint8_t *said, int code)
{
    if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED))
        library_lacks(name);
    return code;
}

/* ---- Context ---- */

bool library_begin(void)
{
    CUcontext context = NULL;
    CUdevice device;
    if (cuInit(0) != CUDA_SUCCESS)
        return false;
    if (cuCtxGetCurrent(&context) == CUDA_SUCCESS && context)
        return true;
    return cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
           cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS &&
           cuCtxSetCurrent(context) == CUDA_SUCCESS;
}

/* ---- Launches ---- */

static void *kernel_of(struct library_kernel *kernel)
{
    void *made = __atomic_load_n(&kernel->kernel, __ATOMIC_ACQUIRE);
    if (made)
        return made;
    pthread_mutex_lock(&kernels);
    made = kernel->kernel;
    if (!made &&
        device_native_kernel(kernel->name, kernel->run, kernel->traced, &made) != CUDA_SUCCESS)
        made = NULL;
    __atomic_store_n(&kernel->kernel, made, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&kernels);
    return made;
}

bool library_launch(struct library_kernel *kernel, library_stream stream, const void *job,
                    size_t bytes)
{
    _Alignas(16) unsigned char parameter[DEVICE_NATIVE_JOB_BYTES] = {0};
    void *parameters[] = {parameter};
    CUfunction function = library_begin() ? kernel_of(kernel) : NULL;
    if (!function || bytes > sizeof parameter)
        return false;
    memcpy(parameter, job, bytes);
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, (CUstream)stream, parameters, NULL) ==
           CUDA_SUCCESS;
}

bool library_wait(library_stream stream)
{
    return cuStreamSynchronize((CUstream)stream) == CUDA_SUCCESS;
}

bool library_is_captured(library_stream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return cuStreamIsCapturing((CUstream)stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* ---- Memory ---- */

uint64_t library_allocate(size_t bytes)
{
    CUdeviceptr address = 0;
    return cuMemAlloc(&address, bytes) == CUDA_SUCCESS ? address : 0;
}

void library_free(uint64_t address)
{
    if (address)
        cuMemFree(address);
}

bool library_copy(uint64_t target, size_t target_pitch, uint64_t source, size_t source_pitch,
                  size_t width, size_t height, library_stream stream, bool waits)
{
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                                .srcDevice = source,
                                .srcPitch = source_pitch,
                                .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                                .dstDevice = target,
                                .dstPitch = target_pitch,
                                .WidthInBytes = width,
                                .Height = height};
    if (!width || !height)
        return true;
    return (waits ? cuMemcpy2D(&copy) : cuMemcpy2DAsync(&copy, (CUstream)stream)) == CUDA_SUCCESS;
}
