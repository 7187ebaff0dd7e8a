/* What each entry of a recording does. See replay.h; replay_numbers.c has what its numbers stand
 * for. */
#define HASH_NONFATAL_OOM 1
#include "csan/replay/replay.h"
#include "csan/detector/context.h"
#include "csan/detector/named_range.h"
#include "csan/recording/recording_finding.h"
#include "csan/replay/replay_state.h"
#include "csan/detector/steps.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

enum { PROGRESS_ENTRIES = 4096 };

static const char no_memory[] = "there is no memory for it";

/* ---- named ranges */

/* The thread that replays acts for the one that made the ops. */
static void take_ranges(struct replay *replay, const char *text)
{
    struct range_path *before = replay->ranges;
    replay->ranges = range_path_create(text);
    named_range_act((struct range_actor){.acts = true, .path = replay->ranges});
    range_path_release(before);
}

void replay_ranges_end(struct replay *replay)
{
    if (replay->ranges)
        named_range_act((struct range_actor){.acts = false});
    range_path_release(replay->ranges);
}

/* ---- ops */

static const char *take_op(struct replay *replay, const struct recorded *recorded, csan_lane lane)
{
    const struct recording_set *set = recorded->set;
    csan_context *context = replay->current->context;
    csan_site site;
    if (!replay_definitions_site(&replay->definitions, set->site, &site))
        return "an op of a site that is not defined";
    if (recorded->kind == RECORDED_OP) {
        csan_op(context, lane, site, set->level, set->accesses, set->count);
        return NULL;
    }
    uint64_t own = csan_op_pending(context, lane, site, set->level, set->accesses, set->count);
    struct ticket *ticket = own ? calloc(1, sizeof *ticket) : NULL;
    if (!ticket)
        return own ? no_memory : NULL;
    ticket->key = (struct ticket_key){recorded->value[FIELD_TICKET], replay->context};
    ticket->own = own;
    struct ticket *former;
    HASH_FIND(hh, replay->tickets, &ticket->key, sizeof ticket->key, former);
    if (!former)
        HASH_ADD(hh, replay->tickets, key, sizeof ticket->key, ticket);
    if (former || !ticket->hh.tbl) {
        free(ticket);
        return former ? "a ticket that is there already" : no_memory;
    }
    return NULL;
}

static const char *take_judged(struct replay *replay, const struct recorded *recorded,
                               csan_lane lane)
{
    const struct recording_set *set = recorded->set;
    const uint64_t what = recorded->value[FIELD_FLAGS];
    struct context_call call = {.what = (enum context_judged)what,
                                .lane = lane,
                                .level = set->level,
                                .accesses = set->accesses,
                                .access_count = set->count,
                                .pointer = recorded->value[FIELD_ADDRESS]};
    if (what > CONTEXT_WRONG_POINTER)
        return "what is judged is nothing that can be";
    if (!replay_definitions_site(&replay->definitions, set->site, &call.site))
        return "a call of a site that is not defined";
    context_judge(replay->current->context, &call);
    return NULL;
}

/* False: one of its sites is not defined. */
static bool take_held(const struct replay *replay, struct csan_out_of_memory *out_of_memory)
{
    for (size_t i = 0; i < out_of_memory->held_count; i++) {
        struct csan_held *held = &out_of_memory->held[i];
        if (!replay_definitions_site(&replay->definitions, held->site, &held->site))
            return false;
        held->name = context_site_stack(replay->current->context, held->site, &held->frames,
                                        &held->frame_count);
    }
    return true;
}

