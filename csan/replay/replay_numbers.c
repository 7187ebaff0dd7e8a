/* What the numbers of a recording stand for: lanes, events, snapshots, frees and branches; and how
 * long a replay keeps them. See replay.h. */
#define HASH_NONFATAL_OOM 1
#include "csan/replay/replay.h"
#include "csan/replay/replay_state.h"

#include <stdlib.h>
#include <utlist.h>

enum { BEGINNING_OF_TIME = 1 };

const char *replay_object_add(struct replay *replay, struct objects *objects, uint64_t number,
                              enum object_kind kind, void *handle)
{
    if (!replay_grow((void **)&objects->items, &objects->capacity, sizeof *objects->items, number))
        return "a number that is too large";
    if (objects->items[number].kind)
        return "something is made that is there already";
    objects->items[number] = (struct object){handle, replay->context, kind};
    return NULL;
}

struct object *replay_object_of(const struct replay *replay, const struct objects *objects,
                                uint64_t number)
{
    if (number >= objects->capacity || !objects->items[number].kind ||
        objects->items[number].context != replay->context)
        return NULL;
    return &objects->items[number];
}

bool replay_lane_of(const struct replay *replay, uint64_t number, csan_lane *lane)
{
    const struct numbers *lanes = &replay->current->lanes;
    if (number == CSAN_HOST) {
        *lane = CSAN_HOST;
        return true;
    }
    if (number >= lanes->capacity || !lanes->items[number])
        return false;
    *lane = lanes->items[number] - 1;
    return true;
}

struct replay *replay_create(csan_context *context)
{
    struct replay *replay = calloc(1, sizeof *replay);
    if (!replay || !replay_grow((void **)&replay->branches, &replay->branch_capacity,
                                sizeof *replay->branches, 0)) {
        free(replay);
        return NULL;
    }
    replay->branches[0] = (struct branch){.context = context, .live = true};
    replay->current = &replay->branches[0];
    replay->now = BEGINNING_OF_TIME;
    return replay;
}

void replay_object_end(struct replay *replay, struct object *object)
{
    csan_context *context = replay->branches[object->context].context;
    if (object->kind == OBJECT_SNAPSHOT)
        csan_snapshot_release(context, object->handle);
    else if (object->kind == OBJECT_EVENT)
        csan_event_destroy(context, object->handle);
    else if (object->kind == OBJECT_FREE)
        csan_memory_free_end(context, object->handle, 1, 0);
    object->kind = OBJECT_NONE;
}

static void objects_end(struct replay *replay, uint32_t context)
{
    struct objects *const all[] = {&replay->frees, &replay->snapshots, &replay->events};
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < all[k]->capacity; i++)
            if (all[k]->items[i].kind && all[k]->items[i].context == context)
                replay_object_end(replay, &all[k]->items[i]);
}

void replay_branch_end(struct replay *replay, uint32_t number)
{
    struct branch *branch = &replay->branches[number];
    csan_context_drain(branch->context);
    objects_end(replay, number);
    if (number)
        csan_context_destroy(branch->context);
    free(branch->lanes.items);
    *branch = (struct branch){0};
}

void replay_destroy(struct replay *replay)
{
    struct ticket *ticket, *next_ticket;
    struct call_name *name, *next_name;
    if (!replay)
        return;
    for (size_t i = replay->branch_capacity; i-- > 0;)
        if (replay->branches[i].live)
            replay_branch_end(replay, (uint32_t)i);
    HASH_ITER(hh, replay->tickets, ticket, next_ticket)
    {
        HASH_DEL(replay->tickets, ticket);
        free(ticket);
    }
    LL_FOREACH_SAFE(replay->call_names, name, next_name)
    {
        free(name);
    }
    free(replay->branches);
    free(replay->snapshots.items);
    free(replay->events.items);
    free(replay->frees.items);
    replay_definitions_clear(&replay->definitions);
    replay_ranges_end(replay);
    free(replay);
}
