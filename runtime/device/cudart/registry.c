/* What nvcc's code registers before main: images, kernels and variables, which are found again by
 * the address of their host side. An image is loaded into the driver when a part of it is first
 * used.
 *
 * The entry points are those of crt/host_runtime.h and of the files that nvcc makes
 * (cudafe1.stub.c, link.stub). Their meaning is what NVIDIA's compiler driver documents of its
 * output (nvcc --keep). */
#include "runtime/device/cudart/runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <uthash.h>

struct image {
    const void *wrapper; /* __fatBinC_Wrapper_t: the driver's cuLibraryLoadData takes it */
    CUlibrary library;
    CUresult result;
    bool loaded; /* library and result stand */
};

struct entity {
    const void *host; /* key: address of the host function or shadow variable */
    struct image *image;
    const char *name; /* in the image; lives in the program */
    size_t bytes;     /* of a variable */
    void **managed;   /* of a managed variable: the pointer the host code goes through */
    CUkernel kernel;  /* of a function, once known */
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t lock;
    struct entity *functions, *variables;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- Registration ---- */

API void **__cudaRegisterFatBinary(void *wrapper);
API void **__cudaRegisterFatBinary(void *wrapper)
{
    static void *none; /* out of memory: everything of this image will be unknown */
    struct image *image = calloc(1, sizeof *image);
    if (!image)
        return &none;
    image->wrapper = wrapper;
    return (void **)image;
}

API void __cudaRegisterFatBinaryEnd(void **handle);
API void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

static struct entity *add(struct entity **table, void **handle, const void *host, const char *name)
{
    struct entity *entity = NULL;
    HASH_FIND_PTR(*table, &host, entity);
    if (entity) /* a template or inline variable of two objects: the first counts */
        return NULL;
    entity = calloc(1, sizeof *entity);
    if (!entity)
        return NULL;
    entity->host = host;
    entity->image = (struct image *)handle;
    entity->name = name;
    HASH_ADD_PTR(*table, host, entity);
    return entity;
}

API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                                int *warp);
API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                                int *warp)
{
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    pthread_mutex_lock(&registry.lock);
    add(&registry.functions, handle, host, name);
    pthread_mutex_unlock(&registry.lock);
}

API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                           size_t bytes, int constant, int global);
API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                           size_t bytes, int constant, int global)
{
    (void)device, (void)external, (void)constant, (void)global;
    pthread_mutex_lock(&registry.lock);
    struct entity *variable = add(&registry.variables, handle, host, name);
    if (variable)
        variable->bytes = bytes;
    pthread_mutex_unlock(&registry.lock);
}

API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                  int external, size_t bytes, int constant, int global);
API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                  int external, size_t bytes, int constant, int global)
{
    (void)device, (void)external, (void)constant, (void)global;
    pthread_mutex_lock(&registry.lock);
    struct entity *variable = add(&registry.variables, handle, (void *)host, name);
    if (variable) {
        variable->bytes = bytes;
        variable->managed = host;
    }
    pthread_mutex_unlock(&registry.lock);
}

/* Host variables that kernels reach by address, and the table of unified function pointers: on a
 * device whose memory is the host's own neither needs anything done. */
API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
    (void)handle, (void)name, (void)host, (void)bytes;
}
API void **__cudaRegisterUnifiedTable(void **handle, void *table);
API void **__cudaRegisterUnifiedTable(void **handle, void *table)
{
    (void)table;
    return handle;
}

static void forget(struct entity **table, const struct image *image)
{
    struct entity *entity, *next;
    HASH_ITER(hh, *table, entity, next)
    if (entity->image == image) {
        HASH_DEL(*table, entity);
        free(entity);
    }
}

/* Runs at exit or when a library is closed. The driver keeps the image: at exit its kernels may
 * still be running, and the two cases look the same. */
API void __cudaUnregisterFatBinary(void **handle);
API void __cudaUnregisterFatBinary(void **handle)
{
    struct image *image = (struct image *)handle;
    if (!image)
        return;
    pthread_mutex_lock(&registry.lock);
    forget(&registry.functions, image);
    forget(&registry.variables, image);
    pthread_mutex_unlock(&registry.lock);
}

/* ---- Loading ---- */

/* Managed variables are read and written by the host through a pointer that is set here. */
static void place_managed(const struct image *image)
{
    struct entity *variable, *next;
    HASH_ITER(hh, registry.variables, variable, next)
    if (variable->image == image && variable->managed) {
        CUdeviceptr address = 0;
        size_t bytes = 0;
        if (driver.cuLibraryGetManaged[0](&address, &bytes, image->library, variable->name) ==
            CUDA_SUCCESS)
            *variable->managed = (void *)address;
    }
}

