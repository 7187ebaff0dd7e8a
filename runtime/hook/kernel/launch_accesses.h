/* What one launch touches, from the kernel's PTX: the access set of runtime/access with absolute
 * addresses, as accesses of the detector. No other file of the hooks calls runtime/access.
 *
 * A kernel's description keeps its PTX and the results of the analysis. It has a lock of its own,
 * taken before the hooks' lock. So an analysis delays only launches of the same kernel. */
#ifndef RUNTIME_HOOK_KERNEL_LAUNCH_ACCESSES_H
#define RUNTIME_HOOK_KERNEL_LAUNCH_ACCESSES_H

#include <csan/csan.h>
#include "runtime/access/access_set.h"
#include "runtime/hook/kernel/launch_pointer.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/kernel/layout.h"
#include "runtime/hook/state/object_table.h"
#include "runtime/access/kernel_atomics.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/learn/learner.h"

#include <pthread.h>

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
typedef bool launch_accesses_find_variable(void *module, bool library, const char *name,
                                           uint64_t *address, uint64_t *bytes);

/* Where a kernel comes from. */
struct launch_accesses_source {
    const char *name;
    const struct ptx_function *ptx; /* or NULL: then nothing is known */
    struct image *image;         /* the image that `ptx` belongs to; NULL: `ptx` stays for ever */
    bool foreign_ptx;            /* `ptx` is NULL because it is not what the device runs */
    struct learn_image identity; /* of what was loaded; zeros: not known */
    void *module;                /* the driver's handle, or NULL */
    bool library;                /* whether that is of a library */
    launch_accesses_find_variable *find;
};

/* `demangle` is __cxa_demangle or NULL. NULL when memory is short. The kernel is freed when the
 * last reference is released. */
struct kernel *launch_accesses_kernel(const struct launch_accesses_source *source, void *demangle);
struct kernel *launch_accesses_retain(struct kernel *kernel);
void launch_accesses_release(struct kernel *kernel);

/* Where a variable of the kernel's module lies in the calling thread's context. False: the driver
 * knows none. Without any lock: it may ask the driver. */
bool launch_accesses_variable(struct kernel *kernel, const struct ptx_variable *variable,
                              uint64_t *address, uint64_t *bytes);

/* ---- Launches ---- */

/* What the program passed. */
struct launch_accesses_launch {
    uint32_t grid[3], block[3], cluster[3]; /* cluster: 0, 0, 0 when not said */
    uint32_t shared;                        /* bytes of dynamic shared memory */
    void **parameters;                      /* one address for each, or NULL */
    void **extra;                           /* or one buffer with all, or NULL */
    bool writes_declared;                   /* known contents need not forget what it writes */
};

/* Of its grid. */
static inline uint64_t launch_accesses_threads(const struct launch_accesses_launch *launch)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= (uint64_t)launch->grid[i] * launch->block[i];
    return threads;
}

enum {
    LAUNCH_ACCESSES_PARAMETERS = 64,
    LAUNCH_ACCESSES_BASES = 32,
    LAUNCH_ACCESSES_ACCESSES = 96,
    LAUNCH_ACCESSES_OBJECTS = 16,
    LAUNCH_ACCESSES_DIMS = 64
};

/* What it touches. */
struct launch_accesses_touched {
    const struct access_set *set; /* NULL: no PTX */
    struct csan_access *accesses;
    size_t access_count;
    struct launch_pointer *bases; /* the set's */
    size_t base_count;
    size_t object_count;
    size_t after_wait_count;         /* the first so many accesses come after griddepcontrol.wait */
    struct dependent_launch overlap; /* of the kernel; none where there is no PTX */
    enum csan_level level;           /* RANGES, DIRECTION or UNKNOWN */
    bool exact;                      /* all accesses are known, and each touches every byte */
    /* Room for usual launches. */
    const void *own_parameters[LAUNCH_ACCESSES_PARAMETERS];
    struct launch_pointer own_bases[LAUNCH_ACCESSES_BASES];
    struct csan_access own_accesses[LAUNCH_ACCESSES_ACCESSES];
    struct object_memory own_objects[LAUNCH_ACCESSES_OBJECTS];
    struct csan_dim own_dims[LAUNCH_ACCESSES_DIMS]; /* of accesses that replaced the set's */
    const void *const *parameters;                  /* one address for each, NULL where not known */
    void *parameter_room;
};

/* Finds what the launch touches, and leaves the kernel locked until launch_accesses_end. Without
 * the hooks' lock: it may analyse for milliseconds, and ask the driver. Known contents
 * (known_contents.h) forget what the launch may write. */
void launch_accesses_begin(struct kernel *kernel, const struct launch_accesses_launch *launch,
                           struct launch_accesses_touched *touched);
void launch_accesses_end(struct kernel *kernel, struct launch_accesses_touched *touched);

/* Prefetches what launch_accesses_begin will read. Without any lock. */
void launch_accesses_prefetch(const struct kernel *kernel);

/* Between begin and end. Replaces what the launch touches: the caller fills the returned array. All
 * of it counts as coming after griddepcontrol.wait, if the kernel has one. NULL when memory is
 * short: the accesses stay as they are. */
struct csan_access *launch_accesses_replace(struct launch_accesses_touched *touched, size_t count,
                                            size_t dim_count, struct csan_dim **dims);
/* Between begin and end: the argument for a pointer at that offset of the parameters, which lies in
 * the parameter of that index that begins at `start`. */
uint16_t launch_accesses_argument(struct kernel *kernel, uint32_t index, uint32_t start,
                                  uint32_t offset);
uint16_t launch_accesses_variable_argument(struct kernel *kernel,
                                           const struct ptx_variable *variable);

/* Says once for each kernel why not all accesses are exact (verbosity=2). Between begin and end. */
void launch_accesses_explain(struct kernel *kernel, const struct launch_accesses_touched *touched);

#endif
