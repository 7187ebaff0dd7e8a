/* See added_order.h. */
#include "runtime/hook/run/added_order.h"
#include "csan/stack/code_place.h"
#include "driver_hooks.h"
#include "runtime/hook/run/added_edge.h"
#include "runtime/hook/run/added_stream.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/session/session.h"
#include "csan/base/lock_order.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A stream as a call names it. Default streams are one for each context, or each thread. */
struct stream_key {
    CUstream stream;
    uint64_t owner;
};

/* The newest event of an order on one stream. */
struct added_record {
    struct stream_key key;
    CUevent event;
    bool lent;     /* it is the program's */
    bool ended;    /* the stream is destroyed: another may bear its handle */
    bool gathered; /* another record stands for this one, too */
    struct added_record *next;
};

/* What unwinding found, and which place that is. */
struct known_place {
    uint64_t hash, place;
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t lock;
    struct added *orders;
    size_t count;
    struct known_place *places;
    void *stream_context, *push, *pop;
} added = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct added *added_orders(size_t *count)
{
    *count = added.count;
    return added.orders;
}

/* ---- The option ---- */

static const char *const prefixes[ADDED_KINDS] = {[ADDED_ORDER] = "",
                                                  [ADDED_HOST_WAIT] = "host-",
                                                  [ADDED_HOST_BEHIND] = "behind-",
                                                  [ADDED_NO_OVERLAP] = "no-overlap-",
                                                  [ADDED_STREAM] = "stream-",
                                                  [ADDED_STREAM_NUMBER] = "number-"};

/* From one place to another. */
static bool is_between(const struct added *order)
{
    return order->kind == ADDED_ORDER || order->kind == ADDED_HOST_WAIT;
}

/* Of one element, which ends at `end`. */
static bool parse(struct added *order, const char *text, const char *end)
{
    char *at;
    int kind = ADDED_KINDS - 1;
    while (kind && strncmp(text, prefixes[kind], strlen(prefixes[kind])) != 0)
        kind--;
    *order = (struct added){
        .kind = (enum added_kind)kind, .text = text, .text_bytes = (int)(end - text)};
    order->from = strtoull(text + strlen(prefixes[kind]), &at, 16);
    if (is_between(order) && *at == '-')
        order->to = strtoull(at + 1, &at, 16);
    else if (kind == ADDED_STREAM && *at == '-')
        order->number = (unsigned)strtoul(at + 1, &at, 10);
    return at == end && order->from && (!is_between(order) || order->to) &&
           (kind != ADDED_STREAM || order->number);
}

/* ---- Places ---- */

static uint64_t place_of_stack(const struct callsite_stack *stack)
{
    struct known_place *known = NULL;
    lock_order_take(LOCK_ADDED_ORDERS, &added.lock);
    HASH_FIND(hh, added.places, &stack->hash, sizeof stack->hash, known);
    const uint64_t found = known ? known->place : 0;
    lock_order_give(LOCK_ADDED_ORDERS, &added.lock);
    if (found)
        return found;
    const uint64_t place = code_place(NULL, stack->frames, stack->count);
    lock_order_take(LOCK_ADDED_ORDERS, &added.lock);
    HASH_FIND(hh, added.places, &stack->hash, sizeof stack->hash, known);
    if (!known && (known = calloc(1, sizeof *known)) != NULL) {
        known->hash = stack->hash;
        known->place = place;
        HASH_ADD(hh, added.places, hash, sizeof known->hash, known);
    }
    lock_order_give(LOCK_ADDED_ORDERS, &added.lock);
    return place;
}

/* As the hooks take a call's stack, so that it is the place of its site. */
static uint64_t place_here(const struct driver_entry *entry)
{
    struct callsite_stack room;
    const struct callsite_stack *stack = operator_stack();
    const bool transfer = entry && (strncmp(entry->name, "cuMemcpy", 8) == 0 ||
                                    strncmp(entry->name, "cuMemset", 8) == 0);
    if (stack)
        return place_of_stack(stack);
    if (entry && strncmp(entry->name, "cuMem", 5) == 0 && !transfer)
        callsite_capture_memory(&room);
    else
        callsite_capture(&room);
    return place_of_stack(&room);
}

