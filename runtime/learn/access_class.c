/* What traces of a shape taught, of whatever keys: those that predict each other are one lesson. */
#include "runtime/learn/learner_state.h"
#include "runtime/learn/prediction.h"

#include <stdlib.h>

/* Keys that had the lesson as it was keep that; only their own traces show that more stands. */
static void variants_narrow(struct launch_signature *shape, const struct access_class *lesson,
                            struct learned_set *before)
{
    struct entry *entry = NULL, *next = NULL;
    HASH_ITER(hh, shape->entries, entry, next)
    {
        for (uint32_t i = 0; i < entry->variant_count; i++)
            if (entry->variants[i].lesson == lesson && !entry->variants[i].narrow &&
                before->relation_count)
                entry->variants[i].narrow = learned_set_retain(before);
    }
}

/* What the other set refutes of the lesson's relations goes. */
static void access_class_relax(struct launch_signature *shape, struct access_class *lesson,
                               const struct learned_set *seen)
{
    struct learned_set *before = lesson->set, *relaxed = learned_set_relax(before, seen);
    if (relaxed->relation_count < before->relation_count)
        variants_narrow(shape, lesson, before);
    lesson->set = relaxed;
    learned_set_release(before);
}

static void variants_move(struct entry *entry, const struct access_class *from,
                          struct access_class *to)
{
    for (uint32_t i = 0; i < entry->variant_count; i++) {
        struct variant moved = entry->variants[i];
        if (moved.lesson != from)
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

struct access_class *access_class_now(struct access_class *lesson)
{
    while (lesson && lesson->into)
        lesson = lesson->into;
    return lesson;
}

void access_classes_bury(struct launch_signature *shape)
{
    while (shape->absorbed) {
        struct access_class *lesson = shape->absorbed;
        shape->absorbed = lesson->next;
        learned_set_release(lesson->set);
        free(lesson);
    }
}

/* All that knew the one know the other. */
static void access_class_absorb(struct launch_signature *shape, struct access_class *lesson,
                                struct access_class *absorbed)
{
    struct entry *entry = NULL, *next = NULL;
    access_class_relax(shape, lesson, absorbed->set);
    variants_narrow(shape, absorbed, absorbed->set);
    HASH_ITER(hh, shape->entries, entry, next)
    {
        variants_move(entry, absorbed, lesson);
    }
    for (size_t i = 0; i < shape->sample_count; i++)
        if (shape->samples[i].lesson == absorbed)
            shape->samples[i].lesson = lesson;
    lesson->launches += absorbed->launches;
}

static void access_classes_absorb(struct launch_signature *shape, struct access_class *lesson)
{
    for (struct access_class **at = &shape->lessons; *at;) {
        struct access_class *other = *at;
        if (other == lesson || !learned_set_predicts(lesson->set, other->set)) {
            at = &other->next;
            continue;
        }
        access_class_absorb(shape, lesson, other);
        *at = other->next;
        other->into = lesson;
        other->next = shape->absorbed;
        shape->absorbed = other;
        shape->access_class_count--;
    }
}

struct access_class *launch_signature_lesson(struct launch_signature *shape,
                                             struct learned_set *set)
{
    for (struct access_class *lesson = shape->lessons; lesson; lesson = lesson->next)
        if (learned_set_predicts(lesson->set, set)) {
            uint32_t before = lesson->set->relation_count;
            access_class_relax(shape, lesson, set);
            if (lesson->set->relation_count < before)
                access_classes_absorb(shape, lesson);
            return lesson;
        }
    struct access_class *lesson = calloc(1, sizeof *lesson);
    if (!lesson)
        return NULL;
    lesson->set = learned_set_retain(set);
    lesson->next = shape->lessons;
    shape->lessons = lesson;
    shape->access_class_count++;
    access_classes_absorb(shape, lesson);
    return lesson;
}
