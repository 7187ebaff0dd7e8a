/* What the files of the embedded runtime library share. It is the CUDA runtime API written on top
 * of the driver API alone, and reaches the driver as NVIDIA's runtime does: through
 * cuGetProcAddress of libcuda.so.1. So whatever stands in front of a driver sees every call.
 *
 *   registry   host pointers of kernels and variables -> handles of the driver
 *   runtime    the driver, the thread's device and its primary context
 *   error      the last error of a thread
 *   twelve     what libcudart.so.12 has and libcudart.so.13 has not
 *   the rest   the API by subject; unsupported.sh makes what is left
 *
 * Source of the rules: CUDA Runtime API 13.0 and 12.9; crt/host_runtime.h for what nvcc's code
 * calls. */
#ifndef RUNTIME_DEVICE_CUDART_RUNTIME_H
#define RUNTIME_DEVICE_CUDART_RUNTIME_H

/* The library is built twice from the same sources: as libcudart.so.13 and, with CUDART_MAJOR=12,
 * as libcudart.so.12. Both are compiled with the headers of CUDA 13. names_of_12.h and twelve.c
 * hold the differences of the other ABI. */
#ifndef CUDART_MAJOR
#define CUDART_MAJOR 13
#endif
#if CUDART_MAJOR == 12
#include "runtime/device/cudart/names_of_12.h"
#endif

#pragma GCC visibility push(default)
#include <cuda.h>
#include <cuda_runtime_api.h>
#include "runtime/cuda/newer.h"
#pragma GCC visibility pop

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API __attribute__((visibility("default")))

/* What cudaRuntimeGetVersion returns, and the version whose entry points cudaGetDriverEntryPoint
 * finds. */
#if CUDART_MAJOR == 12
enum { RUNTIME_VERSION = 12090 };
#else
enum { RUNTIME_VERSION = CUDART_VERSION };
#endif

/* Which stream handle 0 is. Programs built with --default-stream per-thread call the variants of
 * the API whose names end in _ptsz or _ptds. */
enum flavor { LEGACY, PER_THREAD };

/* Defines the two variants of an entry point: `name` and `name##suffix` pass the flavor, and then
 * their arguments, to `body`. */
#define BOTH(name, suffix, body, parameters, ...)                                                  \
    API cudaError_t name parameters                                                                \
    {                                                                                              \
        return body(LEGACY, __VA_ARGS__);                                                          \
    }                                                                                              \
    API cudaError_t name##suffix parameters;                                                       \
    API cudaError_t name##suffix parameters                                                        \
    {                                                                                              \
        return body(PER_THREAD, __VA_ARGS__);                                                      \
    }

/* Every function in both flavors. Those without a stream are the same in both. */
struct driver {
#define DRIVER(name, version) __typeof__(name) *name[2];
#include "runtime/device/cudart/driver.def"
#undef DRIVER
    CUresult (*get_proc_address)(const char *, void **, int, cuuint64_t,
                                 CUdriverProcAddressQueryResult *);
};
extern struct driver driver;

/* The driver is there and started. */
cudaError_t runtime_start(void);

/* As runtime_start, and it sees to a current context of the calling thread: its own, if it made one
 * with the driver API, else its device's primary one. Almost every entry point begins with it. */
cudaError_t runtime_enter(void);

/* The primary context of a device, retained for good. */
cudaError_t runtime_context(int ordinal, CUcontext *context);

/* The device of the thread's current context. Only after runtime_enter. */
CUdevice runtime_device(void);

#define ENTER()                                                                                    \
    do {                                                                                           \
        cudaError_t entered_ = runtime_enter();                                                    \
        if (entered_ != cudaSuccess)                                                               \
            return entered_;                                                                       \
    } while (0)

/* Makes `error` the thread's last error unless it is cudaSuccess, and returns it. */
cudaError_t error_record(cudaError_t error);
/* The same for a result of the driver: runtime and driver give one condition the same number. */
cudaError_t error_from(CUresult result);
/* The context is gone, and with it errors that stay with it. */
void error_context_reset(void);

/* The kernel behind the address of a __global__ function, or behind a handle of the driver. */
cudaError_t registry_kernel(const void *function, CUkernel *kernel);
/* Where a __device__, __constant__ or __managed__ variable lies in the current context. */
cudaError_t registry_variable(const void *symbol, CUdeviceptr *address, size_t *bytes);

/* The bytes [offset, offset + count) of a variable. */
cudaError_t copy_part_of(const void *symbol, size_t count, size_t offset, void **address);
/* A copy in three dimensions as the driver describes it. */
cudaError_t copy_describe(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *what);
/* And back. */
cudaError_t copy_parameters(const CUDA_MEMCPY3D *what, struct cudaMemcpy3DParms *p);

/* A channel format as the driver has it. False: it has none. */
bool array_channels(const struct cudaChannelFormatDesc *from, CUarray_format *format,
                    unsigned *channels);
/* The other way. */
struct cudaChannelFormatDesc array_channel_desc(CUarray_format format, unsigned channels);
/* Bytes of an element of an array. */
cudaError_t array_element_bytes(cudaArray_const_t array, size_t *bytes);

/* A launch as the driver describes it; the attributes stay where they are. */
CUlaunchConfig launch_config(const cudaLaunchConfig_t *config);

#endif
