/* What one launch touches, from the kernel's PTX: the access set of runtime/access with absolute
 * addresses, as accesses of the detector. No other file of the hooks but kernel_description.c calls
 * runtime/access. */
#ifndef RUNTIME_HOOK_KERNEL_LAUNCH_ACCESSES_H
#define RUNTIME_HOOK_KERNEL_LAUNCH_ACCESSES_H

#include <csan/csan.h>
#include "runtime/access/access_set.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/kernel/kernel_description.h"
#include "runtime/hook/kernel/launch_pointer.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/state/object_table.h"

#include <pthread.h>

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

/* Between begin and end. Whether PTX says that the access, one of the launch's, is to a
 * __constant__ variable. Traces of a GPU do not have such loads (trace_knows_constants). */
bool launch_accesses_is_constant(const struct launch_accesses_touched *touched,
                                 const struct csan_access *access);

/* Between begin and end. Replaces what the launch touches: the caller fills the returned array. All
 * of it counts as coming after griddepcontrol.wait, if the kernel has one. NULL when memory is
 * short: the accesses stay as they are. */
struct csan_access *launch_accesses_replace(struct launch_accesses_touched *touched, size_t count,
                                            size_t dim_count, struct csan_dim **dims);
/* Says once for each kernel why not all accesses are exact (verbosity=2). Between begin and end. */
void launch_accesses_explain(struct kernel *kernel, const struct launch_accesses_touched *touched);

#endif