/* Called with the lock held. */
static CUresult load(struct image *image)
{
    if (!image->loaded) {
        image->result = driver.cuLibraryLoadData[0](&image->library, image->wrapper, NULL, NULL, 0,
                                                    NULL, NULL, 0);
        image->loaded = true;
        if (image->result == CUDA_SUCCESS)
            place_managed(image);
    }
    return image->result;
}

API char __cudaInitModule(void **handle);
API char __cudaInitModule(void **handle)
{
    struct image *image = (struct image *)handle;
    if (!image || runtime_enter() != cudaSuccess)
        return 0;
    pthread_mutex_lock(&registry.lock);
    CUresult result = load(image);
    pthread_mutex_unlock(&registry.lock);
    error_from(result);
    return result == CUDA_SUCCESS;
}

/* ---- Finding ---- */

/* Called with the lock held. */
static CUresult find_kernel(struct entity *function, CUkernel *kernel)
{
    CUresult result = CUDA_SUCCESS;
    if (!function->kernel && (result = load(function->image)) == CUDA_SUCCESS)
        result = driver.cuLibraryGetKernel[0](&function->kernel, function->image->library,
                                              function->name);
    *kernel = function->kernel;
    return result;
}

cudaError_t registry_kernel(const void *function, CUkernel *kernel)
{
    struct entity *entity = NULL;
    CUlibrary library;
    CUresult result;
    if (!function)
        return error_record(cudaErrorInvalidDeviceFunction);
    pthread_mutex_lock(&registry.lock);
    HASH_FIND_PTR(registry.functions, &function, entity);
    if (entity)
        result = find_kernel(entity, kernel);
    else { /* perhaps a cudaKernel_t */
        *kernel = (CUkernel)function;
        result = driver.cuKernelGetLibrary[0](&library, *kernel) == CUDA_SUCCESS
                     ? CUDA_SUCCESS
                     : CUDA_ERROR_NOT_FOUND;
    }
    pthread_mutex_unlock(&registry.lock);
    return result == CUDA_ERROR_NOT_FOUND ? error_record(cudaErrorInvalidDeviceFunction)
                                          : error_from(result);
}

/* Called with the lock held. */
static CUresult find_variable(const struct entity *variable, CUdeviceptr *address, size_t *bytes)
{
    CUresult result = load(variable->image);
    if (result != CUDA_SUCCESS)
        return result;
    return variable->managed
               ? driver.cuLibraryGetManaged[0](address, bytes, variable->image->library,
                                               variable->name)
               : driver.cuLibraryGetGlobal[0](address, bytes, variable->image->library,
                                              variable->name);
}

cudaError_t registry_variable(const void *symbol, CUdeviceptr *address, size_t *bytes)
{
    struct entity *entity = NULL;
    CUresult result = CUDA_ERROR_NOT_FOUND;
    pthread_mutex_lock(&registry.lock);
    HASH_FIND_PTR(registry.variables, &symbol, entity);
    if (entity)
        result = find_variable(entity, address, bytes);
    pthread_mutex_unlock(&registry.lock);
    return result == CUDA_ERROR_NOT_FOUND ? error_record(cudaErrorInvalidSymbol)
                                          : error_from(result);
}

API cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
    CUdeviceptr found = 0;
    size_t bytes;
    ENTER();
    if (!address)
        return error_record(cudaErrorInvalidValue);
    cudaError_t error = registry_variable(symbol, &found, &bytes);
    if (error == cudaSuccess)
        *address = (void *)found;
    return error;
}

API cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    CUdeviceptr found;
    size_t bytes = 0;
    ENTER();
    if (!size)
        return error_record(cudaErrorInvalidValue);
    cudaError_t error = registry_variable(symbol, &found, &bytes);
    if (error == cudaSuccess)
        *size = bytes;
    return error;
}

API cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *function)
{
    CUkernel found = NULL;
    ENTER();
    if (!kernel)
        return error_record(cudaErrorInvalidValue);
    cudaError_t error = registry_kernel(function, &found);
    if (error == cudaSuccess)
        *kernel = (cudaKernel_t)found;
    return error;
}

API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
    CUkernel kernel = NULL;
    ENTER();
    if (!function)
        return error_record(cudaErrorInvalidValue);
    cudaError_t error = registry_kernel(symbol, &kernel);
    return error != cudaSuccess
               ? error
               : error_from(driver.cuKernelGetFunction[0]((CUfunction *)function, kernel));
}
