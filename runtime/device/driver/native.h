/* Kernels that are functions of this process: the work of csan's own libraries (cuBLAS and others)
 * on the embedded device. They are launched with cuLaunchKernel as any kernel is, so streams,
 * graphs, schedules and hooks treat them so. Like trace.h it knows nothing of csan. The embedded
 * libcuda.so.1 exports the functions. */
#ifndef RUNTIME_DEVICE_DRIVER_NATIVE_H
#define RUNTIME_DEVICE_DRIVER_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The one parameter of every such kernel: a structure of the caller's, padded to this size. */
enum { DEVICE_NATIVE_JOB_BYTES = 2048 };

/* A launch that is running. */
struct device_native;

enum device_native_access { DEVICE_NATIVE_READ, DEVICE_NATIVE_WRITE };

/* Called when the launch's turn has come, with the device's lock: it must not call the CUDA API and
 * must not wait for another thread. `job` is the launch's own copy of the parameter. */
typedef void device_native_run(struct device_native *native, const void *job);

/* Makes a kernel of that name (an identifier), whose launches call `run`, of every context. With
 * `traced`, launches report what they touch, as other kernels do; without, somebody else says so.
 * *kernel is a CUkernel for cuLaunchKernel; it is never freed. Returns a CUresult. Thread-safe.
 * Symbol: device_native_kernel. */
int device_native_kernel(const char *name, device_native_run *run, bool traced, void **kernel);

/* While it runs: where this process can touch `bytes` bytes of memory that kernels may touch; the
 * launch is noted to touch them so. NULL: they are not part of one allocation. Then the launch
 * fails as one that accesses an illegal address, and `run` should return. For 0 bytes any pointer
 * that is not NULL. Symbol: device_native_memory. */
void *device_native_memory(struct device_native *native, uint64_t address, uint64_t bytes,
                           enum device_native_access access);

/* The same for `count` runs of `bytes` bytes, `stride` bytes apart: the first one's pointer.
 * Symbol: device_native_runs. */
void *device_native_runs(struct device_native *native, uint64_t address, uint64_t bytes,
                         uint64_t count, int64_t stride, enum device_native_access access);

#endif
