/* An entry: what is known about launches of one key, as variants of access classes or a bound. */
#include "runtime/learn/agreement.h"
#include "runtime/learn/bound.h"
#include "runtime/learn/learner_state.h"

#include <stdlib.h>
#include <string.h>

static void variants_clear(struct entry *entry)
{
    for (uint32_t i = 0; i < entry->variant_count; i++)
        learned_set_release(entry->variants[i].narrow);
    free(entry->variants);
    entry->variants = NULL;
    entry->variant_count = entry->variant_room = 0;
}

void entry_clear(struct entry *entry)
{
    variants_clear(entry);
    learned_set_release(entry->bound);
    entry->bound = NULL;
}

void entry_set_unknown(struct entry *entry, enum learn_reason reason)
{
    entry_clear(entry);
    entry->state = ENTRY_UNKNOWN;
    entry->reason = (uint8_t)reason;
}

struct variant *entry_variant(const struct entry *entry, const struct learn_launch *launch)
{
    struct variant *best = NULL;
    if (entry->variant_count == 1)
        return learned_set_stands(variant_set(entry->variants), launch) ? entry->variants : NULL;
    for (uint32_t i = 0; i < entry->variant_count; i++) {
        struct variant *variant = &entry->variants[i];
        if (learned_set_holds(variant_set(variant), launch) &&
            (!best || variant_set(variant)->relation_count > variant_set(best)->relation_count))
            best = variant;
    }
    return best;
}

/* The entry's first variants with a launch of that access class and set. */
static bool agree(const struct entry *entry, uint32_t count, const struct access_class *class,
                  const struct learned_set *set)
{
    for (uint32_t i = 0; i < count; i++)
        if (entry->variants[i].class != class &&
            !learned_sets_agree(variant_set(&entry->variants[i]), set))
            return false;
    return true;
}

bool entry_agrees(const struct entry *entry, const struct access_class *class,
                  const struct learned_set *set)
{
    return agree(entry, entry->variant_count, class, set);
}

static struct variant *variant_of(struct entry *entry, const struct access_class *class)
{
    for (uint32_t i = 0; i < entry->variant_count; i++)
        if (entry->variants[i].class == class)
            return &entry->variants[i];
    return NULL;
}

struct variant *entry_add(struct entry *entry, struct access_class *class,
                          struct learned_set *narrow)
{
    struct variant *variant = variant_of(entry, class);
    if (variant || entry->variant_count == VARIANTS_MAX)
        return variant;
    if (entry->variant_count == entry->variant_room) {
        uint32_t room = entry->variant_room ? VARIANTS_MAX : 1;
        variant = realloc(entry->variants, room * sizeof *variant);
        if (!variant)
            return NULL;
        entry->variants = variant;
        entry->variant_room = room;
    }
    variant = &entry->variants[entry->variant_count++];
    *variant = (struct variant){.class = class, .narrow = learned_set_retain(narrow)};
    return variant;
}

void entry_remove(struct entry *entry, struct variant *variant)
{
    learned_set_release(variant->narrow);
    *variant = entry->variants[--entry->variant_count];
}

static void bound_widen(struct entry *entry, struct learned_set *set)
{
    struct learned_set *bound =
        entry->bound ? learned_set_widen(entry->bound, set) : learned_set_retain(set);
    if (!bound) {
        entry_set_unknown(entry, LEARN_INDIRECT);
        return;
    }
    if (entry->bound && learned_bound_equal(bound, entry->bound)) {
        learned_set_release(bound); /* others may have the one that stays */
        return;
    }
    learned_set_release(entry->bound);
    entry->bound = bound;
}

