/* The driver, each thread's device, and primary contexts, which are made when the first call needs
 * them, as NVIDIA's runtime does. See runtime.h. */
#include "runtime/device/cudart/runtime.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES = 64 };

struct driver driver;

static struct {
    pthread_once_t once;
    cudaError_t started;
    pthread_mutex_t lock; /* guards primary */
    CUcontext primary[DEVICES];
    unsigned generation; /* counts cudaDeviceReset: older current contexts are gone */
} runtime = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct {
    int ordinal;         /* cudaSetDevice */
    unsigned generation; /* runtime.generation when this thread last looked */
} thread;

/* ---- The driver ---- */

/* Stands in for an entry point that the driver does not have. */
static CUresult driver_lacks(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* The driver beside this library, else the one the dynamic loader finds. */
static void *open_driver(void)
{
    static const char name[] = "libcuda.so.1";
    char path[PATH_MAX];
    Dl_info info;
    if (dladdr((void *)open_driver, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        int directory = slash ? (int)(slash - info.dli_fname) : 0;
        void *library = NULL;
        if (slash && snprintf(path, sizeof path, "%.*s/%s", directory, info.dli_fname, name) <
                         (int)sizeof path)
            library = dlopen(path, RTLD_NOW);
        if (library)
            return library;
    }
    return dlopen(name, RTLD_NOW);
}

static void fetch(const char *name, int version, void **slot, cuuint64_t flags)
{
    CUdriverProcAddressQueryResult status;
    if (driver.get_proc_address(name, slot, version, flags, &status) != CUDA_SUCCESS || !*slot)
        *slot = (void *)driver_lacks;
}

/* A driver that acts as an older one (CSAN_DEVICE_CUDA) lacks functions, or has others of these
 * names. */
static bool driver_is_new_enough(void)
{
    enum {
        NEEDED = 13050
    }; /* the newest version in driver.def, and that of a driver which is itself */
    CUresult (*ask)(int *) = NULL;
    int version = 0;
    if (driver.get_proc_address("cuDriverGetVersion", (void **)&ask, 2020, 0, NULL) != CUDA_SUCCESS)
        return false;
    return ask && ask(&version) == CUDA_SUCCESS && version >= NEEDED;
}

static void start(void)
{
    void *library = open_driver();
    *(void **)&driver.get_proc_address = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
    if (!driver.get_proc_address) {
        runtime.started = cudaErrorInsufficientDriver;
        return;
    }
    if (!driver_is_new_enough()) {
        runtime.started = cudaErrorInsufficientDriver;
        return;
    }
#define DRIVER(name, version)                                                                      \
    fetch(#name, version, (void **)&driver.name[LEGACY], CU_GET_PROC_ADDRESS_LEGACY_STREAM);       \
    fetch(#name, version, (void **)&driver.name[PER_THREAD],                                       \
          CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
#include "runtime/device/cudart/driver.def"
#undef DRIVER
    runtime.started = (cudaError_t)driver.cuInit[0](0);
}

cudaError_t runtime_start(void)
{
    pthread_once(&runtime.once, start);
    return error_record(runtime.started);
}

/* ---- Contexts ---- */

cudaError_t runtime_context(int ordinal, CUcontext *context)
{
    CUresult result = CUDA_SUCCESS;
    CUdevice device;
    if (ordinal < 0 || ordinal >= DEVICES)
        return error_record(cudaErrorInvalidDevice);
    pthread_mutex_lock(&runtime.lock);
    if (!runtime.primary[ordinal] &&
        (result = driver.cuDeviceGet[0](&device, ordinal)) == CUDA_SUCCESS)
        result = driver.cuDevicePrimaryCtxRetain[0](&runtime.primary[ordinal], device);
    *context = runtime.primary[ordinal];
    pthread_mutex_unlock(&runtime.lock);
    return error_from(result);
}

static cudaError_t make_current(int ordinal)
{
    CUcontext context = NULL;
    unsigned generation = __atomic_load_n(&runtime.generation, __ATOMIC_ACQUIRE);
    cudaError_t error = runtime_context(ordinal, &context);
    if (error == cudaSuccess)
        error = error_from(driver.cuCtxSetCurrent[0](context));
    if (error == cudaSuccess)
        thread.generation = generation;
    return error;
}

cudaError_t runtime_enter(void)
{
    CUcontext current = NULL;
    cudaError_t error = runtime_start();
    if (error != cudaSuccess)
        return error;
    if (thread.generation == __atomic_load_n(&runtime.generation, __ATOMIC_ACQUIRE) &&
        driver.cuCtxGetCurrent[0](&current) == CUDA_SUCCESS && current)
        return cudaSuccess;
    return make_current(thread.ordinal);
}

CUdevice runtime_device(void)
{
    CUdevice device = 0;
    driver.cuCtxGetDevice[0](&device);
    return device;
}

/* ---- The thread's device ---- */

API cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count)
        return error_record(cudaErrorInvalidValue);
    *count = 0;
    cudaError_t error = runtime_start();
    if (error != cudaSuccess)
        return error;
    error = error_from(driver.cuDeviceGetCount[0](count));
    return error == cudaSuccess && *count == 0 ? error_record(cudaErrorNoDevice) : error;
}

API cudaError_t cudaSetDevice(int ordinal)
{
    CUdevice device;
    cudaError_t error = runtime_start();
    if (error != cudaSuccess)
        return error;
    if (driver.cuDeviceGet[0](&device, ordinal) != CUDA_SUCCESS)
        return error_record(cudaErrorInvalidDevice);
    thread.ordinal = ordinal;
    return make_current(ordinal);
}

API cudaError_t cudaInitDevice(int ordinal, unsigned int device_flags, unsigned int flags)
{
    CUcontext context = NULL;
    cudaError_t error = runtime_start();
    if (error != cudaSuccess)
        return error;
    if (flags & cudaInitDeviceFlagsAreValid)
        error = error_from(driver.cuDevicePrimaryCtxSetFlags[0](ordinal, device_flags));
    return error != cudaSuccess ? error : runtime_context(ordinal, &context);
}

API cudaError_t cudaGetDevice(int *ordinal)
{
    CUcontext current = NULL;
    if (!ordinal)
        return error_record(cudaErrorInvalidValue);
    cudaError_t error = runtime_start();
    if (error != cudaSuccess)
        return error;
    *ordinal = thread.ordinal;
    if (driver.cuCtxGetCurrent[0](&current) == CUDA_SUCCESS && current)
        driver.cuCtxGetDevice[0](ordinal);
    return cudaSuccess;
}

API cudaError_t cudaDeviceReset(void)
{
    cudaError_t error = runtime_start();
    if (error != cudaSuccess)
        return error;
    pthread_mutex_lock(&runtime.lock);
    CUresult result = driver.cuDevicePrimaryCtxReset[0](thread.ordinal);
    runtime.primary[thread.ordinal] = NULL;
    __atomic_fetch_add(&runtime.generation, 1, __ATOMIC_ACQ_REL);
    pthread_mutex_unlock(&runtime.lock);
    error_context_reset();
    return error_from(result);
}

API cudaError_t cudaDeviceSynchronize(void)
{
    ENTER();
    return error_from(driver.cuCtxSynchronize[0]());
}

/* ---- Versions and the driver's entry points ---- */

API cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return error_record(cudaErrorInvalidValue);
    *version = RUNTIME_VERSION;
    return cudaSuccess;
}

/* "If no driver is installed, then 0 is returned as the driver version." */
API cudaError_t cudaDriverGetVersion(int *version)
{
    if (!version)
        return error_record(cudaErrorInvalidValue);
    *version = 0;
    pthread_once(&runtime.once, start);
    return driver.get_proc_address ? error_from(driver.cuDriverGetVersion[0](version))
                                   : cudaSuccess;
}

static cudaError_t entry_point(enum flavor flavor, const char *symbol, void **function,
                               unsigned version, unsigned long long flags,
                               enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    cudaError_t error = runtime_start();
    if (error != cudaSuccess)
        return error;
    if (!symbol || !*symbol || !function || flags > cudaEnablePerThreadDefaultStream)
        return error_record(cudaErrorInvalidValue);
    if (flags == cudaEnableDefault)
        flags = flavor == PER_THREAD ? cudaEnablePerThreadDefaultStream : cudaEnableLegacyStream;
    CUresult result = driver.get_proc_address(symbol, function, (int)version, flags, &found);
    if (status)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    return status && result == CUDA_ERROR_NOT_FOUND ? cudaSuccess : error_from(result);
}

static cudaError_t entry_point_now(enum flavor flavor, const char *symbol, void **function,
                                   unsigned long long flags,
                                   enum cudaDriverEntryPointQueryResult *status)
{
    return entry_point(flavor, symbol, function, RUNTIME_VERSION, flags, status);
}

BOTH(cudaGetDriverEntryPoint, _ptsz, entry_point_now,
     (const char *symbol, void **function, unsigned long long flags,
      enum cudaDriverEntryPointQueryResult *status),
     symbol, function, flags, status)
BOTH(cudaGetDriverEntryPointByVersion, _ptsz, entry_point,
     (const char *symbol, void **function, unsigned int version, unsigned long long flags,
      enum cudaDriverEntryPointQueryResult *status),
     symbol, function, version, flags, status)