static const char *take_finding(struct replay *replay, const struct recorded *recorded,
                                csan_lane lane)
{
    struct context_finding finding = {.lane = lane,
                                      .address = recorded->value[FIELD_ADDRESS],
                                      .bytes = recorded->value[FIELD_BYTES]};
    struct csan_out_of_memory out_of_memory;
    if (!recording_finding_get(recorded->texts, recorded->count, &finding, &out_of_memory))
        return "a finding of a kind that cannot be";
    if (!replay_definitions_site(&replay->definitions, recorded->value[FIELD_SITE],
                                 &finding.site) ||
        !replay_definitions_site(&replay->definitions, recorded->value[FIELD_LAST],
                                 &finding.reported) ||
        !take_held(replay, &out_of_memory))
        return "a finding of a site that is not defined";
    context_find(replay->current->context, &finding);
    return NULL;
}

/* The op's lane may have ended since, and is not used again before. */
static const char *take_host_change(struct replay *replay, const struct recorded *recorded,
                                    csan_lane lane)
{
    const struct recording_set *set = recorded->set;
    struct context_host_change change = {.lane = lane,
                                         .op_lane = (csan_lane)recorded->value[FIELD_OTHER],
                                         .op_sequence = recorded->value[FIELD_LAST],
                                         .op = recorded->value[FIELD_FIRST],
                                         .op_level = set->level};
    if (set->count != 1)
        return "a change by the host that is none";
    change.access = set->accesses[0];
    replay_lane_of(replay, recorded->value[FIELD_OTHER], &change.op_lane);
    if (!replay_definitions_site(&replay->definitions, recorded->value[FIELD_SITE], &change.site) ||
        !replay_definitions_site(&replay->definitions, set->site, &change.op_site))
        return "a change by the host of a site that is not defined";
    context_host_changed(replay->current->context, &change);
    return NULL;
}

static const char *take_resolve(struct replay *replay, const struct recorded *recorded)
{
    const struct recording_set *set = recorded->set;
    struct ticket_key key = {recorded->value[FIELD_TICKET], replay->context};
    struct ticket *ticket;
    HASH_FIND(hh, replay->tickets, &key, sizeof key, ticket);
    if (!ticket)
        return NULL; /* it had been taken with its fallback at once */
    csan_op_resolve(replay->current->context, ticket->own, set->level, set->accesses, set->count);
    HASH_DEL(replay->tickets, ticket);
    free(ticket);
    return NULL;
}

/* ---- order */

static const char no_such_lane[] = "a lane that is not there";
static const char no_such_snapshot[] = "a snapshot that is not there";
static const char no_such_event[] = "an event that is not there";

static const char *take_snapshot(struct replay *replay, const struct recorded *recorded,
                                 csan_lane lane)
{
    csan_context *context = replay->current->context;
    uint64_t number = recorded->value[FIELD_SNAPSHOT];
    csan_snapshot *snapshot;
    if (recorded->kind == RECORDED_SNAPSHOT_ALL) {
        snapshot = csan_snapshot_take_all(context);
    } else if (recorded->kind == RECORDED_PROMISE) {
        snapshot = csan_snapshot_promise(context);
    } else if (recorded->kind == RECORDED_SNAPSHOT_EVENT) {
        const struct object *event =
            replay_object_of(replay, &replay->events, recorded->value[FIELD_EVENT]);
        if (!event)
            return no_such_event;
        snapshot = csan_event_snapshot(context, event->handle);
    } else {
        snapshot = csan_snapshot_take(context, lane);
    }
    const char *wrong =
        replay_object_add(replay, &replay->snapshots, number, OBJECT_SNAPSHOT, snapshot);
    if (wrong && snapshot)
        csan_snapshot_release(context, snapshot);
    return wrong;
}

static const char *take_join(struct replay *replay, const struct recorded *recorded, csan_lane lane)
{
    csan_context *context = replay->current->context;
    struct object *snapshot =
        replay_object_of(replay, &replay->snapshots, recorded->value[FIELD_SNAPSHOT]);
    if (!snapshot)
        return no_such_snapshot;
    if (recorded->kind == RECORDED_RELEASE)
        replay_object_end(replay, snapshot);
    else if (recorded->kind == RECORDED_JOIN)
        csan_snapshot_join(context, lane, snapshot->handle);
    else if (snapshot->handle)
        csan_snapshot_keep(context, snapshot->handle, lane);
    return NULL;
}