/* ---- Streams and their events ---- */

static struct stream_key key_of(CUstream stream, bool thread_default)
{
    if (stream_is_of_thread(stream, thread_default))
        return (struct stream_key){CU_STREAM_PER_THREAD, (uint64_t)gettid()};
    if (stream == NULL || stream == CU_STREAM_LEGACY)
        return (struct stream_key){NULL, (uintptr_t)stream_current_context()};
    return (struct stream_key){stream, 0};
}

static bool same_key(struct stream_key a, struct stream_key b)
{
    return a.stream == b.stream && a.owner == b.owner;
}

/* With the lock. NULL: none yet. */
static struct added_record *record_find(const struct added *order, struct stream_key key)
{
    for (struct added_record *record = order->records; record; record = record->next)
        if (!record->ended && same_key(record->key, key))
            return record;
    return NULL;
}

static struct added_record *record_add(struct added *order, struct stream_key key)
{
    struct added_record *record = calloc(1, sizeof *record);
    if (!record)
        return NULL;
    record->key = key;
    record->next = order->records;
    order->records = record;
    return record;
}

/* An event is recorded in streams of its own context only (cuEventRecord). */
static CUcontext context_enter_of(CUstream stream)
{
    CUcontext context = NULL;
    PFN_cuStreamGetCtx_v9020 get =
        (PFN_cuStreamGetCtx_v9020)driver_function_cached(&added.stream_context, "cuStreamGetCtx");
    PFN_cuCtxPushCurrent_v4000 push =
        (PFN_cuCtxPushCurrent_v4000)driver_function_cached(&added.push, "cuCtxPushCurrent_v2");
    if (!stream || stream == CU_STREAM_PER_THREAD || !get || !push ||
        get(stream, &context) != CUDA_SUCCESS || context == stream_current_context() ||
        push(context) != CUDA_SUCCESS)
        return NULL;
    return context;
}

static void context_leave_of(CUcontext context)
{
    PFN_cuCtxPopCurrent_v4000 pop =
        (PFN_cuCtxPopCurrent_v4000)driver_function_cached(&added.pop, "cuCtxPopCurrent_v2");
    if (context && pop)
        pop(&context);
}

