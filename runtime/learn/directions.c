/* Directions of pointers. See directions.h. */
#include "runtime/learn/directions.h"
#include "runtime/learn/learner_state.h"

#include <stdlib.h>

enum { KINDS = DEVICE_TRACE_ATOMIC + 1 };

/* An anchor, in whatever launch. */
struct pointer_name {
    uint64_t identity; /* of a variable */
    uint32_t offset, kind;
};

struct direction {
    struct pointer_name name;
    uint8_t kinds; /* a bit for each enum device_trace_kind */
    UT_hash_handle hh;
};

static struct pointer_name name_of(const struct learn_anchor *anchor)
{
    const bool variable = anchor->kind == LEARN_VARIABLE;
    return (struct pointer_name){.identity = variable ? anchor->identity : 0,
                                 .offset = variable ? 0 : anchor->offset,
                                 .kind = anchor->kind};
}

static uint8_t kinds_find(const struct directions *directions, const struct learn_anchor *anchor)
{
    const struct pointer_name name = name_of(anchor);
    struct direction *found = NULL;
    HASH_FIND(hh, directions->pointers, &name, sizeof name, found);
    return found ? found->kinds : 0;
}

static bool kinds_add(struct directions *directions, const struct learn_anchor *anchor,
                      uint8_t kinds)
{
    const struct pointer_name name = name_of(anchor);
    struct direction *own = NULL;
    HASH_FIND(hh, directions->pointers, &name, sizeof name, own);
    if (!own && (own = calloc(1, sizeof *own))) {
        own->name = name;
        HASH_ADD(hh, directions->pointers, name, sizeof own->name, own);
    }
    if (own)
        own->kinds |= kinds;
    return own != NULL;
}

/* What was done through one of two equal pointers may have been done through the other. */
static void kinds_share(uint8_t *kinds, const struct learned_set *set)
{
    for (uint32_t i = 0; i < 2 * set->relation_count; i++) { /* twice: of several equal ones, too */
        const struct learned_relation *relation = &set->relations[i % set->relation_count];
        if (relation->distance == 0)
            kinds[relation->from] = kinds[relation->to] =
                kinds[relation->from] | kinds[relation->to];
    }
}

static bool set_take(struct directions *directions, const struct learn_launch *launch,
                     const struct learned_set *set)
{
    uint8_t kinds[LEARN_MAX_ANCHORS] = {0};
    bool taken = true;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct learned_range *range = &set->ranges[i];
        if (range->anchor != LEARNED_NO_ANCHOR)
            kinds[range->anchor] |= (uint8_t)(1 << range->kind);
        else if (range->kind != DEVICE_TRACE_READ)
            return false;
    }
    kinds_share(kinds, set);
    for (uint32_t i = 0; taken && i < launch->anchor_count; i++)
        taken = !kinds[i] || kinds_add(directions, &launch->anchors[i], kinds[i]);
    return taken;
}

/* `anchors`: room for a launch's. */
static bool signature_take(struct directions *directions, const struct launch_signature *signature,
                           struct learn_anchor *anchors)
{
    struct learn_launch launch;
    const struct entry *entry, *next;
    bool taken =
        launch_key_read_signature(signature->bytes, signature->signature_bytes, &launch, anchors);
    for (const struct access_class *class = signature->classes; taken && class; class = class->next)
        taken = set_take(directions, &launch, class->set);
    HASH_ITER(hh, signature->entries, entry, next)
    {
        taken = taken && entry->state != ENTRY_UNKNOWN &&
                (!entry->bound || set_take(directions, &launch, entry->bound));
    }
    return taken;
}

void directions_find(struct directions *directions, const struct learned_kernel *kernel)
{
    const struct launch_signature *signature, *next;
    struct learn_anchor *anchors = malloc(LEARN_MAX_ANCHORS * sizeof *anchors);
    bool taken = anchors != NULL;
    directions_clear(directions);
    HASH_ITER(hh, kernel->signatures, signature, next)
    {
        taken = taken && signature_take(directions, signature, anchors);
    }
    directions->known = taken && directions->pointers;
    free(anchors);
}

void directions_clear(struct directions *directions)
{
    struct direction *own = NULL, *next = NULL;
    HASH_ITER(hh, directions->pointers, own, next)
    {
        HASH_DEL(directions->pointers, own);
        free(own);
    }
    directions->known = false;
}

/* In a set's order. */
static uint32_t ranges_fill(struct learned_range *ranges, const struct directions *directions,
                            const struct learn_launch *launch)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < launch->anchor_count; i++) {
        const struct learn_anchor *anchor = &launch->anchors[i];
        const uint8_t kinds = anchor->block.end ? kinds_find(directions, anchor) : 0;
        for (unsigned kind = 0; kind < KINDS; kind++)
            if (kinds >> kind & 1)
                ranges[count++] = (struct learned_range){
                    .anchor = (uint16_t)i,
                    .kind = (uint8_t)kind,
                    .offset = (int64_t)(anchor->block.start - anchor->address),
                    .bytes = anchor->block.end - anchor->block.start};
    }
    return count;
}

struct learned_set *directions_bound(const struct directions *directions,
                                     const struct learn_launch *launch)
{
    struct learned_range *ranges =
        directions->known ? malloc((launch->anchor_count + 1) * KINDS * sizeof *ranges) : NULL;
    const uint32_t count = ranges ? ranges_fill(ranges, directions, launch) : 0;
    struct learned_set *bound = count ? learned_set_of_ranges(ranges, count, NULL, 0, true) : NULL;
    free(ranges);
    return bound;
}
