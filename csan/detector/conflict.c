/* See conflict.h. */
#include "csan/detector/conflict.h"
#include "csan/base/array.h"

#include <stdlib.h>

static void argument_set_add(struct argument_set *set, uint16_t index)
{
    if (index == CSAN_NO_ARGUMENT || set->count == CONFLICT_ARGUMENTS)
        return;
    uint8_t place = set->count;
    for (uint8_t i = 0; i < set->count; i++)
        if (set->indices[i] == index)
            return;
    while (place > 0 && set->indices[place - 1] > index) {
        set->indices[place] = set->indices[place - 1];
        place--;
    }
    set->indices[place] = index;
    set->count++;
}

/* A write says more than an atomic, an atomic more than a read. */
static int kind_strength(uint8_t kind)
{
    static const int strength[] = {
        [CSAN_READ] = 1, [CSAN_ATOMIC] = 2, [CSAN_WRITE] = 3, [CSAN_ALLOCATE] = 4, [CSAN_FREE] = 4};
    return strength[kind];
}

static void strengthen(uint8_t *kind, uint8_t other)
{
    if (kind_strength(other) > kind_strength(*kind))
        *kind = other;
}

bool conflict_same_sites(const struct conflict *a, const struct conflict *b)
{
    return a->earlier.site == b->earlier.site && a->kind == b->kind && a->possible == b->possible;
}

static bool same_run(const struct conflict_list *list, const struct conflict *a,
                     const struct conflict *b)
{
    if (!conflict_same_sites(a, b) || a->base != b->base ||
        epoch_lane(a->earlier.epoch) != epoch_lane(b->earlier.epoch))
        return false;
    return !list->each ||
           (a->earlier.op == b->earlier.op && a->start == b->start && a->end == b->end &&
            a->earlier.kind == b->earlier.kind && a->current.kind == b->current.kind);
}

/* The conflict would be one whatever the call did before it returned. */
static void certain_take(struct conflict *into, const struct conflict *conflict)
{
    const struct conflict before = *into;
    *into = *conflict;
    into->current_arguments = before.current_arguments;
    into->earlier_arguments = before.earlier_arguments;
    strengthen(&into->current.kind, before.current.kind);
    strengthen(&into->earlier.kind, before.earlier.kind);
}

void conflict_list_add(struct conflict_list *list, const struct conflict *conflict)
{
    struct conflict *into = NULL;
    for (size_t i = 0; i < list->count && !into; i++)
        if (same_run(list, &list->items[i], conflict))
            into = &list->items[i];
    if (!into) {
        if (!array_room(&list->items, list->count, &list->capacity, 8, SIZE_MAX,
                        sizeof *list->items))
            return;
        into = &list->items[list->count++];
        *into = *conflict;
        into->current_arguments.count = into->earlier_arguments.count = 0;
    }
    if (into->at_call && !conflict->at_call)
        certain_take(into, conflict);
    if (conflict->start == into->end) /* the run goes on, in memory of another history */
        into->end = conflict->end;
    strengthen(&into->current.kind, conflict->current.kind);
    strengthen(&into->earlier.kind, conflict->earlier.kind);
    argument_set_add(&into->current_arguments, conflict->current.argument);
    argument_set_add(&into->earlier_arguments, conflict->earlier.argument);
}

void conflict_list_clear(struct conflict_list *list)
{
    free(list->items);
    *list = (struct conflict_list){.each = list->each};
}
