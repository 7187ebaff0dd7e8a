/* A launch that is kept until its trace comes, or until it is known what the launch touches. The
 * thread that made it may be gone by then, so it owns all its data. Also: a learned set as accesses
 * of a launch. */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_CASE_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_CASE_H

#include <csan/csan.h>
#include "runtime/access/kernel_atomics.h"
#include "runtime/learn/learner.h"

struct learning;
struct launch_accesses_touched;

/* What the kernel's PTX says of one anchor of the launch. */
struct learning_argument {
    uint16_t index; /* the kernel's argument; CSAN_NO_ARGUMENT: not known */
    /* By the access's kind: CSAN_BOUND_DATA or _GUARD if the PTX says that data in memory decides
     * what is touched through it, else CSAN_EXACT. Other launches had other data. So what they
     * touched is only what this one may touch. */
    uint8_t bounds[CSAN_ATOMIC + 1];
};

enum { LEARNING_CONSTANTS = 4 };

/* A launch's loads from __constant__ variables, as PTX has them. Where traces have none of them
 * (trace_knows_constants), nothing is learned of them, and they are added to what was learned.
 * Those that follow the first few are left out. */
struct learning_constants {
    uint32_t count;
    struct csan_access accesses[LEARNING_CONSTANTS]; /* without dims */
};

struct learning_case {
    struct learned_kernel *learned;
    struct learn_launch launch;
    struct launch_key key;
    struct learning_argument *arguments;
    struct kernel_atomics atomics;
    bool of_node;
    bool maps_are_known; /* as struct trace_want has them */
    uint32_t mapped_count;
    struct device_trace_range *mapped;
    struct learning_constants constants;
};

/* NULL when memory is short, from both. */
struct learning_case *learning_case_create(const struct learning *learning,
                                           struct kernel_atomics atomics);
struct learning_case *learning_case_copy(const struct learning_case *launch);
void learning_case_free(struct learning_case *taken);
/* Its launch's pointers, which are its own. */
struct learn_anchor *learning_case_anchors(struct learning_case *taken);
/* The same kernel, key and pointers. */
bool learning_case_equal(const struct learning_case *a, const struct learning_case *b);

/* The set as `count` accesses of that launch, and its constants, with their dims behind them, which
 * the caller frees. NULL: memory is short. */
struct csan_access *learning_case_accesses(const struct learning_case *launch,
                                           const struct learned_set *set, size_t *count);

/* Takes them from what PTX says of the launch, which is locked (launch_accesses.h). */
void learning_constants_find(struct learning_constants *constants,
                             const struct launch_accesses_touched *touched);
/* Writes them behind a set's accesses. */
void learning_constants_add(const struct learning_constants *constants,
                            struct csan_access *accesses);

/* The same into `accesses`, which has room for the set's ranges, and `dims`, which has room for so
 * many dims. */
size_t learning_dims_of(const struct learned_set *set);
void learning_accesses_fill(const struct learned_set *set, const struct learn_launch *launch,
                            const struct learning_argument *arguments,
                            struct kernel_atomics atomics, uint8_t bound,
                            struct csan_access *accesses, struct csan_dim *dims);
/* The `bound` for that: why a trace of a launch with so many `mapped` ranges is only a bound. */
static inline uint8_t learning_bound_of(uint32_t mapped_count)
{
    return mapped_count ? CSAN_BOUND_OBJECT : CSAN_BOUND_BUDGET;
}

#endif
