/* The access classes of a signature: traces that predict each other, whatever their keys, are one
 * class. */
#include "runtime/learn/learner_state.h"
#include "runtime/learn/prediction.h"

#include <stdlib.h>

/* Keys that had the class keep its earlier set; only their own traces can show that fewer relations
 * suffice. */
static void variants_narrow(struct launch_signature *signature, const struct access_class *class,
                            struct learned_set *before)
{
    struct entry *entry = NULL, *next = NULL;
    HASH_ITER(hh, signature->entries, entry, next)
    {
        for (uint32_t i = 0; i < entry->variant_count; i++)
            if (entry->variants[i].class == class && !entry->variants[i].narrow &&
                before->relation_count)
                entry->variants[i].narrow = learned_set_retain(before);
    }
}

/* Removes the class's relations that the other set refutes. */
static void access_class_relax(struct launch_signature *signature, struct access_class *class,
                               const struct learned_set *seen)
{
    struct learned_set *before = class->set, *relaxed = learned_set_relax(before, seen);
    if (relaxed->relation_count < before->relation_count)
        variants_narrow(signature, class, before);
    class->set = relaxed;
    learned_set_release(before);
}

static void variants_move(struct entry *entry, const struct access_class *from,
                          struct access_class *to)
{
    for (uint32_t i = 0; i < entry->variant_count; i++) {
        struct variant moved = entry->variants[i];
        if (moved.class != from)
            continue;
        learned_set_retain(moved.narrow);
        entry_remove(entry, &entry->variants[i]);
        struct variant *variant = entry_add(entry, to, moved.narrow); /* there is room: one went */
        variant->seen += moved.seen;
        variant->launches += moved.launches;
        learned_set_release(moved.narrow);
        return;
    }
}

struct access_class *access_class_now(struct access_class *class)
{
    while (class && class->into)
        class = class->into;
    return class;
}

void access_classes_bury(struct launch_signature *signature)
{
    while (signature->absorbed) {
        struct access_class *class = signature->absorbed;
        signature->absorbed = class->next;
        learned_set_release(class->set);
        free(class);
    }
}

/* All that knew the one know the other. */
static void access_class_absorb(struct launch_signature *signature, struct access_class *class,
                                struct access_class *absorbed)
{
    struct entry *entry = NULL, *next = NULL;
    access_class_relax(signature, class, absorbed->set);
    variants_narrow(signature, absorbed, absorbed->set);
    HASH_ITER(hh, signature->entries, entry, next)
    {
        variants_move(entry, absorbed, class);
    }
    for (size_t i = 0; i < signature->sample_count; i++)
        if (signature->samples[i].class == absorbed)
            signature->samples[i].class = class;
    class->launches += absorbed->launches;
}

static void access_classes_absorb(struct launch_signature *signature, struct access_class *class)
{
    for (struct access_class **at = &signature->classes; *at;) {
        struct access_class *other = *at;
        if (other == class || !learned_set_predicts(class->set, other->set)) {
            at = &other->next;
            continue;
        }
        access_class_absorb(signature, class, other);
        *at = other->next;
        other->into = class;
        other->next = signature->absorbed;
        signature->absorbed = other;
        signature->access_class_count--;
    }
}

struct access_class *launch_signature_class(struct launch_signature *signature,
                                            struct learned_set *set)
{
    for (struct access_class *class = signature->classes; class; class = class->next)
        if (learned_set_predicts(class->set, set)) {
            uint32_t before = class->set->relation_count;
            access_class_relax(signature, class, set);
            if (class->set->relation_count < before)
                access_classes_absorb(signature, class);
            return class;
        }
    struct access_class *class = calloc(1, sizeof *class);
    if (!class)
        return NULL;
    class->set = learned_set_retain(set);
    class->next = signature->classes;
    signature->classes = class;
    signature->access_class_count++;
    access_classes_absorb(signature, class);
    return class;
}