static const char *take_event(struct replay *replay, const struct recorded *recorded,
                              csan_lane lane)
{
    csan_context *context = replay->current->context;
    uint64_t number = recorded->value[FIELD_EVENT];
    if (recorded->kind == RECORDED_EVENT) {
        csan_event *made = csan_event_create(context);
        const char *wrong =
            made ? replay_object_add(replay, &replay->events, number, OBJECT_EVENT, made)
                 : no_memory;
        if (wrong)
            csan_event_destroy(context, made);
        return wrong;
    }
    struct object *event = replay_object_of(replay, &replay->events, number);
    if (!event)
        return no_such_event;
    if (recorded->kind == RECORDED_EVENT_DESTROY)
        replay_object_end(replay, event);
    else if (recorded->kind == RECORDED_RECORD)
        csan_event_record(context, event->handle, lane);
    else
        csan_event_wait(context, event->handle, lane);
    return NULL;
}

static const char *take_record_snapshot(struct replay *replay, const struct recorded *recorded)
{
    const struct object *event =
        replay_object_of(replay, &replay->events, recorded->value[FIELD_EVENT]);
    const struct object *snapshot =
        replay_object_of(replay, &replay->snapshots, recorded->value[FIELD_SNAPSHOT]);
    if (!event || !snapshot)
        return event ? no_such_snapshot : no_such_event;
    if (snapshot->handle)
        csan_event_record_snapshot(replay->current->context, event->handle, snapshot->handle);
    return NULL;
}

/* ---- lanes and branches */

/* A call whose waits nobody promises; its name lives as long as the replay. */
static csan_lane unpromised_lane(struct replay *replay, const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct call_name *name = malloc(sizeof *name + bytes);
    if (!name)
        return CSAN_NO_LANE;
    memcpy(name->text, text, bytes);
    LL_PREPEND(replay->call_names, name);
    return context_unpromised_lane(replay->current->context, name->text);
}

static const char *take_lane(struct replay *replay, const struct recorded *recorded)
{
    struct numbers *lanes = &replay->current->lanes;
    uint64_t number = recorded->value[FIELD_LANE];
    if (number == CSAN_HOST ||
        !replay_grow((void **)&lanes->items, &lanes->capacity, sizeof *lanes->items, number))
        return "a lane with a number that cannot be";
    if (lanes->items[number])
        return "a lane is made that is there already";
    const uint64_t role =
        recorded->kind == RECORDED_LANE_AS ? recorded->value[FIELD_FLAGS] : CSAN_LANE_STREAM;
    if (role > CSAN_LANE_CALL)
        return "a lane stands for what cannot be";
    csan_context *context = replay->current->context;
    csan_lane lane;
    if (recorded->kind == RECORDED_UNPROMISED)
        lane = unpromised_lane(replay, recorded->text);
    else if (recorded->kind == RECORDED_HOST_LANE)
        lane = csan_lane_create_host(context, recorded->text,
                                     recorded->value[FIELD_FLAGS] ? CSAN_HOST_SYNC_OBJECT
                                                                  : CSAN_HOST_THREAD);
    else
        lane = csan_lane_create_as(context, (enum csan_lane_role)role,
                                   recorded->value[FIELD_HANDLE], recorded->text, CSAN_HOST);
    if (lane == CSAN_NO_LANE)
        return no_memory;
    lanes->items[number] = lane + 1;
    return NULL;
}

