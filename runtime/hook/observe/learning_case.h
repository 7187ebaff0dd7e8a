/* A launch that is kept until its trace comes, or until what it touches is known: the thread that
 * made it may have left it behind, so everything is its own. And a learned set as accesses in a
 * launch. */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_CASE_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_CASE_H

#include <csan/csan.h>
#include "runtime/learn/learner.h"

struct learning;

/* What the kernel's PTX says of a launch's anchor. */
struct learning_argument {
    uint16_t index; /* in the kernel's words; CSAN_NO_ARGUMENT: not known */
    /* CSAN_BOUND_DATA or _GUARD where the PTX says that data in memory decides what is touched
     * through it, else CSAN_EXACT; by the access's kind. Earlier launches' data is not this one's,
     * so what they touched is what this one may have touched. */
    uint8_t bounds[CSAN_ATOMIC + 1];
};

struct learning_case {
    struct learned_kernel *learned;
    struct learn_launch launch;
    struct launch_key key;
    struct learning_argument *arguments;
    uint8_t atomic_bytes;
    bool of_node;
    bool maps_are_known; /* as struct trace_want has them */
    uint32_t mapped_count;
    struct device_trace_range *mapped;
};

/* NULL when memory is short, from both. */
struct learning_case *learning_case_create(const struct learning *learning, uint8_t atomic_bytes);
struct learning_case *learning_case_copy(const struct learning_case *launch);
void learning_case_free(struct learning_case *taken);
/* Its launch's pointers, which are its own. */
struct learn_anchor *learning_case_anchors(struct learning_case *taken);
/* The same kernel, key and pointers. */
bool learning_case_equal(const struct learning_case *a, const struct learning_case *b);

/* The set in that launch, to be freed, the accesses' dims behind them; NULL: memory is short. */
struct csan_access *learning_case_accesses(const struct learning_case *launch,
                                           const struct learned_set *set);

/* The set in that launch: `accesses` has room for its ranges, `dims` for theirs, which are so many.
 */
size_t learning_dims_of(const struct learned_set *set);
void learning_accesses_fill(const struct learned_set *set, const struct learn_launch *launch,
                            const struct learning_argument *arguments, uint8_t atomic_bytes,
                            uint8_t bound, struct csan_access *accesses, struct csan_dim *dims);
/* That `bound`: why a trace of a launch with so many `mapped` ranges is no more than one. */
static inline uint8_t learning_bound_of(uint32_t mapped_count)
{
    return mapped_count ? CSAN_BOUND_OBJECT : CSAN_BOUND_BUDGET;
}

#endif
