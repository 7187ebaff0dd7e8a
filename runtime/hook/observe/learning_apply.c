/* From a learned set to the accesses of a launch. See learning.h. */
#include "runtime/hook/kernel/kernel.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/observe/learning_parts.h"
#include "runtime/hook/session/session_options.h"

/* What reports call a pointer at that offset: as PTX's own pointers, by position. */
static uint16_t argument_find(struct kernel *kernel, uint32_t offset)
{
    const struct layout *layout = &kernel->learning->layout;
    uint32_t index = 0;
    while (index + 1 < layout->count && layout->parameters[index + 1].offset <= offset)
        index++;
    return kernel_description_argument(kernel, index, layout->parameters[index].offset, offset);
}

static uint16_t argument_of(struct kernel *kernel, const struct learn_anchor *anchor)
{
    struct learning_kernel *own = kernel->learning;
    if (anchor->kind == LEARN_VARIABLE)
        return kernel_description_variable_argument(kernel, own->variables[anchor->offset]);
    if (anchor->offset >= own->layout.bytes)
        return CSAN_NO_ARGUMENT;
    uint16_t *known = &own->arguments[anchor->offset / 8];
    if (!*known)
        *known = (uint16_t)(argument_find(kernel, anchor->offset) + 1);
    return (uint16_t)(*known - 1);
}

static void argument_bind(struct learning_argument *argument,
                          const struct launch_accesses_touched *touched)
{
    for (size_t i = 0; argument->index != CSAN_NO_ARGUMENT && i < touched->access_count; i++) {
        const struct csan_access *access = &touched->accesses[i];
        if (access->argument == argument->index &&
            (access->bound == CSAN_BOUND_DATA || access->bound == CSAN_BOUND_GUARD))
            argument->bounds[access->kind] = access->bound;
    }
}

/* What PTX says of the launch's anchors. */
static void arguments_fill(struct learning *learning, struct kernel *kernel,
                           const struct launch_accesses_touched *touched)
{
    for (uint32_t i = 0; i < learning->launch.anchor_count; i++) {
        struct learning_argument *argument = &learning->arguments[i];
        argument->index = argument_of(kernel, &learning->anchors[i]);
        if (!touched->exact)
            argument_bind(argument, touched);
    }
}

bool learning_can_describe(const struct kernel *kernel,
                           const struct launch_accesses_touched *touched)
{
    return !kernel->ptx || !(touched->overlap.waits || touched->overlap.lets);
}

bool learning_bound_is_better(enum csan_level level, bool exact)
{
    return level == CSAN_LEVEL_UNKNOWN || (session_options()->access.learned_first && !exact);
}

static bool all_exact(const struct csan_access *accesses, size_t count)
{
    size_t exact = 0;
    while (exact < count && accesses[exact].bound == CSAN_EXACT)
        exact++;
    return exact == count;
}

/* Replaces PTX's accesses by the set; `bound` says why it is inexact, if it is. */
static bool set_apply(struct learning *learning, struct kernel *kernel,
                      struct launch_accesses_touched *touched, const struct learned_set *set,
                      uint8_t bound)
{
    struct csan_dim *dims = NULL;
    const size_t count = set->count + learning->constants.count;
    struct csan_access *accesses =
        learning_can_describe(kernel, touched)
            ? launch_accesses_replace(touched, count, learning_dims_of(set), &dims)
            : NULL;
    if (!accesses)
        return false;
    learning_accesses_fill(set, &learning->launch, learning->arguments, kernel->atomics, bound,
                           accesses, dims);
    learning_constants_add(&learning->constants, accesses + set->count);
    touched->level = CSAN_LEVEL_LEARNED;
    touched->exact = all_exact(accesses, count);
    if (!kernel->ptx)
        touched->overlap.waits = true;
    return true;
}

/* A launch that is like none that taught something, or not yet. */
static void bound_apply(struct learning *learning, struct kernel *kernel,
                        struct launch_accesses_touched *touched)
{
    struct learned_set *bound =
        learner_bound(learning_learner(), learning->learned, &learning->launch);
    learning->bounded = bound && set_apply(learning, kernel, touched, bound, CSAN_BOUND_DIRECTION);
    learned_set_release(bound);
}

static bool is_better(const struct learning *learning,
                      const struct launch_accesses_touched *touched)
{
    const bool everything = session_options()->access.learned_first;
    return learning->reply.answer == LEARN_KNOWN ? everything || !touched->exact
           : learning->reply.answer == LEARN_BOUNDED
               ? learning_bound_is_better(touched->level, touched->exact)
               : false;
}

static void note_ptx_exactness(struct kernel *kernel, bool exact)
{
    const uint8_t before = __atomic_load_n(&kernel->ptx_exactness, __ATOMIC_RELAXED);
    if (before == KERNEL_PTX_UNSEEN || (before == KERNEL_PTX_EXACT && !exact))
        __atomic_store_n(&kernel->ptx_exactness, exact ? KERNEL_PTX_EXACT : KERNEL_PTX_INEXACT,
                         __ATOMIC_RELAXED);
}

void learning_apply(struct learning *learning, struct kernel *kernel,
                    struct launch_accesses_touched *touched)
{
    note_ptx_exactness(kernel, touched->exact);
    if (!learning->learned)
        return;
    arguments_fill(learning, kernel, touched);
    learning_constants_find(&learning->constants, touched);
    if (learning->reply.answer == LEARN_OPEN && touched->level == CSAN_LEVEL_UNKNOWN)
        bound_apply(learning, kernel, touched);
    else if (is_better(learning, touched))
        learning->applied = set_apply(learning, kernel, touched, learning->reply.set,
                                      learning_bound_of(learning->mapped_count));
}
