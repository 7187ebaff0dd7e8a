/* See linked_process.h. */
#define HASH_NONFATAL_OOM 1
#include "csan/replay/linked_process.h"
#include "csan/detector/context.h"
#include "csan/replay/shared_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum { LETTERS = 26, NAME_BYTES = 96, FRAMES_MAX = 256 };

/* A lane of the recording. */
struct mapped_lane {
    csan_lane lane; /* + 1; 0: there is none */
    uint8_t role;   /* enum csan_lane_role */
    bool host;      /* the host, a thread of it, or what threads synchronize by */
    bool request;
    bool passed_by; /* it orders nothing and does nothing */
};

/* An op whose access set comes later. */
struct linked_ticket {
    uint64_t number, own;
    UT_hash_handle hh;
};

struct linked_process {
    struct linked *linked;
    const struct link_process *links;
    size_t number;
    char name[NAME_BYTES / 2];
    csan_lane host, all; /* `all`: a lane that learns what every lane of the process did */
    struct mapped_lane *lanes;
    size_t lane_capacity;
    csan_snapshot **snapshots;
    size_t snapshot_capacity;
    csan_event **events;
    size_t event_capacity;
    csan_snapshot **sources; /* records of shared events and handles made, while others want them */
    size_t source_capacity;
    uint32_t *uses_left;
    size_t source_count, wanted_count, birth_count;
    struct shared_memory shared;
    struct linked_ticket *tickets; /* uthash */
    struct replay_definitions definitions;
    struct csan_access *accesses;
    size_t access_capacity;
    uint32_t letters;
    bool branched; /* inside a graph's nodes, which only their own process judges */
    bool ended;
};

static const char no_memory[] = "there is no memory for it";
static const char no_such_lane[] = "a lane that is not there";

/* ---- Life ------------------------------------------------------------------------------------ */

