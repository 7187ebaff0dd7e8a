/* The lanes of a linked process, and what orders them: its joins, snapshots and events. See
 * linked_state.h. */
#include "csan/detector/context.h"
#include "csan/replay/linked_state.h"

#include <stdio.h>

enum { LETTERS = 26 };

/* ---- Numbers -----------------------------------------------------------------------------------
 */

struct mapped_lane *linked_lane_of(const struct linked_process *process, uint64_t number)
{
    if (number == CSAN_HOST)
        return (struct mapped_lane *)(uintptr_t)&process->host_lane; /* as the others are */
    return number < process->lane_capacity && process->lanes[number].lane ? &process->lanes[number]
                                                                          : NULL;
}

static csan_snapshot *snapshot_of(const struct linked_process *process, uint64_t number)
{
    return number < process->snapshot_capacity ? process->snapshots[number] : NULL;
}

static const char *snapshot_keep(struct linked_process *process, uint64_t number,
                                 csan_snapshot *snapshot)
{
    if (!replay_grow((void **)&process->snapshots, &process->snapshot_capacity,
                     sizeof(csan_snapshot *), number) ||
        process->snapshots[number]) {
        if (snapshot)
            csan_snapshot_release(process->linked->context, snapshot);
        return "a snapshot with a number that cannot be";
    }
    process->snapshots[number] = snapshot;
    return NULL;
}

/* What the host enqueues comes after what it knows. */
void linked_join_host(const struct linked_process *process, const struct mapped_lane *lane)
{
    if (!lane->host && lane->role != CSAN_LANE_CALL)
        csan_lane_waits(process->linked->context, lane->lane - 1, process->host);
}

/* ---- Lanes -------------------------------------------------------------------------------------
 */

const char *linked_take_lane(struct linked_process *process, const struct recorded *recorded)
{
    csan_context *context = process->linked->context;
    const uint64_t number = recorded->value[FIELD_LANE], flags = recorded->value[FIELD_FLAGS];
    char label[2 * LINKED_NAME_BYTES];
    if (number == CSAN_HOST || !replay_grow((void **)&process->lanes, &process->lane_capacity,
                                            sizeof *process->lanes, number))
        return "a lane with a number that cannot be";
    struct mapped_lane lane = {.host = recorded->kind == RECORDED_HOST_LANE,
                               .passed_by = recorded->kind == RECORDED_UNPROMISED};
    if (recorded->kind == RECORDED_LANE_AS)
        lane.role = (uint8_t)flags;
    snprintf(label, sizeof label, "%.95s of %s", recorded->text, process->name);
    if (lane.passed_by)
        lane.lane = CSAN_HOST + 1;
    else if (lane.host)
        lane.lane = 1 + csan_lane_create_host(context, label,
                                              flags ? CSAN_HOST_SYNC_OBJECT : CSAN_HOST_THREAD);
    else
        lane.lane = 1 + csan_lane_create_as(context, (enum csan_lane_role)lane.role,
                                            recorded->value[FIELD_HANDLE], label, process->host);
    if (!lane.lane)
        return linked_no_memory;
    process->lanes[number] = lane;
    return NULL;
}

/* "B" of the process's second stream. */
static void letter_of(uint32_t number, char *text, size_t bytes)
{
    if (number < LETTERS)
        snprintf(text, bytes, "%c", (char)('A' + number));
    else
        snprintf(text, bytes, "%c%c", (char)('A' + number / LETTERS % LETTERS - 1),
                 (char)('A' + number % LETTERS));
}

const char *linked_take_lane_words(struct linked_process *process, const struct recorded *recorded)
{
    struct mapped_lane *lane = linked_lane_of(process, recorded->value[FIELD_LANE]);
    csan_context *context = process->linked->context;
    char text[2 * LINKED_NAME_BYTES], letter[8] = "";
    const uint64_t kind = recorded->value[FIELD_FLAGS];
    csan_site created = 0;
    if (!lane)
        return linked_no_such_lane;
    if (lane->passed_by || lane->host)
        return NULL;
    if (recorded->kind == RECORDED_LANE_NAME) {
        snprintf(text, sizeof text, "%.95s of %s", recorded->text, process->name);
        csan_lane_name(context, lane->lane - 1, text);
        return NULL;
    }
    lane->request = kind == CSAN_LANE_REQUEST;
    replay_definitions_site(&process->definitions, recorded->value[FIELD_SITE], &created);
    if (kind != CSAN_LANE_BLOCKING && kind != CSAN_LANE_NON_BLOCKING && kind != CSAN_LANE_LEGACY)
        return NULL;
    csan_lane_describe(context, lane->lane - 1, (enum csan_lane_kind)kind, created);
    if (kind == CSAN_LANE_LEGACY) {
        csan_lane_name(context, lane->lane - 1, process->name);
        return NULL;
    }
    letter_of(process->letters++, letter, sizeof letter);
    snprintf(text, sizeof text, "%s of %s", letter, process->name);
    csan_lane_name(context, lane->lane - 1, text);
    return NULL;
}