void entry_depends(struct entry *entry, struct learned_set *set, uint8_t reason)
{
    for (uint32_t i = 0; i < entry->variant_count && entry->state != ENTRY_UNKNOWN; i++)
        bound_widen(entry, variant_set(&entry->variants[i]));
    if (entry->state == ENTRY_UNKNOWN)
        return;
    bound_widen(entry, set); /* which may be one of the variants' */
    if (entry->state == ENTRY_UNKNOWN)
        return;
    variants_clear(entry);
    if (entry->state != ENTRY_DEPENDENT)
        entry->reason = reason;
    entry->state = ENTRY_DEPENDENT;
    if (entry->bound && entry->bound->block_count)
        entry_set_unknown(entry, LEARN_INDIRECT);
}

static bool same_relations(const struct learned_set *a, const struct learned_set *b)
{
    bool same = a->relation_count == b->relation_count;
    for (uint32_t i = 0; same && i < a->relation_count; i++)
        same = a->relations[i].from == b->relations[i].from &&
               a->relations[i].to == b->relations[i].to &&
               a->relations[i].distance == b->relations[i].distance;
    return same;
}

/* Where one stands the other does, and they are not the same. */
static bool variants_disagree(const struct entry *entry)
{
    for (uint32_t i = 0; i < entry->variant_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (same_relations(variant_set(&entry->variants[i]), variant_set(&entry->variants[k])))
                return true;
    return false;
}

/* Traces of two keys in one class may have different layouts; together they distinguish the class
 * from others. */
static void variant_merge(struct variant *variant, const struct variant *other)
{
    variant->seen += other->seen;
    variant->launches += other->launches;
    if (variant->narrow && (!other->narrow || !same_relations(variant->narrow, other->narrow))) {
        learned_set_release(variant->narrow);
        variant->narrow = NULL;
    }
}

struct variant *entry_take(struct entry *entry, struct access_class *class,
                           const struct variant *other)
{
    bool known = variant_of(entry, class) != NULL;
    struct variant *own = entry_add(entry, class, other->narrow);
    if (own && known) {
        variant_merge(own, other);
    } else if (own) {
        own->seen = other->seen;
        own->launches = other->launches;
    }
    return own;
}

static void variants_merge(struct entry *entry, const struct entry *other)
{
    uint32_t before = entry->variant_count; /* the other's agree among themselves */
    for (uint32_t i = 0; i < other->variant_count; i++) {
        const struct variant *theirs = &other->variants[i];
        const struct variant *own = entry_take(entry, theirs->class, theirs);
        if (!own || !agree(entry, before, theirs->class, variant_set(theirs))) {
            entry_depends(entry, variant_set(theirs), own ? LEARN_DIFFERS : LEARN_CROWDED);
            return;
        }
    }
    if (variants_disagree(entry))
        entry_depends(entry, variant_set(&entry->variants[0]), LEARN_DIFFERS);
}

static bool variants_are_complete(const struct entry *entry, uint32_t launches)
{
    for (uint32_t i = 0; i < entry->variant_count; i++)
        if (entry->variants[i].seen < launches || entry->variants[i].class->set->block_count)
            return false;
    return entry->variant_count > 0;
}

bool entry_is_complete(const struct entry *entry, uint32_t launches)
{
    switch (entry->state) {
    case ENTRY_UNKNOWN:
        return entry->reason != LEARN_LOST; /* no trace can add anything */
    case ENTRY_DEPENDENT:
        return entry->bound != NULL;
    default:
        return variants_are_complete(entry, launches);
    }
}

void entry_merge(struct entry *entry, const struct entry *other)
{
    entry->seen += other->seen;
    entry->asked += other->asked;
    entry->launches += other->launches;
    entry->uncounted += other->uncounted;
    entry->again |= other->again;
    entry->launched |= other->launched;
    if (entry->state == ENTRY_UNKNOWN)
        return;
    if (other->state == ENTRY_UNKNOWN)
        entry_set_unknown(entry, other->reason);
    else if (other->state == ENTRY_DEPENDENT)
        entry_depends(entry, other->bound, other->reason);
    else if (entry->state == ENTRY_DEPENDENT)
        for (uint32_t i = 0; i < other->variant_count; i++)
            entry_depends(entry, variant_set(&other->variants[i]), LEARN_DIFFERS);
    else
        variants_merge(entry, other);
}
