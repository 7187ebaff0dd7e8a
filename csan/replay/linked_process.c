/* See linked_process.h. */
#define HASH_NONFATAL_OOM 1
#include "csan/replay/linked_process.h"
#include "csan/replay/linked_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 256 };

const char linked_no_memory[] = "there is no memory for it";
const char linked_no_such_lane[] = "a lane that is not there";

/* ---- Life --------------------------------------------------------------------------------------
 */

struct linked_process *linked_process_create(struct linked *linked, size_t number, const char *name)
{
    char label[LINKED_NAME_BYTES];
    struct linked_process *process = calloc(1, sizeof *process);
    if (!process)
        return NULL;
    process->linked = linked;
    shared_memory_init(&process->shared);
    process->links = link_scan_of(linked->scan, number);
    process->number = number;
    snprintf(process->name, sizeof process->name, "%s", name);
    snprintf(label, sizeof label, "the host of %s", process->name);
    process->host = csan_lane_create_host(linked->context, label, CSAN_HOST_THREAD);
    process->all = csan_lane_create_host(linked->context, "all lanes", CSAN_HOST_SYNC_OBJECT);
    process->uses_left = calloc(process->links->source_count + 1, sizeof *process->uses_left);
    if (process->host == CSAN_NO_LANE || process->all == CSAN_NO_LANE || !process->uses_left) {
        linked_process_destroy(process);
        return NULL;
    }
    process->host_lane = (struct mapped_lane){.lane = process->host + 1, .host = true};
    memcpy(process->uses_left, process->links->uses,
           process->links->source_count * sizeof *process->uses_left);
    return process;
}

void linked_process_end(struct linked_process *process)
{
    if (!process->ended)
        csan_lane_destroy(process->linked->context, process->host);
    process->ended = true;
}

static void release_all(csan_context *context, csan_snapshot **snapshots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (snapshots[i])
            csan_snapshot_release(context, snapshots[i]);
    free(snapshots);
}

void linked_process_destroy(struct linked_process *process)
{
    if (!process)
        return;
    csan_context *context = process->linked->context;
    release_all(context, process->snapshots, process->snapshot_capacity);
    release_all(context, process->sources, process->source_capacity);
    release_all(context, process->releases, process->release_capacity);
    for (size_t i = 0; i < process->event_capacity; i++)
        if (process->events[i])
            csan_event_destroy(context, process->events[i]);
    struct linked_ticket *ticket, *next_ticket;
    HASH_ITER(hh, process->tickets, ticket, next_ticket)
    {
        HASH_DEL(process->tickets, ticket);
        free(ticket);
    }
    replay_definitions_clear(&process->definitions);
    free(process->events);
    free(process->uses_left);
    free(process->release_uses_left);
    free(process->lanes);
    shared_memory_clear(&process->shared);
    free(process->accesses);
    free(process);
}

/* ---- Definitions -------------------------------------------------------------------------------
 */

static bool site_note(struct linked *linked, csan_site site, size_t process)
{
    if (!replay_grow((void **)&linked->site_process, &linked->site_capacity,
                     sizeof *linked->site_process, site))
        return false;
    linked->site_process[site] = (uint32_t)process + 1;
    return true;
}

static const char *take_definition(struct linked_process *process, const struct recorded *recorded)
{
    struct linked *linked = process->linked;
    struct recorded moved = *recorded;
    const void *frames[FRAMES_MAX];
    csan_site site = 0;
    if (recorded->kind == RECORDED_MODULE || recorded->kind == RECORDED_SOURCE_LINE) {
        moved.value[FIELD_ADDRESS] = linked_frame(recorded->value[FIELD_ADDRESS], process->number);
        if (recorded->kind == RECORDED_MODULE) /* what addresses are moved by, the bias is, too */
            moved.value[FIELD_HANDLE] +=
                moved.value[FIELD_ADDRESS] - recorded->value[FIELD_ADDRESS];
        return replay_definitions_take(linked->code, linked->context, &moved);
    }
    if (recorded->kind == RECORDED_STACK) {
        moved.count = recorded->count < FRAMES_MAX ? recorded->count : FRAMES_MAX;
        for (size_t i = 0; i < moved.count; i++)
            frames[i] = (const void *)(uintptr_t)linked_frame((uintptr_t)recorded->frames[i],
                                                              process->number);
        moved.frames = frames;
    }
    const char *wrong = replay_definitions_take(&process->definitions, linked->context, &moved);
    if (wrong || (recorded->kind != RECORDED_SITE && recorded->kind != RECORDED_LAUNCHED_SITE))
        return wrong;
    replay_definitions_site(&process->definitions, recorded->value[FIELD_SITE], &site);
    return site_note(linked, site, process->number) ? NULL : linked_no_memory;
}