struct linked_process *linked_process_create(struct linked *linked, size_t number, const char *name)
{
    char label[NAME_BYTES];
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
    free(process->lanes);
    shared_memory_clear(&process->shared);
    free(process->accesses);
    free(process);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static struct mapped_lane *lane_of(struct linked_process *process, uint64_t number)
{
    static struct mapped_lane host;
    if (number == CSAN_HOST) {
        host = (struct mapped_lane){.lane = process->host + 1, .host = true};
        return &host;
    }
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
static void join_host(const struct linked_process *process, const struct mapped_lane *lane)
{
    if (!lane->host && lane->role != CSAN_LANE_CALL)
        csan_lane_waits(process->linked->context, lane->lane - 1, process->host);
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

static const char *take_lane(struct linked_process *process, const struct recorded *recorded)
{
    csan_context *context = process->linked->context;
    const uint64_t number = recorded->value[FIELD_LANE], flags = recorded->value[FIELD_FLAGS];
    char label[2 * NAME_BYTES];
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
        return no_memory;
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

static const char *take_lane_words(struct linked_process *process, const struct recorded *recorded,
                                   struct mapped_lane *lane)
{
    csan_context *context = process->linked->context;
    char text[2 * NAME_BYTES], letter[8] = "";
    const uint64_t kind = recorded->value[FIELD_FLAGS];
    csan_site created = 0;
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

static const char *take_lane_destroy(struct linked_process *process, uint64_t number)
{
    struct mapped_lane *lane = lane_of(process, number);
    if (number == CSAN_HOST || !lane)
        return no_such_lane;
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

/* ---- Order ----------------------------------------------------------------------------------- */

static const char *take_snapshot(struct linked_process *process, const struct recorded *recorded)
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
        lane = lane_of(process, recorded->value[FIELD_LANE]);
        if (!lane)
            return no_such_lane;
        if (!lane->passed_by)
            snapshot = csan_snapshot_take(context, lane->lane - 1);
        break;
    }
    return snapshot_keep(process, recorded->value[FIELD_SNAPSHOT], snapshot);
}

static const char *take_join(struct linked_process *process, const struct recorded *recorded)
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
    const struct mapped_lane *lane = lane_of(process, recorded->value[FIELD_LANE]);
    if (!lane)
        return no_such_lane;
    if (lane->passed_by)
        return NULL;
    if (recorded->kind == RECORDED_JOIN)
        csan_snapshot_join(context, lane->lane - 1, snapshot);
    else
        csan_snapshot_keep(context, snapshot, lane->lane - 1);
    return NULL;
}

static const char *take_event(struct linked_process *process, const struct recorded *recorded)
{
    csan_context *context = process->linked->context;
    const uint64_t number = recorded->value[FIELD_EVENT];
    if (!replay_grow((void **)&process->events, &process->event_capacity, sizeof(csan_event *),
                     number))
        return "an event with a number that cannot be";
    csan_event **event = &process->events[number];
    if (recorded->kind == RECORDED_EVENT && !*event)
        return (*event = csan_event_create(context)) ? NULL : no_memory;
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
    const struct mapped_lane *lane = lane_of(process, recorded->value[FIELD_LANE]);
    if (!lane)
        return no_such_lane;
    join_host(process, lane);
    if (recorded->kind == RECORDED_RECORD)
        csan_event_record(context, *event, lane->lane - 1);
    else if (!lane->passed_by)
        csan_event_wait(context, *event, lane->lane - 1);
    return NULL;
}

static const char *take_join_lane(struct linked_process *process, const struct recorded *recorded)
{
    const struct mapped_lane *found = lane_of(process, recorded->value[FIELD_LANE]);
    if (!found)
        return no_such_lane;
    const struct mapped_lane lane = *found; /* lane_of has one host's lane for both */
    const struct mapped_lane *other = lane_of(process, recorded->value[FIELD_OTHER]);
    if (!other)
        return no_such_lane;
    if (!lane.passed_by && !other->passed_by)
        csan_lane_waits(process->linked->context, lane.lane - 1, other->lane - 1);
    return NULL;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static const char *share(struct linked_process *process, uint64_t base, uint64_t bytes,
                         uint64_t unified)
{
    return !bytes || shared_memory_add(&process->shared, base, bytes, unified) ? NULL : no_memory;
}

static const char *take_birth(struct linked_process *process, const struct recorded *recorded)
{
    const uint64_t number = ++process->birth_count;
    const struct link_memory *memory = &process->links->births[number];
    csan_site site = 0;
    replay_definitions_site(&process->definitions, recorded->value[FIELD_SITE], &site);
    if (!memory->unified) {
        shared_memory_remove(&process->shared, recorded->value[FIELD_BASE]);
        return NULL;
    }
    csan_memory_create(process->linked->context, CSAN_MEMORY_DEVICE, memory->unified, memory->bytes,
                       CSAN_HOST, site);
    return share(process, recorded->value[FIELD_BASE], memory->bytes, memory->unified);
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
        return no_memory;
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

static const char *take_op(struct linked_process *process, const struct recorded *recorded)
{
    const struct mapped_lane *lane = lane_of(process, recorded->value[FIELD_LANE]);
    csan_site site;
    size_t count;
    if (!lane)
        return no_such_lane;
    if (!replay_definitions_site(&process->definitions, recorded->set->site, &site))
        return "an op of a site that is not defined";
    if (lane->passed_by)
        return NULL;
    join_host(process, lane);
    if (!translate_all(process, recorded->set, &count))
        return no_memory;
    if (recorded->kind == RECORDED_OP_PENDING && !shared_memory_is_empty(&process->shared))
        return take_pending(process, recorded, lane->lane - 1, site, count);
    if (count)
        csan_op(process->linked->context, lane->lane - 1, site, recorded->set->level,
                process->accesses, count);
    return NULL;
}

static const char *take_resolve(struct linked_process *process, const struct recorded *recorded)
{
    struct linked_ticket *ticket;
    size_t count;
    HASH_FIND(hh, process->tickets, &recorded->value[FIELD_TICKET], sizeof ticket->number, ticket);
    if (!ticket)
        return NULL;
    if (!translate_all(process, recorded->set, &count))
        return no_memory;
    csan_op_resolve(process->linked->context, ticket->own, recorded->set->level, process->accesses,
                    count);
    HASH_DEL(process->tickets, ticket);
    free(ticket);
    return NULL;
}

/* ---- Links ----------------------------------------------------------------------------------- */

bool linked_process_ready(const struct linked_process *process, const struct recorded *recorded,
                          struct linked_want *want)
{
    if (recorded->kind != RECORDED_LINK)
        return true;
    *want = (struct linked_want){.key = recorded->value[FIELD_HANDLE],
                                 .number = recorded->value[FIELD_FIRST]};
    const struct link_source *source;
    switch (recorded->value[FIELD_FLAGS]) {
    case CSAN_LINK_RECEIVE:
        want->what = WANT_MESSAGE;
        return message_table_count(process->linked->messages, want->key, want->number) != 0;
    case CSAN_LINK_LEAVE:
        want->what = WANT_COLLECTIVE;
        return message_table_count(process->linked->messages, want->key, 0) >= want->number;
    case CSAN_LINK_OPEN:
    case CSAN_LINK_WAIT:
        source = &process->links->wanted[process->wanted_count];
        want->what = recorded->value[FIELD_FLAGS] == CSAN_LINK_OPEN ? WANT_HANDLE : WANT_EVENT;
        want->process = source->process;
        return source->process == LINK_NONE ||
               process->linked->processes[source->process]->source_count > source->number;
    default:
        return true;
    }
}

/* A record of a shared event, or a handle that was made: kept for as many as will ask for it. */
static const char *take_source(struct linked_process *process, csan_lane lane)
{
    const size_t number = process->source_count++;
    if (!process->uses_left[number])
        return NULL;
    if (!replay_grow((void **)&process->sources, &process->source_capacity, sizeof(csan_snapshot *),
                     number))
        return no_memory;
    process->sources[number] = csan_snapshot_take(process->linked->context, lane);
    return NULL;
}

static void join_source(struct linked_process *process, csan_lane lane)
{
    const struct link_source source = process->links->wanted[process->wanted_count];
    if (source.process == LINK_NONE)
        return;
    struct linked_process *of = process->linked->processes[source.process];
    if (source.number >= of->source_count || !of->sources || !of->sources[source.number])
        return; /* it was waited for in vain */
    csan_snapshot_join(process->linked->context, lane, of->sources[source.number]);
    if (--of->uses_left[source.number] == 0) {
        csan_snapshot_release(process->linked->context, of->sources[source.number]);
        of->sources[source.number] = NULL;
    }
}

/* Another process's memory is there from here on. */
static const char *take_open(struct linked_process *process, const struct recorded *recorded)
{
    const uint64_t unified = process->links->opened[process->wanted_count];
    csan_context *context = process->linked->context;
    const uint64_t bytes = recorded->value[FIELD_BYTES];
    if (!unified)
        return NULL;
    if (!csan_memory_find(context, unified, NULL, NULL, NULL))
        csan_memory_create(context, CSAN_MEMORY_DEVICE, unified, bytes, CSAN_HOST, 0);
    return share(process, recorded->value[FIELD_ADDRESS], bytes, unified);
}

/* Memory that was there before the recording began. */
static const char *take_share(struct linked_process *process, const struct recorded *recorded)
{
    const uint64_t base = recorded->value[FIELD_ADDRESS];
    const struct link_memory *memory = &process->links->births[0];
    const uint64_t bytes = recorded->value[FIELD_BYTES];
    if (shared_memory_begins(&process->shared, base) || !memory->unified)
        return NULL;
    csan_memory_create(process->linked->context, CSAN_MEMORY_DEVICE, memory->unified, bytes,
                       CSAN_HOST, 0);
    return share(process, base, bytes, memory->unified);
}

static const char *take_link(struct linked_process *process, const struct recorded *recorded)
{
    struct message_table *messages = process->linked->messages;
    csan_context *context = process->linked->context;
    const struct mapped_lane *mapped = lane_of(process, recorded->value[FIELD_LANE]);
    const uint64_t key = recorded->value[FIELD_HANDLE], number = recorded->value[FIELD_FIRST];
    const char *wrong = NULL;
    if (!mapped || mapped->passed_by)
        return no_such_lane;
    const csan_lane lane = mapped->lane - 1;
    join_host(process, mapped);
    switch (recorded->value[FIELD_FLAGS]) {
    case CSAN_LINK_SEND:
        message_table_send(messages, key, number ? number : 1, csan_snapshot_take(context, lane));
        return NULL;
    case CSAN_LINK_ENTER:
        message_table_send(messages, key, 0, csan_snapshot_take(context, lane));
        return NULL;
    case CSAN_LINK_RECEIVE:
        message_table_receive(messages, key, number, 1, lane);
        return NULL;
    case CSAN_LINK_LEAVE:
        message_table_receive(messages, key, 0, recorded->value[FIELD_LAST], lane);
        return NULL;
    case CSAN_LINK_SHARE:
        wrong = take_share(process, recorded);
        return wrong ? wrong : take_source(process, lane);
    case CSAN_LINK_RECORD:
        return take_source(process, lane);
    case CSAN_LINK_OPEN:
        wrong = take_open(process, recorded);
        /* fall through */
    case CSAN_LINK_WAIT:
        join_source(process, lane);
        process->wanted_count++;
        return wrong;
    case CSAN_LINK_CLOSE:
        shared_memory_remove(&process->shared, recorded->value[FIELD_ADDRESS]);
        return NULL;
    default:
        return "a link of a kind that cannot be";
    }
}

/* ---- Definitions ----------------------------------------------------------------------------- */

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
    return site_note(linked, site, process->number) ? NULL : no_memory;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static const char *take_ordered(struct linked_process *process, const struct recorded *recorded)
{
    struct mapped_lane *lane;
    switch (recorded->kind) {
    case RECORDED_OP:
    case RECORDED_OP_PENDING:
        return take_op(process, recorded);
    case RECORDED_RESOLVE:
        return take_resolve(process, recorded);
    case RECORDED_JOIN_LANE:
        return take_join_lane(process, recorded);
    case RECORDED_SNAPSHOT:
    case RECORDED_SNAPSHOT_ALL:
    case RECORDED_SNAPSHOT_EVENT:
    case RECORDED_PROMISE:
        return take_snapshot(process, recorded);
    case RECORDED_JOIN:
    case RECORDED_KEEP:
    case RECORDED_RELEASE:
        return take_join(process, recorded);
    case RECORDED_EVENT:
    case RECORDED_EVENT_DESTROY:
    case RECORDED_RECORD:
    case RECORDED_RECORD_SNAPSHOT:
    case RECORDED_WAIT:
        return take_event(process, recorded);
    case RECORDED_LANE:
    case RECORDED_LANE_AS:
    case RECORDED_HOST_LANE:
    case RECORDED_UNPROMISED:
        return take_lane(process, recorded);
    case RECORDED_LANE_DESTROY:
        return take_lane_destroy(process, recorded->value[FIELD_LANE]);
    case RECORDED_LANE_KIND:
    case RECORDED_LANE_NAME:
        lane = lane_of(process, recorded->value[FIELD_LANE]);
        return lane ? take_lane_words(process, recorded, lane) : no_such_lane;
    case RECORDED_BIRTH:
        return take_birth(process, recorded);
    case RECORDED_FREE_BEGIN:
        shared_memory_remove(&process->shared, recorded->value[FIELD_BASE]);
        return NULL;
    case RECORDED_FREE_END:
        if (recorded->value[FIELD_FLAGS] & RECORDED_WAITED) {
            learn_all(process);
            csan_lane_waits(process->linked->context, process->host, process->all);
        }
        return NULL;
    case RECORDED_LINK:
        return take_link(process, recorded);
    default:
        return NULL;
    }
}

const char *linked_process_take(struct linked_process *process, const struct recorded *recorded)
{
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
