/* Launches that are kept. See learning_case.h. */
#include "runtime/hook/observe/learning_case.h"
#include "runtime/hook/kernel/launch_accesses.h"
#include "runtime/hook/observe/learning.h"
#include "runtime/hook/observe/trace.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t kind_of[] = {[DEVICE_TRACE_READ] = CSAN_READ,
                                  [DEVICE_TRACE_WRITE] = CSAN_WRITE,
                                  [DEVICE_TRACE_ATOMIC] = CSAN_ATOMIC};

size_t learning_dims_of(const struct learned_set *set)
{
    size_t count = 0;
    for (uint32_t i = 0; i < set->count; i++)
        count += set->ranges[i].dims;
    return count;
}

void learning_accesses_fill(const struct learned_set *set, const struct learn_launch *launch,
                            const struct learning_argument *arguments,
                            struct kernel_atomics atomics, uint8_t bound,
                            struct csan_access *accesses, struct csan_dim *dims)
{
    const bool strength = trace_knows_strength();
    for (uint32_t i = 0; i < set->count; i++) {
        const struct learned_range *range = &set->ranges[i];
        const struct learning_argument *argument =
            range->anchor != LEARNED_NO_ANCHOR ? &arguments[range->anchor] : NULL;
        const uint8_t kind = kind_of[range->kind];
        accesses[i] = (struct csan_access){
            .base = learned_range_address(range, launch),
            .bytes = range->bytes,
            .dims = dims,
            .dim_count = range->dims,
            .kind = kind,
            .bound = range->whole                  ? CSAN_BOUND_DATA
                     : set->inexact && !set->whole ? bound
                     : argument                    ? argument->bounds[kind]
                                                   : CSAN_EXACT,
            .element_bytes = range->kind == DEVICE_TRACE_ATOMIC ? atomics.bytes : 0,
            .order = kernel_atomics_order(atomics, kind, range->bytes, strength),
            .argument = argument ? argument->index : CSAN_NO_ARGUMENT};
        if (range->whole) {
            const struct learn_block *block = &launch->anchors[range->anchor].block;
            accesses[i].bytes = block->end - block->start;
        }
        for (uint8_t k = 0; k < range->dims; k++)
            *dims++ = (struct csan_dim){(int64_t)range->stride[k], range->count[k]};
    }
}

struct learn_anchor *learning_case_anchors(struct learning_case *taken)
{
    return (struct learn_anchor *)(taken + 1);
}

static struct learning_case *case_of(struct learned_kernel *learned,
                                     const struct learn_launch *launch,
                                     const struct launch_key *key,
                                     const struct learning_argument *arguments,
                                     const struct device_trace_range *mapped, uint32_t mapped_count,
                                     const struct learning_constants *constants)
{
    uint32_t count = launch->anchor_count;
    struct learning_case *taken = malloc(sizeof *taken + count * sizeof *launch->anchors +
                                         mapped_count * sizeof *mapped + count * sizeof *arguments);
    if (!taken)
        return NULL;
    struct learn_anchor *anchors = learning_case_anchors(taken);
    *taken = (struct learning_case){.learned = learned,
                                    .launch = *launch,
                                    .mapped_count = mapped_count,
                                    .constants = *constants,
                                    .mapped = (struct device_trace_range *)(anchors + count)};
    taken->launch.anchors = anchors;
    taken->launch.parameters = NULL;
    taken->arguments = (struct learning_argument *)(taken->mapped + mapped_count);
    if (count) {
        memcpy(anchors, launch->anchors, count * sizeof *anchors);
        memcpy(taken->arguments, arguments, count * sizeof *taken->arguments);
    }
    if (mapped_count)
        memcpy(taken->mapped, mapped, mapped_count * sizeof *mapped);
    if (launch_key_copy(&taken->key, key))
        return taken;
    free(taken);
    return NULL;
}

struct learning_case *learning_case_create(const struct learning *learning,
                                           struct kernel_atomics atomics)
{
    struct learning_case *taken =
        case_of(learning->learned, &learning->launch, &learning->key, learning->arguments,
                learning->mapped, learning->mapped_count, &learning->constants);
    if (taken)
        taken->atomics = atomics;
    if (taken)
        taken->maps_are_known = learning->maps_are_known;
    return taken;
}

struct learning_case *learning_case_copy(const struct learning_case *launch)
{
    struct learning_case *taken =
        case_of(launch->learned, &launch->launch, &launch->key, launch->arguments, launch->mapped,
                launch->mapped_count, &launch->constants);
    if (taken)
        taken->atomics = launch->atomics;
    if (taken)
        taken->maps_are_known = launch->maps_are_known;
    return taken;
}

struct csan_access *learning_case_accesses(const struct learning_case *launch,
                                           const struct learned_set *set, size_t *count)
{
    *count = set->count + launch->constants.count;
    struct csan_access *accesses =
        malloc(*count * sizeof *accesses + learning_dims_of(set) * sizeof(struct csan_dim) + 1);
    if (!accesses) {
        *count = 0;
        return NULL;
    }
    learning_accesses_fill(set, &launch->launch, launch->arguments, launch->atomics,
                           learning_bound_of(launch->mapped_count), accesses,
                           (struct csan_dim *)(accesses + *count));
    learning_constants_add(&launch->constants, accesses + set->count);
    return accesses;
}

/* ---- Constants ---- */

/* One with dims becomes the bytes from its first to its last. */
static struct csan_access whole_of(const struct csan_access *access)
{
    struct csan_access whole = *access;
    for (uint8_t i = 0; i < access->dim_count; i++) {
        const int64_t reach = access->dims[i].stride * (int64_t)(access->dims[i].count - 1);
        whole.base += reach < 0 ? (uint64_t)reach : 0;
        whole.bytes += (uint64_t)(reach < 0 ? -reach : reach);
        whole.bound = CSAN_BOUND_SHAPE;
    }
    whole.dims = NULL;
    whole.dim_count = 0;
    return whole;
}

void learning_constants_find(struct learning_constants *constants,
                             const struct launch_accesses_touched *touched)
{
    constants->count = 0;
    for (size_t i = 0; !trace_knows_constants() && i < touched->access_count; i++)
        if (constants->count < LEARNING_CONSTANTS &&
            launch_accesses_is_constant(touched, &touched->accesses[i]))
            constants->accesses[constants->count++] = whole_of(&touched->accesses[i]);
}

void learning_constants_add(const struct learning_constants *constants,
                            struct csan_access *accesses)
{
    for (uint32_t i = 0; i < constants->count; i++)
        accesses[i] = constants->accesses[i];
}

/* ---- Life ---- */

bool learning_case_equal(const struct learning_case *a, const struct learning_case *b)
{
    if (a->learned != b->learned || a->key.signature_bytes != b->key.signature_bytes ||
        a->key.scalar_count != b->key.scalar_count ||
        a->launch.anchor_count != b->launch.anchor_count ||
        memcmp(a->key.words, b->key.words,
               a->key.signature_bytes + a->key.scalar_count * sizeof *a->key.words) != 0)
        return false;
    for (uint32_t i = 0; i < a->launch.anchor_count; i++)
        if (a->launch.anchors[i].address != b->launch.anchors[i].address)
            return false;
    return true;
}

void learning_case_free(struct learning_case *taken)
{
    launch_key_release(&taken->key);
    free(taken);
}
