/* What csan knows of each kernel a program launches: its PTX, its parameters, and what it reads and
 * writes through them. Found once for each function handle, at its first launch. */
#ifndef RUNTIME_HOOK_KERNEL_H
#define RUNTIME_HOOK_KERNEL_H

#include "include/csan/csan.h"
#include "runtime/hook/driver.h"

/* A pointer the kernel accesses memory through. */
struct kernel_pointer {
    bool is_variable;        /* a __device__ variable at `address`, else a parameter */
    uint32_t offset;         /* bytes in the parameter buffer */
    uint64_t address, bytes; /* of the variable */
    uint16_t argument;       /* index into arguments */
    bool reads, writes, atomics;
    bool guessed; /* a pointer only if it points into an allocation */
};

struct kernel {
    const char *name; /* as the driver knows it; mangled */
    uint32_t parameter_count;
    const uint32_t *parameter_offsets; /* bytes; parameter_count of each */
    const uint32_t *parameter_sizes;
    uint32_t parameter_bytes;
    const struct kernel_pointer *pointers;
    size_t pointer_count;
    uint8_t atomic_bytes; /* width of all its atomics; 0: several, or not known */
    bool known;           /* the directions are complete */
    bool has_ptx;
    const char *const *arguments; /* names for reports */
    size_t argument_count;
};

/* The kernel behind a function or kernel handle, or NULL when it was not resolved yet. Wants the
 * guard's lock; valid while it is held. */
const struct kernel *kernel_find(CUfunction function);

/* Find out about the kernel behind a handle. Without the lock: it asks the driver and reads PTX. */
void kernel_resolve(CUfunction function);

/* The rest is told by the hooks of modules and libraries, without the lock.
 * A handle was given out for the function of that name in a module or library. */
void kernel_seen_function(CUfunction function, void *module, const char *name);
/* A second handle for a kernel: cuKernelGetFunction. */
void kernel_seen_alias(CUfunction function, CUkernel kernel);
/* A module or library was loaded from an image or file, or given as a part of another. */
void kernel_seen_load(void *module, const void *data, const char *path, bool library);
void kernel_seen_module_of_library(CUmodule module, CUlibrary library);
/* Before it is unloaded, and whether that worked. */
void kernel_seen_unload(void *module);

#endif
