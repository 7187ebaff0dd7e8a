/* What csan knows of a kernel: its names, its PTX with the results of the analysis, and the
 * arguments that reports name. It has a lock of its own, taken before the hooks' lock. So an
 * analysis delays only launches of the same kernel. */
#ifndef RUNTIME_HOOK_KERNEL_KERNEL_DESCRIPTION_H
#define RUNTIME_HOOK_KERNEL_KERNEL_DESCRIPTION_H

#include "runtime/access/kernel_atomics.h"
#include "runtime/hook/kernel/layout.h"
#include "runtime/learn/learner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;
struct learning_kernel;

/* Whether its PTX gives its launches' accesses exactly. INEXACT is final. */
enum kernel_ptx_exactness { KERNEL_PTX_UNSEEN, KERNEL_PTX_EXACT, KERNEL_PTX_INEXACT };

/* A kernel of one function handle. */
struct kernel {
    const char *name;               /* lives as long as the process */
    const struct ptx_function *ptx; /* NULL: none; stays valid with the kernel */
    struct kernel_atomics atomics;
    const char *const
        *arguments;        /* names for reports; guarded by the kernel's lock, as the count is, */
    size_t argument_count; /* which only grows; atomic */
    const char *symbol;    /* its name in its module; lives as long as the process */
    struct learn_image image; /* zeros: not known */
    uint64_t identity[2];     /* hashes of image and symbol, for keys of its launches */
    uint64_t number;          /* of all kernels of this process, from 1 */
    bool collective;          /* its blocks wait for other devices' blocks, as NCCL's do */
    bool uses_heap;           /* its malloc and free: the device traces that, and no range has it */
    uint8_t faults_width;     /* see kernel_faults.h; 0: it can fail in other ways, too */
    uint8_t
        verified; /* launches behind which the device was asked, up to 2; with the hooks' lock */
    uint8_t ptx_exactness; /* enum kernel_ptx_exactness; atomic */
    struct layout layout;  /* layout of its parameters according to its PTX; else none */
    struct learning_kernel
        *learning; /* belongs to learning.c, in one piece; atomic; freed with the kernel */
};

/* Where a variable of the kernel's module lies in the calling thread's context: 1 and its address
 * and bytes. Called without any lock; it asks the driver. */
typedef bool kernel_find_variable(void *module, bool library, const char *name, uint64_t *address,
                                  uint64_t *bytes);

/* Where a kernel comes from. */
struct kernel_source {
    const char *name;
    const struct ptx_function *ptx; /* or NULL: then nothing is known */
    struct image *image;         /* the image that `ptx` belongs to; NULL: `ptx` stays for ever */
    bool foreign_ptx;            /* `ptx` is NULL because it is not what the device runs */
    struct learn_image identity; /* of what was loaded; zeros: not known */
    void *module;                /* the driver's handle, or NULL */
    bool library;                /* whether that is of a library */
    kernel_find_variable *find;
};

/* `demangle` is __cxa_demangle or NULL. NULL when memory is short. The kernel is freed when the
 * last reference is released. */
struct kernel *kernel_description_create(const struct kernel_source *source, void *demangle);
struct kernel *kernel_description_retain(struct kernel *kernel);
void kernel_description_release(struct kernel *kernel);

/* Where a variable of the kernel's module lies in the calling thread's context. False: the driver
 * knows none. Without any lock: it may ask the driver. */
bool kernel_description_variable(struct kernel *kernel, const struct ptx_variable *variable,
                                 uint64_t *address, uint64_t *bytes);

/* With the kernel locked, as between launch_accesses_begin and _end: the argument for a pointer at
 * that offset of the parameters, which lies in the parameter of that index that begins at `start`.
 */
uint16_t kernel_description_argument(struct kernel *kernel, uint32_t index, uint32_t start,
                                     uint32_t offset);
uint16_t kernel_description_variable_argument(struct kernel *kernel,
                                              const struct ptx_variable *variable);

#endif
