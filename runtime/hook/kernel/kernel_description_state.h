/* What a kernel's description consists of. For kernel_description.c and launch_accesses.c. */
#ifndef RUNTIME_HOOK_KERNEL_KERNEL_DESCRIPTION_STATE_H
#define RUNTIME_HOOK_KERNEL_KERNEL_DESCRIPTION_STATE_H

#include "runtime/access/access_set.h"
#include "runtime/hook/kernel/kernel_description.h"
#include "runtime/hook/kernel/launch_pointer.h"
#include "runtime/hook/kernel/prefetch.h"

#include <pthread.h>

/* An argument that is no parameter: a variable, or what a table of pointers holds. */
struct named {
    uint8_t kind; /* enum access_base_kind */
    uint32_t param_offset;
    const struct ptx_variable *variable;
    uint16_t argument;
};

/* Everything a kernel description points to; what every launch reads comes first. */
struct description {
    struct kernel kernel;
    struct access_kernel *access;    /* NULL: no PTX */
    struct dependent_launch overlap; /* found at the first launch */
    bool overlap_found;
    bool has_variables; /* read without the lock: ask for the context first */
    uint32_t argument_offsets;
    uint16_t *argument_of_offset; /* by param_offset: index plus one */
    /* From here on in other lines of the cache: who launches reads what is before, and csan's
     * thread takes the mutex for each launch. */
    _Alignas(64) pthread_mutex_t mutex; /* of all but what is constant */
    const struct access_set *ahead_of;  /* what `ahead` was noted of */
    struct prefetch ahead;
    uint32_t references; /* atomic */
    struct kernel_source source;
    struct launch_pointer_variables variables;
    struct named *named;
    size_t named_count;
    char **texts; /* of kernel.arguments */
    bool explained;
};

static inline struct description *own_of(struct kernel *kernel)
{
    return (struct description *)kernel;
}

/* The argument of what an access set calls a base. With the kernel locked. */
uint16_t kernel_description_argument_slow(struct description *own, const struct access_base *base);
static inline uint16_t kernel_description_argument_of(struct description *own,
                                                      const struct access_base *base)
{
    const uint32_t offset = base->param_offset;
    const bool parameter = base->kind == ACCESS_BASE_PARAM || base->kind == ACCESS_BASE_OBJECT;
    return parameter && offset < own->argument_offsets && own->argument_of_offset[offset] &&
                   offset < own->kernel.ptx->param_bytes
               ? (uint16_t)(own->argument_of_offset[offset] - 1)
               : kernel_description_argument_slow(own, base);
}
/* Asks the driver for the variable that the finder misses. Unlocks the kernel meanwhile: the driver
 * is never asked under a lock. False: that is in vain. */
bool kernel_description_variable_ask(struct description *own, struct launch_pointer_finder *finder);

#endif
