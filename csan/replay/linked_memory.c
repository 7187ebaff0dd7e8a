/* The memory that a linked process shares with others, and the ops that touch it. See
 * linked_state.h. */
#define HASH_NONFATAL_OOM 1
#include "csan/detector/context.h"
#include "csan/replay/linked_state.h"

#include <stdlib.h>

const char *linked_share(struct linked_process *process, uint64_t base, uint64_t bytes,
                         uint64_t unified)
{
    return !bytes || shared_memory_add(&process->shared, base, bytes, unified) ? NULL
                                                                               : linked_no_memory;
}

const char *linked_take_birth(struct linked_process *process, const struct recorded *recorded)
{
    const uint64_t number = ++process->birth_count;
    const struct link_memory *memory = &process->links->births[number];
    csan_site site = 0;
    replay_definitions_site(&process->definitions, recorded->value[FIELD_SITE], &site);
    if (!memory->unified) {
        shared_memory_remove(&process->shared, recorded->value[FIELD_BASE], 0);
        return NULL;
    }
    csan_memory_create(process->linked->context, CSAN_MEMORY_DEVICE, memory->unified, memory->bytes,
                       CSAN_HOST, site);
    return linked_share(process, recorded->value[FIELD_BASE], memory->bytes, memory->unified);
}

struct translation {
    struct linked_process *process;
    size_t count;
};

static bool translation_take(void *user, const struct csan_access *part)
{
    struct translation *translation = user;
    struct linked_process *process = translation->process;
    if (!replay_grow((void **)&process->accesses, &process->access_capacity,
                     sizeof *process->accesses, translation->count))
        return false;
    process->accesses[translation->count++] = *part;
    return true;
}

/* The accesses of the set to shared memory, into process->accesses. False: memory is short. */
static bool translate_all(struct linked_process *process, const struct recording_set *set,
                          size_t *count)
{
    struct translation translation = {process, 0};
    bool good = true;
    for (size_t i = 0; good && i < set->count; i++)
        good = shared_memory_translate(&process->shared, &set->accesses[i], translation_take,
                                       &translation);
    *count = translation.count;
    return good;
}

static const char *take_pending(struct linked_process *process, const struct recorded *recorded,
                                csan_lane lane, csan_site site, size_t count)
{
    struct linked_ticket *ticket = calloc(1, sizeof *ticket), *former;
    if (!ticket)
        return linked_no_memory;
    ticket->number = recorded->value[FIELD_TICKET];
    ticket->own = csan_op_pending(process->linked->context, lane, site, recorded->set->level,
                                  process->accesses, count);
    HASH_FIND(hh, process->tickets, &ticket->number, sizeof ticket->number, former);
    if (!former && ticket->own)
        HASH_ADD(hh, process->tickets, number, sizeof ticket->number, ticket);
    if (!ticket->hh.tbl)
        free(ticket);
    return former ? "a ticket that is there already" : NULL;
}

const char *linked_take_op(struct linked_process *process, const struct recorded *recorded)
{
    const struct mapped_lane *lane = linked_lane_of(process, recorded->value[FIELD_LANE]);
    csan_site site;
    size_t count;
    if (!lane)
        return linked_no_such_lane;
    if (!replay_definitions_site(&process->definitions, recorded->set->site, &site))
        return "an op of a site that is not defined";
    if (lane->passed_by)
        return NULL;
    linked_join_host(process, lane);
    if (!translate_all(process, recorded->set, &count))
        return linked_no_memory;
    if (recorded->kind == RECORDED_OP_PENDING && !shared_memory_is_empty(&process->shared))
        return take_pending(process, recorded, lane->lane - 1, site, count);
    if (count)
        csan_op(process->linked->context, lane->lane - 1, site, recorded->set->level,
                process->accesses, count);
    return NULL;
}

const char *linked_take_resolve(struct linked_process *process, const struct recorded *recorded)
{
    struct linked_ticket *ticket;
    size_t count;
    HASH_FIND(hh, process->tickets, &recorded->value[FIELD_TICKET], sizeof ticket->number, ticket);
    if (!ticket)
        return NULL;
    if (!translate_all(process, recorded->set, &count))
        return linked_no_memory;
    csan_op_resolve(process->linked->context, ticket->own, recorded->set->level, process->accesses,
                    count);
    HASH_DEL(process->tickets, ticket);
    free(ticket);
    return NULL;
}