static CUevent event_create(CUstream stream)
{
    CUevent event = NULL;
    const struct driver_entry *entry = driver_entry_of_symbol("cuEventCreate");
    CUcontext context = context_enter_of(stream);
    if (!entry || hook_event_create(entry, &event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        event = NULL;
    context_leave_of(context);
    return event;
}

static const struct driver_entry *entry_of(const char *symbol, const char *per_thread,
                                           bool thread_default)
{
    return driver_entry_of_symbol(thread_default ? per_thread : symbol);
}

static void count(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* ---- Behind a call at FROM ---- */

static void record_own(struct added *order, const struct watched_call *call, struct stream_key key)
{
    const bool thread_default = call->entry->thread_default;
    const struct driver_entry *entry =
        entry_of("cuEventRecord", "cuEventRecord_ptsz", thread_default);
    lock_order_take(LOCK_ADDED_ORDERS, &added.lock);
    const struct added_record *known = record_find(order, key);
    CUevent event = known && !known->lent ? known->event : NULL;
    lock_order_give(LOCK_ADDED_ORDERS, &added.lock);
    if (!event)
        event = event_create(call->stream);
    if (!entry || !event || guarded_event_record(entry, event, call->stream) != CUDA_SUCCESS) {
        count(&order->failed);
        return;
    }
    count(&order->recorded);
    lock_order_take(LOCK_ADDED_ORDERS, &added.lock);
    struct added_record *record = record_find(order, key);
    if (!record)
        record = record_add(order, key);
    if (record) {
        record->event = event;
        record->lent = false;
    }
    lock_order_give(LOCK_ADDED_ORDERS, &added.lock);
}

/* The program records an event there: that one is waited for, as a person would. */
static void record_lent(struct added *order, const struct watched_call *call, struct stream_key key)
{
    lock_order_take(LOCK_ADDED_ORDERS, &added.lock);
    struct added_record *record = record_find(order, key);
    if (!record)
        record = record_add(order, key);
    if (record) {
        record->event = call->event;
        record->lent = true;
        order->recorded++;
    }
    lock_order_give(LOCK_ADDED_ORDERS, &added.lock);
}

static bool records(const struct watched_call *call)
{
    return call->event && call->has_stream && strncmp(call->entry->name, "cuEventRecord", 13) == 0;
}

static void record(struct added *order, const struct watched_call *call)
{
    const struct stream_key key = key_of(call->stream, call->entry->thread_default);
    if (!call->has_stream)
        return;
    if (stream_is_capturing(call->stream, call->entry->thread_default))
        count(&order->captured);
    else if (records(call))
        record_lent(order, call, key);
    else
        record_own(order, call, key);
}

/* ---- Before a call at TO ---- */

/* Events that a call waits for. */
struct events {
    CUevent *items;
    size_t count;
};

/* Those of all streams but `self`, the stream that waits, or NULL. Until events_done none of them
 * is destroyed. */
static struct events events_to_wait_for(struct added *order, const struct stream_key *self)
{
    struct events events = {NULL, 0};
    size_t room = 0;
    lock_order_take(LOCK_ADDED_ORDERS, &added.lock);
    order->waiting++;
    for (const struct added_record *at = order->records; at; at = at->next)
        room++;
    events.items = malloc((room + 1) * sizeof(CUevent));
    if (!events.items)
        count(&order->failed);
    for (const struct added_record *at = order->records; at && events.items; at = at->next)
        if (at->event && !(self && !at->ended && same_key(at->key, *self)))
            events.items[events.count++] = at->event;
    lock_order_give(LOCK_ADDED_ORDERS, &added.lock);
    return events;
}

static void events_done(struct added *order, struct events events)
{
    lock_order_take(LOCK_ADDED_ORDERS, &added.lock);
    order->waiting--;
    lock_order_give(LOCK_ADDED_ORDERS, &added.lock);
    free(events.items);
}

static void wait_in_stream(struct added *order, const struct watched_call *call)
{
    const bool thread_default = call->entry->thread_default;
    const struct stream_key key = key_of(call->stream, thread_default);
    const struct driver_entry *entry =
        entry_of("cuStreamWaitEvent", "cuStreamWaitEvent_ptsz", thread_default);
    if (stream_is_capturing(call->stream, thread_default)) {
        count(&order->captured);
        return;
    }
    const struct events events = events_to_wait_for(order, &key);
    for (size_t i = 0; i < events.count; i++)
        count(entry && guarded_stream_wait_event(entry, call->stream, events.items[i], 0) ==
                           CUDA_SUCCESS
                  ? &order->waited
                  : &order->failed);
    events_done(order, events);
}

static void wait_at_host(struct added *order)
{
    const struct driver_entry *entry = driver_entry_of_symbol("cuEventSynchronize");
    const struct events events = events_to_wait_for(order, NULL);
    for (size_t i = 0; i < events.count; i++)
        count(entry && guarded_event_synchronize(entry, events.items[i]) == CUDA_SUCCESS
                  ? &order->waited
                  : &order->failed);
    events_done(order, events);
}

/* ---- Launches that may overlap ---- */

static bool is_overlap(const CUlaunchAttribute *attribute)
{
    return attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
}

static void forbid_overlap(struct added *order, struct watched_call *call)
{
    const CUlaunchConfig *config = call->config;
    if (!config || !config->attrs)
        return;
    struct {
        CUlaunchConfig config;
        CUlaunchAttribute attributes[];
    } *own = calloc(1, sizeof *own + config->numAttrs * sizeof own->attributes[0]);
    if (!own)
        return;
    own->config = *config;
    own->config.attrs = own->attributes;
    own->config.numAttrs = 0;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (!is_overlap(&config->attrs[i]))
            own->attributes[own->config.numAttrs++] = config->attrs[i];
    if (own->config.numAttrs == config->numAttrs) {
        free(own);
        return;
    }
    count(&order->changed);
    free(call->own_config);
    call->own_config = &own->config;
    call->config = call->own_config;
}

/* ---- What ends ---- */

static void event_ends(CUevent event)
{
    lock_order_take(LOCK_ADDED_ORDERS, &added.lock);
    for (size_t i = 0; i < added.count; i++)
        for (struct added_record *at = added.orders[i].records; at; at = at->next)
            if (at->lent && at->event == event)
                at->event = NULL;
    lock_order_give(LOCK_ADDED_ORDERS, &added.lock);
}

/* ---- Streams that ended ---- */

/* What they did need not be over: their events are waited for all the same. So many are kept. */
enum { ENDED_MAX = 16 };

static CUstream stream_that_gathers(struct added *order)
{
    const struct driver_entry *create = driver_entry_of_symbol("cuStreamCreate");
    if (!order->gathers &&
        (!create ||
         guarded_stream_create(create, &order->gathers, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS))
        order->gathers = NULL;
    return order->gathers;
}

/* The stream waits for what is recorded on streams that ended. Records are added in front, and go
 * here alone, so that the list can be walked without the lock. */
static void ended_wait(struct added_record *first, CUstream stream)
{
    const struct driver_entry *wait = driver_entry_of_symbol("cuStreamWaitEvent");
    for (struct added_record *at = first; at; at = at->next)
        at->gathered =
            at->ended && (!at->event || (wait && guarded_stream_wait_event(wait, stream, at->event,
                                                                           0) == CUDA_SUCCESS));
}

/* With the lock: out of the list. */
static struct added_record *gathered_take(struct added *order)
{
    struct added_record *taken = NULL;
    for (struct added_record **at = &order->records; *at;) {
        struct added_record *record = *at;
        if (!record->gathered) {
            at = &record->next;
            continue;
        }
        *at = record->next;
        record->next = taken;
        taken = record;
    }
    return taken;
}

static void records_destroy(struct added_record *records)
{
    const struct driver_entry *entry = driver_entry_of_symbol("cuEventDestroy_v2");
    while (records) {
        struct added_record *record = records;
        records = record->next;
        if (record->event && !record->lent && entry)
            guarded_event_destroy(entry, record->event);
        free(record);
    }
}

/* With the lock: it is time to gather them, and nobody is at it. */
static bool ended_are_many(const struct added *order)
{
    size_t ended = 0;
    for (const struct added_record *at = order->records; at; at = at->next)
        ended += at->ended;
    return ended > ENDED_MAX && !order->gathering;
}

/* Who waits for those records waits for one of the gathering stream's from here on; not while
 * somebody has their events in hand. */
static void ended_gather(struct added *order, struct added_record *first)
{
    const struct driver_entry *entry = driver_entry_of_symbol("cuEventRecord");
    CUstream stream = stream_that_gathers(order);
    CUevent event = stream ? event_create(stream) : NULL;
    struct added_record *gathered = calloc(1, sizeof *gathered), *taken = gathered;
    if (gathered)
        *gathered = (struct added_record){.event = event, .ended = true};
    if (event)
        ended_wait(first, stream);
    const bool holds =
        gathered && event && entry && guarded_event_record(entry, event, stream) == CUDA_SUCCESS;
    lock_order_take(LOCK_ADDED_ORDERS, &added.lock);
    if (holds && !order->waiting) {
        taken = gathered_take(order);
        gathered->next = order->records;
        order->records = gathered;
    }
    order->gathering = false;
    lock_order_give(LOCK_ADDED_ORDERS, &added.lock);
    records_destroy(taken);
}

static void stream_ends(CUstream stream)
{
    added_stream_destroyed(stream);
    for (size_t i = 0; i < added.count; i++) {
        struct added *order = &added.orders[i];
        lock_order_take(LOCK_ADDED_ORDERS, &added.lock);
        for (struct added_record *at = order->records; at; at = at->next)
            at->ended |= at->key.stream == stream && stream;
        struct added_record *first = order->records;
        const bool many = ended_are_many(order);
        order->gathering |= many;
        lock_order_give(LOCK_ADDED_ORDERS, &added.lock);
        if (many)
            ended_gather(order, first);
    }
}

/* ---- Calls ---- */

static bool begins(const struct watched_call *call, const char *name)
{
    return strncmp(call->entry->name, name, strlen(name)) == 0;
}

static void before(struct added *order, struct watched_call *call)
{
    const uint64_t place = call->place;
    if (order->kind == ADDED_NO_OVERLAP && order->from == place)
        forbid_overlap(order, call);
    else if (order->kind == ADDED_STREAM && order->from == place)
        added_stream_move(order, call);
    else if (order->kind == ADDED_STREAM_NUMBER && order->from == place && call->has_stream)
        added_stream_note(order, call);
    else if (order->kind == ADDED_ORDER && order->to == place && call->has_stream)
        wait_in_stream(order, call);
    else if (is_between(order) && order->to == place)
        wait_at_host(order);
}

static void before_call(struct watched_call *call)
{
    if (begins(call, "cuEventDestroy"))
        event_ends(call->event);
    if (begins(call, "cuStreamDestroy"))
        stream_ends(call->stream);
    if (begins(call, "cuGraphInstantiate") || begins(call, "cuGraphExecUpdate"))
        added_edges(call->graph);
    call->place = place_here(call->entry);
    for (size_t i = 0; call->place && i < added.count; i++)
        before(&added.orders[i], call);
}

/* A copy that was synchronous is so in its stream. */
static void settle_moved(const struct watched_call *call)
{
    const struct driver_entry *entry = driver_entry_of_symbol("cuStreamSynchronize");
    if (entry && begins(call, "cuMemcpy"))
        guarded_stream_synchronize(entry, call->stream);
}

static void after(struct added *order, const struct watched_call *call)
{
    if (order->from != call->place)
        return;
    if (is_between(order) || order->kind == ADDED_HOST_BEHIND)
        record(order, call);
    if (order->kind == ADDED_HOST_BEHIND)
        wait_at_host(order);
}

static void after_call(struct watched_call *call, CUresult result)
{
    if (result != CUDA_SUCCESS)
        return;
    if (call->created)
        added_stream_created(*call->created);
    if (call->moved)
        settle_moved(call);
    for (size_t i = 0; call->place && i < added.count; i++)
        after(&added.orders[i], call);
}

static void before_host_access(void)
{
    const uint64_t place = place_here(NULL);
    for (size_t i = 0; place && i < added.count; i++)
        if (is_between(&added.orders[i]) && added.orders[i].to == place)
            wait_at_host(&added.orders[i]);
}

/* ---- The start and the end ---- */

/* Again in a forked child that starts anew: the parent had nothing recorded yet. */
const struct call_watcher *added_order_start(void)
{
    static const struct call_watcher watcher = {before_call, after_call, before_host_access};
    const char *text = session_options()->add_order;
    size_t room = 1;
    for (const char *at = text; *at; at++)
        room += *at == ',';
    free(added.orders);
    added.count = 0;
    added.orders = *text ? calloc(room, sizeof *added.orders) : NULL;
    while (added.orders && *text) {
        const char *end = text + strcspn(text, ",");
        if (parse(&added.orders[added.count], text, end))
            added.count++;
        else
            session_note("add_order: '%.*s' is no order: write FROM-TO, places of a report in "
                         "format=json",
                         (int)(end - text), text);
        text = end + (*end == ',');
    }
    return added.count ? &watcher : NULL;
}

void added_order_summarize(void)
{
    for (size_t i = 0; i < added.count; i++) {
        const struct added *order = &added.orders[i];
        if (order->kind == ADDED_STREAM_NUMBER)
            session_note("add_order %.*s: stream %u", order->text_bytes, order->text,
                         order->several ? 0 : order->number);
        else
            session_note("add_order %.*s: recorded %" PRIu64 ", waited %" PRIu64 ", edges %" PRIu64
                         ", changed %" PRIu64 ", captured %" PRIu64 ", failed %" PRIu64,
                         order->text_bytes, order->text, order->recorded, order->waited,
                         order->edges, order->changed, order->captured, order->failed);
    }
}