/* ---- Ops ---------------------------------------------------------------------------------------
 */

void linked_origin_note(struct linked *linked, uint64_t op)
{
    if (replay_grow((void **)&linked->origins, &linked->origin_capacity, sizeof *linked->origins,
                    op))
        linked->origins[op] = linked->processes[linked->now]->ops;
}

uint64_t linked_origin(const struct linked *linked, uint64_t op)
{
    if (op < linked->origin_capacity && linked->origins[op])
        return linked->origins[op];
    return op ? linked->processes[linked->now]->ops : 0;
}

/* As a replay of the recording alone numbers them. */
static bool is_op(const struct recorded *recorded)
{
    return recorded->kind == RECORDED_OP || recorded->kind == RECORDED_OP_PENDING ||
           recorded->kind == RECORDED_BIRTH || recorded->kind == RECORDED_FREE_BEGIN;
}

/* ---- All of them -------------------------------------------------------------------------------
 */

static const char *take_ordered(struct linked_process *process, const struct recorded *recorded)
{
    switch (recorded->kind) {
    case RECORDED_OP:
    case RECORDED_OP_PENDING:
        return linked_take_op(process, recorded);
    case RECORDED_RESOLVE:
        return linked_take_resolve(process, recorded);
    case RECORDED_JOIN_LANE:
        return linked_take_join_lane(process, recorded);
    case RECORDED_SNAPSHOT:
    case RECORDED_SNAPSHOT_ALL:
    case RECORDED_SNAPSHOT_EVENT:
    case RECORDED_PROMISE:
        return linked_take_snapshot(process, recorded);
    case RECORDED_JOIN:
    case RECORDED_KEEP:
    case RECORDED_RELEASE:
        return linked_take_join(process, recorded);
    case RECORDED_EVENT:
    case RECORDED_EVENT_DESTROY:
    case RECORDED_RECORD:
    case RECORDED_RECORD_SNAPSHOT:
    case RECORDED_WAIT:
        return linked_take_event(process, recorded);
    case RECORDED_LANE:
    case RECORDED_LANE_AS:
    case RECORDED_HOST_LANE:
    case RECORDED_UNPROMISED:
        return linked_take_lane(process, recorded);
    case RECORDED_LANE_DESTROY:
        return linked_take_lane_destroy(process, recorded->value[FIELD_LANE]);
    case RECORDED_LANE_KIND:
    case RECORDED_LANE_NAME:
        return linked_take_lane_words(process, recorded);
    case RECORDED_BIRTH:
        return linked_take_birth(process, recorded);
    case RECORDED_FREE_BEGIN:
        shared_memory_remove(&process->shared, recorded->value[FIELD_BASE], 0);
        return NULL;
    case RECORDED_FREE_END:
        if (recorded->value[FIELD_FLAGS] & RECORDED_WAITED)
            linked_host_waits_for_all(process);
        return NULL;
    case RECORDED_LINK:
        return linked_take_link(process, recorded);
    default:
        return NULL;
    }
}

const char *linked_process_take(struct linked_process *process, const struct recorded *recorded)
{
    process->linked->now = process->number;
    process->ops += is_op(recorded);
    switch (recorded->kind) {
    case RECORDED_CONTEXT:
        process->branched = recorded->value[FIELD_CONTEXT] != 0;
        return NULL;
    case RECORDED_SITE:
    case RECORDED_LAUNCHED_SITE:
    case RECORDED_STACK:
    case RECORDED_MODULE:
    case RECORDED_SOURCE_LINE:
    case RECORDED_KERNEL:
        return take_definition(process, recorded);
    default:
        return process->branched ? NULL : take_ordered(process, recorded);
    }
}
