/* What the driver says of a context, which need not be current: its device, and what its kernels
 * can access. The context is made current meanwhile. Without any lock. */
#ifndef RUNTIME_HOOK_STATE_CONTEXT_DEVICE_H
#define RUNTIME_HOOK_STATE_CONTEXT_DEVICE_H

#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>

/* CUDA's number of its device; -1: the driver does not say. */
int context_device(CUcontext context);

/* False: the driver says that kernels of the context cannot access what lies at that address. */
bool context_device_reaches(CUcontext context, uint64_t address);
/* The same of mapped memory (cuMemGetAccess). */
bool context_device_maps(CUcontext context, uint64_t address);

/* CUDA's number of the device whose memory lies at that address; -1: the driver does not say. */
int memory_device(uint64_t address);

/* Whether the process sees several devices. */
bool devices_are_several(void);

#endif