const char *linked_take_lane_destroy(struct linked_process *process, uint64_t number)
{
    struct mapped_lane *lane = linked_lane_of(process, number);
    if (number == CSAN_HOST || !lane)
        return linked_no_such_lane;
    if (!lane->passed_by) {
        /* a wait for the whole device covers what a stream did before it was destroyed */
        if (!lane->request && !lane->host)
            csan_lane_waits(process->linked->context, process->all, lane->lane - 1);
        csan_lane_destroy(process->linked->context, lane->lane - 1);
    }
    *lane = (struct mapped_lane){0};
    return NULL;
}

/* All that the process's lanes did, but for its host threads and requests. */
static void learn_all(struct linked_process *process)
{
    for (size_t i = 0; i < process->lane_capacity; i++) {
        const struct mapped_lane *lane = &process->lanes[i];
        if (lane->lane && !lane->host && !lane->request && !lane->passed_by)
            csan_lane_waits(process->linked->context, process->all, lane->lane - 1);
    }
}

void linked_host_waits_for_all(struct linked_process *process)
{
    learn_all(process);
    csan_lane_waits(process->linked->context, process->host, process->all);
}

/* ---- Order -------------------------------------------------------------------------------------
 */

const char *linked_take_snapshot(struct linked_process *process, const struct recorded *recorded)
{
    csan_context *context = process->linked->context;
    const uint64_t event = recorded->value[FIELD_EVENT];
    csan_snapshot *snapshot = NULL;
    const struct mapped_lane *lane;
    switch (recorded->kind) {
    case RECORDED_SNAPSHOT_ALL:
        learn_all(process);
        snapshot = csan_snapshot_take(context, process->all);
        break;
    case RECORDED_PROMISE:
        snapshot = csan_snapshot_promise(context);
        break;
    case RECORDED_SNAPSHOT_EVENT:
        if (event < process->event_capacity && process->events[event])
            snapshot = csan_event_snapshot(context, process->events[event]);
        break;
    default:
        lane = linked_lane_of(process, recorded->value[FIELD_LANE]);
        if (!lane)
            return linked_no_such_lane;
        if (!lane->passed_by)
            snapshot = csan_snapshot_take(context, lane->lane - 1);
        break;
    }
    return snapshot_keep(process, recorded->value[FIELD_SNAPSHOT], snapshot);
}

const char *linked_take_join(struct linked_process *process, const struct recorded *recorded)
{
    csan_context *context = process->linked->context;
    const uint64_t number = recorded->value[FIELD_SNAPSHOT];
    csan_snapshot *snapshot = snapshot_of(process, number);
    if (!snapshot)
        return NULL; /* of an event that was never recorded */
    if (recorded->kind == RECORDED_RELEASE) {
        csan_snapshot_release(context, snapshot);
        process->snapshots[number] = NULL;
        return NULL;
    }
    const struct mapped_lane *lane = linked_lane_of(process, recorded->value[FIELD_LANE]);
    if (!lane)
        return linked_no_such_lane;
    if (lane->passed_by)
        return NULL;
    if (recorded->kind == RECORDED_JOIN)
        csan_snapshot_join(context, lane->lane - 1, snapshot);
    else
        csan_snapshot_keep(context, snapshot, lane->lane - 1);
    return NULL;
}

const char *linked_take_event(struct linked_process *process, const struct recorded *recorded)
{
    csan_context *context = process->linked->context;
    const uint64_t number = recorded->value[FIELD_EVENT];
    if (!replay_grow((void **)&process->events, &process->event_capacity, sizeof(csan_event *),
                     number))
        return "an event with a number that cannot be";
    csan_event **event = &process->events[number];
    if (recorded->kind == RECORDED_EVENT && !*event)
        return (*event = csan_event_create(context)) ? NULL : linked_no_memory;
    if (recorded->kind == RECORDED_EVENT || !*event)
        return "an event that cannot be";
    if (recorded->kind == RECORDED_EVENT_DESTROY) {
        csan_event_destroy(context, *event);
        *event = NULL;
        return NULL;
    }
    if (recorded->kind == RECORDED_RECORD_SNAPSHOT) {
        const csan_snapshot *snapshot = snapshot_of(process, recorded->value[FIELD_SNAPSHOT]);
        if (snapshot)
            csan_event_record_snapshot(context, *event, snapshot);
        return NULL;
    }
    const struct mapped_lane *lane = linked_lane_of(process, recorded->value[FIELD_LANE]);
    if (!lane)
        return linked_no_such_lane;
    linked_join_host(process, lane);
    if (recorded->kind == RECORDED_RECORD)
        csan_event_record(context, *event, lane->lane - 1);
    else if (!lane->passed_by)
        csan_event_wait(context, *event, lane->lane - 1);
    return NULL;
}

const char *linked_take_join_lane(struct linked_process *process, const struct recorded *recorded)
{
    const struct mapped_lane *lane = linked_lane_of(process, recorded->value[FIELD_LANE]);
    const struct mapped_lane *other = linked_lane_of(process, recorded->value[FIELD_OTHER]);
    if (!lane || !other)
        return linked_no_such_lane;
    if (!lane->passed_by && !other->passed_by)
        csan_lane_waits(process->linked->context, lane->lane - 1, other->lane - 1);
    return NULL;
}