static const char *take_lane_words(struct replay *replay, const struct recorded *recorded,
                                   csan_lane lane)
{
    csan_context *context = replay->current->context;
    const uint64_t kind = recorded->value[FIELD_FLAGS];
    csan_lane whole;
    csan_site created;
    if (recorded->kind == RECORDED_LANE_NAME) {
        csan_lane_name(context, lane, recorded->text);
        return NULL;
    }
    if (recorded->kind == RECORDED_LANE_PART) {
        if (!replay_lane_of(replay, recorded->value[FIELD_OTHER], &whole))
            return no_such_lane;
        csan_lane_part_of(context, lane, whole);
        return NULL;
    }
    if ((kind > CSAN_LANE_PER_THREAD && kind != CSAN_LANE_REQUEST && kind != CSAN_LANE_GRID) ||
        !replay_definitions_site(&replay->definitions, recorded->value[FIELD_SITE], &created))
        return "a kind of lane that cannot be";
    csan_lane_describe(context, lane, (enum csan_lane_kind)kind, created);
    return NULL;
}

static const char *take_step(struct replay *replay, const struct recorded *recorded, csan_lane lane)
{
    const uint64_t kind = recorded->value[FIELD_FLAGS];
    const struct step step = {.kind = (uint8_t)kind};
    uint64_t detail = recorded->value[FIELD_LAST];
    csan_site site, name;
    if (kind == 0 || kind >= CSAN_STEP_KINDS)
        return "a step that cannot be";
    if (!replay_definitions_site(&replay->definitions, recorded->value[FIELD_SITE], &site))
        return "a step of a site that is not defined";
    if (step_is_of_event(&step)) {
        if (!replay_definitions_site(&replay->definitions, detail, &name))
            return "a step of an event whose name is not defined";
        detail = name;
    }
    csan_step(replay->current->context, lane, (enum csan_step_kind)kind,
              recorded->value[FIELD_FIRST], detail, site);
    return NULL;
}

static const char *take_lane_destroy(struct replay *replay, const struct recorded *recorded,
                                     csan_lane lane)
{
    if (lane == CSAN_HOST)
        return "the host's lane ends";
    csan_lane_destroy(replay->current->context, lane);
    replay->current->lanes.items[recorded->value[FIELD_LANE]] = 0;
    return NULL;
}

static void set_time(const struct replay *replay)
{
    context_set_time(replay->current->context, replay->now,
                     replay->wall_offset ? replay->now + replay->wall_offset : CSAN_TIME_UNKNOWN);
}

static const char *take_context(struct replay *replay, uint64_t number)
{
    if (number >= replay->branch_capacity || !replay->branches[number].live)
        return "a branch that is not there";
    replay->current = &replay->branches[number];
    replay->context = (uint32_t)number;
    set_time(replay);
    return NULL;
}

static const char *take_branch(struct replay *replay, const struct recorded *recorded)
{
    uint64_t number = recorded->value[FIELD_CONTEXT];
    if (recorded->value[FIELD_PARENT] != 0)
        return "a branch of a branch";
    if (!replay_grow((void **)&replay->branches, &replay->branch_capacity, sizeof *replay->branches,
                     number))
        return "a branch with a number that cannot be";
    replay->current = &replay->branches[replay->context]; /* they may have moved */
    if (replay->branches[number].live)
        return "a branch is made that is there already";
    csan_context *branch = csan_context_branch(replay->branches[0].context);
    if (!branch)
        return no_memory;
    replay->branches[number] = (struct branch){.context = branch, .live = true};
    return NULL;
}

static const char *take_branch_end(struct replay *replay, uint64_t number)
{
    if (number == 0 || number >= replay->branch_capacity || !replay->branches[number].live ||
        number == replay->context)
        return "the end of a branch that is not there";
    replay_branch_end(replay, (uint32_t)number);
    return NULL;
}

/* ---- memory */

static const char *take_free_begin(struct replay *replay, const struct recorded *recorded,
                                   csan_lane lane, csan_site site)
{
    csan_context *context = replay->current->context;
    const uint64_t flags = recorded->value[FIELD_FLAGS];
    const uint32_t before = context_ignore_swap((flags & RECORDED_IGNORED) != 0);
    csan_free *token = csan_memory_free_begin(context, recorded->value[FIELD_BASE], lane,
                                              flags & RECORDED_CHECKED, site);
    context_ignore_swap(before);
    if (!token)
        return "memory is freed that is not there";
    const char *wrong =
        replay_object_add(replay, &replay->frees, recorded->value[FIELD_FREE], OBJECT_FREE, token);
    if (wrong)
        csan_memory_free_end(context, token, 1, 0);
    return wrong;
}

static const char *take_free_end(struct replay *replay, const struct recorded *recorded)
{
    struct object *token = replay_object_of(replay, &replay->frees, recorded->value[FIELD_FREE]);
    uint64_t flags = recorded->value[FIELD_FLAGS];
    if (!token)
        return "a free ends that has not begun";
    csan_memory_free_end(replay->current->context, token->handle, flags & RECORDED_FAILED,
                         flags & RECORDED_WAITED      ? CSAN_FREE_WAITED
                         : flags & RECORDED_FORGOTTEN ? CSAN_FREE_FORGOTTEN
                                                      : CSAN_FREE_NO_WAIT);
    token->kind = OBJECT_NONE;
    return NULL;
}

static const char *take_memory(struct replay *replay, const struct recorded *recorded,
                               csan_lane lane)
{
    csan_context *context = replay->current->context;
    uint64_t base = recorded->value[FIELD_BASE], bytes = recorded->value[FIELD_BYTES];
    uint64_t kind = recorded->value[FIELD_MEMORY];
    csan_site site;
    if (!replay_definitions_site(&replay->definitions, recorded->value[FIELD_SITE], &site))
        return "memory of a site that is not defined";
    if (recorded->kind == RECORDED_FREE_BEGIN)
        return take_free_begin(replay, recorded, lane, site);
    if (recorded->kind == RECORDED_POOL_FREE)
        csan_memory_pool_free(context, base, lane, site);
    else if (recorded->kind == RECORDED_POOL_ALLOC)
        csan_memory_pool_alloc(context, base, bytes, lane, site);
    else if (kind > CSAN_MEMORY_VARIABLE ||
             csan_memory_create(context, (enum csan_memory_kind)kind, base, bytes, lane, site) != 0)
        return "memory that cannot be";
    return NULL;
}

/* ---- all of them */

static const char *take_time(struct replay *replay, uint64_t nanoseconds)
{
    replay->now += nanoseconds;
    if (replay->now < nanoseconds || !replay->now)
        return "a time that cannot be";
    set_time(replay);
    return NULL;
}

static const char *take_on_lane(struct replay *replay, const struct recorded *recorded)
{
    csan_lane lane, other;
    if (!replay_lane_of(replay, recorded->value[FIELD_LANE], &lane))
        return no_such_lane;
    switch (recorded->kind) {
    case RECORDED_OP:
    case RECORDED_OP_PENDING:
        return take_op(replay, recorded, lane);
    case RECORDED_JOIN_LANE:
        if (!replay_lane_of(replay, recorded->value[FIELD_OTHER], &other))
            return no_such_lane;
        csan_lane_waits(replay->current->context, lane, other);
        return NULL;
    case RECORDED_SAME_OPERATOR:
        if (!replay_lane_of(replay, recorded->value[FIELD_OTHER], &other))
            return NULL; /* it ended since */
        csan_op_same_operator(replay->current->context, lane, other, recorded->value[FIELD_FIRST],
                              recorded->value[FIELD_LAST]);
        return NULL;
    case RECORDED_SNAPSHOT:
        return take_snapshot(replay, recorded, lane);
    case RECORDED_JOIN:
    case RECORDED_KEEP:
        return take_join(replay, recorded, lane);
    case RECORDED_RECORD:
    case RECORDED_WAIT:
        return take_event(replay, recorded, lane);
    case RECORDED_LANE_DESTROY:
        return take_lane_destroy(replay, recorded, lane);
    case RECORDED_LANE_KIND:
    case RECORDED_LANE_NAME:
    case RECORDED_LANE_PART:
        return take_lane_words(replay, recorded, lane);
    case RECORDED_STEP:
        return take_step(replay, recorded, lane);
    case RECORDED_JUDGED:
        return take_judged(replay, recorded, lane);
    case RECORDED_FINDING:
        return take_finding(replay, recorded, lane);
    case RECORDED_HOST_CHANGE:
        return take_host_change(replay, recorded, lane);
    case RECORDED_LINK: /* orders nothing within a process */
        return recorded->value[FIELD_FLAGS] - 1 < CSAN_LINK_KINDS - 1
                   ? NULL
                   : "a link of a kind that cannot be";
    default:
        return take_memory(replay, recorded, lane);
    }
}

const char *replay_take(struct replay *replay, const struct recorded *recorded)
{
    switch (recorded->kind) {
    case RECORDED_RESOLVE:
        return take_resolve(replay, recorded);
    case RECORDED_SNAPSHOT_ALL:
    case RECORDED_SNAPSHOT_EVENT:
    case RECORDED_PROMISE:
        return take_snapshot(replay, recorded, CSAN_HOST);
    case RECORDED_RELEASE:
        return take_join(replay, recorded, CSAN_HOST);
    case RECORDED_EVENT:
    case RECORDED_EVENT_DESTROY:
        return take_event(replay, recorded, CSAN_HOST);
    case RECORDED_RECORD_SNAPSHOT:
        return take_record_snapshot(replay, recorded);
    case RECORDED_LANE:
    case RECORDED_UNPROMISED:
    case RECORDED_HOST_LANE:
    case RECORDED_LANE_AS:
        return take_lane(replay, recorded);
    case RECORDED_FREE_END:
        return take_free_end(replay, recorded);
    case RECORDED_DRAIN:
        csan_context_drain(replay->current->context);
        return NULL;
    case RECORDED_CLOCK:
        replay->wall_offset = recorded->value[FIELD_NANOSECONDS] - replay->now;
        return NULL;
    case RECORDED_RANGES:
        take_ranges(replay, recorded->text);
        return NULL;
    case RECORDED_FRAMEWORK:
        context_set_framework(replay->branches[0].context);
        return NULL;
    case RECORDED_CLEAR:
        csan_context_races_clear(replay->branches[0].context);
        return NULL;
    case RECORDED_CONTEXT:
        return take_context(replay, recorded->value[FIELD_CONTEXT]);
    case RECORDED_BRANCH:
        return take_branch(replay, recorded);
    case RECORDED_BRANCH_END:
        return take_branch_end(replay, recorded->value[FIELD_CONTEXT]);
    case RECORDED_TIME:
        return take_time(replay, recorded->value[FIELD_NANOSECONDS]);
    case RECORDED_AT: /* changes nothing */
        return NULL;
    case RECORDED_SITE:
    case RECORDED_LAUNCHED_SITE:
    case RECORDED_STACK:
    case RECORDED_MODULE:
    case RECORDED_SOURCE_LINE:
    case RECORDED_KERNEL:
        return replay_definitions_take(&replay->definitions, replay->branches[0].context, recorded);
    default:
        return take_on_lane(replay, recorded);
    }
}

enum recorded_status replay_run(struct replay *replay, struct recording_reader *reader,
                                int (*progress)(void *user), void *user)
{
    struct recorded recorded;
    enum recorded_status status;
    uint64_t entries = 0;
    while ((status = recording_reader_next(reader, &recorded)) == RECORDED_ENTRY) {
        const char *wrong = replay_take(replay, &recorded);
        if (wrong) {
            status = recording_reader_refuse(reader, wrong);
            break;
        }
        if (++entries % PROGRESS_ENTRIES == 0 && progress && !progress(user))
            break;
    }
    csan_context_drain(replay->branches[0].context);
    return status;
}

struct module_map *replay_modules(struct replay *replay)
{
    return &replay->definitions.modules;
}

const struct replay_definitions *replay_definitions_of(const struct replay *replay)
{
    return &replay->definitions;
}
