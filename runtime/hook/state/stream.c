/* Contexts and streams as lanes. See stream.h. */
#include "runtime/hook/state/stream.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/recorded_device.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/state/implicit_wait.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/state/thread_birth.h"
#include "runtime/hook/state/thread_name.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/session/session.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct context;

struct stream {
    CUstream handle; /* as the program names it; 0 and CU_STREAM_PER_THREAD for the default ones */
    csan_lane lane;
    csan_lane calls; /* what its calls may do before they return; CSAN_NO_LANE: none did */
    bool blocking;   /* takes part in the order with the legacy stream */
    bool dirty;      /* on its context's list of dirty streams */
    bool listed;     /* in the table; not while its cuStreamDestroy is under way */
    uint64_t legacy_seen;
    struct context *context; /* NULL: ended with its context during its cuStreamDestroy */
    struct stream *dirty_next;
    struct stream *previous, *next; /* all streams of the context but the legacy one */
    struct per_thread *owner;       /* of a per-thread default stream */
    struct stream_overlap overlap;  /* with the newest kernel */
    UT_hash_handle hh;
};

struct context {
    CUcontext handle;
    struct stream *legacy; /* NULL until used */
    uint64_t legacy_count; /* ops of the legacy stream */
    csan_snapshot
        *legacy_did; /* its lane as of its last op, once the lane knows of more; or NULL */
    struct stream *dirty;
    struct stream *streams;
    csan_lane graveyard; /* ordered after all streams that were destroyed */
    csan_lane gate;      /* what streams that are made later wait for */
    CUcontext whole;     /* a green context's primary one; else NULL */
    UT_hash_handle hh;
};

/* What streams were called that are destroyed: the driver gives their names to others. */
struct former {
    CUstream handle;
    unsigned count;
    UT_hash_handle hh;
};

/* The per-thread default streams of one thread: few, one for each context it used. */
struct per_thread {
    struct thread_title title;
    struct stream *streams[8];
};

static struct {
    struct context *contexts;
    struct stream *streams; /* those with a handle of their own */
    struct stream *newest;  /* of them, that was used last; or NULL */
    struct former *formers;
    pthread_key_t thread_key;
    pthread_once_t thread_once;
    void *ctx_get_current, *stream_get_ctx, *stream_get_flags, *is_capturing, *is_capturing_ptsz,
        *query, *query_ptsz;
} table = {.thread_once = PTHREAD_ONCE_INIT};

CUcontext stream_current_context(void)
{
    CUcontext context = NULL;
    PFN_cuCtxGetCurrent_v4000 get = (PFN_cuCtxGetCurrent_v4000)driver_function_cached(
        &table.ctx_get_current, "cuCtxGetCurrent");
    if (!get || get(&context) != CUDA_SUCCESS)
        return NULL;
    return context;
}

void stream_symbols_find(void)
{
    driver_function_cached(&table.ctx_get_current, "cuCtxGetCurrent");
    driver_function_cached(&table.stream_get_flags, "cuStreamGetFlags");
    driver_function_cached(&table.stream_get_ctx, "cuStreamGetCtx");
}

static struct context *context_find(CUcontext handle)
{
    struct context *context = NULL;
    HASH_FIND_PTR(table.contexts, &handle, context);
    return context;
}

static struct context *context_of(CUcontext handle)
{
    struct context *context = context_find(handle);
    if (context)
        return context;
    context = calloc(1, sizeof *context);
    if (!context)
        return NULL;
    context->handle = handle;
    context->graveyard = context->gate = CSAN_NO_LANE;
    HASH_ADD_PTR(table.contexts, handle, context);
    return context;
}

static void former_add(CUstream handle)
{
    struct former *former = NULL;
    HASH_FIND_PTR(table.formers, &handle, former);
    if (!former && (former = calloc(1, sizeof *former)) != NULL) {
        former->handle = handle;
        HASH_ADD_PTR(table.formers, handle, former);
    }
    if (former)
        former->count++;
}

/* A race of two streams that were called the same would read as one of a stream with itself. */
static void label_make(char *label, size_t bytes, CUstream handle)
{
    unsigned long long number = (uintptr_t)handle;
    struct former *former = NULL;
    HASH_FIND_PTR(table.formers, &handle, former);
    if (former)
        snprintf(label, bytes, "stream %llu (number %u of that handle)", number, former->count + 1);
    else
        snprintf(label, bytes, "stream %llu", number);
}

static enum csan_lane_kind kind_of(CUstream handle, bool blocking)
{
    if (!handle)
        return CSAN_LANE_LEGACY;
    if (handle == CU_STREAM_PER_THREAD)
        return CSAN_LANE_PER_THREAD;
    return blocking ? CSAN_LANE_BLOCKING : CSAN_LANE_NON_BLOCKING;
}

static struct stream *stream_new(CUstream handle, struct context *context, bool blocking,
                                 csan_site created)
{
    struct stream *stream = context ? calloc(1, sizeof *stream) : NULL;
    if (!stream)
        return NULL;
    char label[64];
    label_make(label, sizeof label, handle);
    stream->handle = handle;
    stream->context = context;
    stream->blocking = blocking;
    stream->lane = csan_lane_create(session_context(), (uint64_t)(uintptr_t)handle, label);
    if (stream->lane == CSAN_NO_LANE) {
        free(stream);
        return NULL;
    }
    csan_lane_describe(session_context(), stream->lane, kind_of(handle, blocking), created);
    recorded_device_lane(stream->lane, context->handle);
    stream->calls = CSAN_NO_LANE;
    if (context->gate != CSAN_NO_LANE)
        csan_lane_waits(session_context(), stream->lane, context->gate);
    return stream;
}

csan_lane stream_calls_lane(struct stream *stream)
{
    char label[64];
    if (stream->calls != CSAN_NO_LANE && session_options()->host_observed)
        return stream->calls;
    csan_lane_destroy(session_context(),
                      stream->calls); /* another thread's call knew other things */
    label_make(label, sizeof label, stream->handle);
    stream->calls = csan_lane_create_as(session_context(), CSAN_LANE_CALL,
                                        (uintptr_t)stream->handle, label, CSAN_HOST);
    csan_lane_part_of(session_context(), stream->calls, stream->lane);
    return stream->calls;
}

static void lanes_destroy(const struct stream *stream)
{
    csan_lane_destroy(session_context(), stream->calls);
    csan_lane_destroy(session_context(), stream->lane);
}

static void stream_link(struct stream *stream)
{
    struct context *context = stream->context;
    stream->next = context->streams;
    if (stream->next)
        stream->next->previous = stream;
    context->streams = stream;
}

static void stream_unlink(struct stream *stream)
{
    if (stream->next)
        stream->next->previous = stream->previous;
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        stream->context->streams = stream->next;
    stream->next = stream->previous = NULL;
}

static struct stream *legacy_of(struct context *context)
{
    if (context && !context->legacy)
        context->legacy = stream_new(NULL, context, false, 0);
    return context ? context->legacy : NULL;
}

/* Order the legacy stream after all that the blocking streams did. */
static void legacy_gather(struct context *context)
{
    struct stream *stream = context->dirty;
    while (stream) {
        struct stream *next = stream->dirty_next;
        csan_lane_waits(session_context(), context->legacy->lane, stream->lane);
        stream->dirty = false;
        stream->dirty_next = NULL;
        stream = next;
    }
    context->dirty = NULL;
}

/* The same without an op of the legacy stream. What blocking streams join is then what it held. */
static void legacy_look(struct context *context)
{
    if (!context->legacy_did)
        context->legacy_did = csan_snapshot_take(session_context(), context->legacy->lane);
    legacy_gather(context);
}

static void legacy_forget(struct context *context)
{
    if (context->legacy_did)
        csan_snapshot_release(session_context(), context->legacy_did);
    context->legacy_did = NULL;
}

/* A stream leaves its context for good: what it did stays ordered for those that cover it. */
static void stream_end(struct stream *stream)
{
    struct context *context = stream->context;
    stream_unlink(stream);
    if (stream->dirty && legacy_of(context))
        legacy_look(context);
    if (context->graveyard == CSAN_NO_LANE)
        context->graveyard = csan_lane_create(session_context(), 0, "destroyed streams");
    if (context->graveyard != CSAN_NO_LANE)
        csan_lane_waits(session_context(), context->graveyard, stream->lane);
    if (stream->owner)
        for (size_t i = 0; i < sizeof stream->owner->streams / sizeof *stream->owner->streams; i++)
            if (stream->owner->streams[i] == stream)
                stream->owner->streams[i] = NULL;
    stream_overlap_release(&stream->overlap);
    lanes_destroy(stream);
}

/* ---- Per-thread default streams ---- */

static void per_thread_ended(void *value)
{
    struct per_thread *own = value;
    if (!guard_enter())
        return; /* csan is off, or the thread was ended within a call: its streams point here */
    guard_lock();
    for (size_t i = 0; i < sizeof own->streams / sizeof *own->streams; i++) {
        struct stream *stream = own->streams[i];
        if (!stream)
            continue;
        stream_end(stream);
        free(stream);
    }
    guard_unlock();
    guard_leave();
    free(own);
}

static void per_thread_key(void)
{
    pthread_key_create(&table.thread_key, per_thread_ended);
}

/* What the thread is called, and what the program calls its stream. */
static void name_by_thread(const struct stream *stream)
{
    char name[THREAD_TITLE_BYTES];
    thread_title_write(&stream->owner->title, name);
    csan_lane_name(session_context(), stream->lane, name);
}

static struct stream *per_thread_of(struct context *context)
{
    pthread_once(&table.thread_once, per_thread_key);
    struct per_thread *own = pthread_getspecific(table.thread_key);
    if (!own) {
        own = calloc(1, sizeof *own);
        if (!own || pthread_setspecific(table.thread_key, own) != 0) {
            free(own);
            return NULL;
        }
        own->title = thread_title_take();
    }
    size_t count = sizeof own->streams / sizeof *own->streams, place = count;
    for (size_t i = count; i-- > 0;) {
        if (!own->streams[i])
            place = i;
        else if (own->streams[i]->context == context)
            return own->streams[i];
    }
    if (place == count)
        return NULL;
    struct stream *stream = stream_new(CU_STREAM_PER_THREAD, context, true, thread_birth_site());
    if (!stream)
        return NULL;
    stream->owner = own;
    name_by_thread(stream);
    stream_link(stream);
    own->streams[place] = stream;
    return stream;
}

/* ---- Finding ---- */

static bool is_default(CUstream handle)
{
    return handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

bool stream_is_of_thread(CUstream handle, bool thread_default)
{
    return handle == CU_STREAM_PER_THREAD || (handle == NULL && thread_default);
}

static struct stream *default_stream(CUstream handle, bool thread_default, CUcontext current)
{
    if (!current)
        return NULL;
    struct context *context = context_of(current);
    if (!context)
        return NULL;
    return stream_is_of_thread(handle, thread_default) ? per_thread_of(context)
                                                       : legacy_of(context);
}

/* Of a handle of its own; most programs use one stream many times in a row. */
static struct stream *stream_find(CUstream handle)
{
    struct stream *stream = table.newest;
    if (stream && stream->handle == handle)
        return stream;
    HASH_FIND_PTR(table.streams, &handle, stream);
    if (stream)
        table.newest = stream;
    return stream;
}

static void stream_unlist(struct stream *stream)
{
    HASH_DEL(table.streams, stream);
    if (table.newest == stream)
        table.newest = NULL;
}

/* With the lock held when there is a stream, without when there is none. */
static struct stream *locked_or_null(struct stream *stream)
{
    if (!stream)
        guard_unlock();
    return stream;
}

struct stream *stream_lock_known(CUstream handle, bool thread_default)
{
    CUcontext current = is_default(handle) ? stream_current_context() : NULL;
    struct stream *stream = NULL;
    guard_lock();
    if (is_default(handle))
        stream = default_stream(handle, thread_default, current);
    else
        stream = stream_find(handle);
    return locked_or_null(stream);
}

/* Without memory for the table it stays out. */
static void stream_list(struct stream *stream)
{
    HASH_ADD_PTR(table.streams, handle, stream);
    stream->listed = stream->hh.tbl != NULL;
}

static struct stream *stream_add(CUstream handle, CUcontext owner, bool blocking, csan_site created)
{
    struct stream *stream = stream_new(handle, context_of(owner), blocking, created);
    if (!stream)
        return NULL;
    stream_list(stream);
    stream_link(stream);
    return stream;
}

/* Created where csan does not look: by a green context, by another library's back door. */
static struct stream *stream_lock_unknown(CUstream handle)
{
    unsigned flags = 0;
    CUcontext owner = NULL;
    PFN_cuStreamGetFlags_v5050 get_flags = (PFN_cuStreamGetFlags_v5050)driver_function_cached(
        &table.stream_get_flags, "cuStreamGetFlags");
    PFN_cuStreamGetCtx_v9020 get_context =
        (PFN_cuStreamGetCtx_v9020)driver_function_cached(&table.stream_get_ctx, "cuStreamGetCtx");
    if (!get_flags || get_flags(handle, &flags) != CUDA_SUCCESS)
        return NULL;
    if (!get_context || get_context(handle, &owner) != CUDA_SUCCESS || !owner)
        owner = stream_current_context();
    guard_lock();
    struct stream *stream = NULL;
    HASH_FIND_PTR(table.streams, &handle, stream);
    if (!stream)
        stream = stream_add(handle, owner, !(flags & CU_STREAM_NON_BLOCKING), 0);
    return locked_or_null(stream);
}

struct stream *stream_lock(CUstream handle, bool thread_default)
{
    struct stream *stream = stream_lock_known(handle, thread_default);
    return stream || is_default(handle) ? stream : stream_lock_unknown(handle);
}

csan_lane stream_lane(const struct stream *stream)
{
    return stream->lane;
}

CUstream stream_handle(const struct stream *stream)
{
    return stream->handle;
}

bool stream_is_legacy(const struct stream *stream)
{
    return stream == stream->context->legacy;
}

bool stream_is_blocking(const struct stream *stream)
{
    return stream->blocking;
}

CUcontext stream_context(const struct stream *stream)
{
    return stream->context->handle;
}

/* ---- Order ---- */

static void blocking_joins_legacy(struct stream *stream)
{
    struct context *context = stream->context;
    if (context->legacy_did)
        csan_snapshot_join(session_context(), stream->lane, context->legacy_did);
    else
        csan_lane_waits(session_context(), stream->lane, context->legacy->lane);
    stream->legacy_seen = context->legacy_count;
}

/* The legacy stream's next op waits for it. */
static void stream_is_dirty(struct stream *stream)
{
    if (stream->dirty)
        return;
    stream->dirty = true;
    stream->dirty_next = stream->context->dirty;
    stream->context->dirty = stream;
}

void stream_overlap_release(struct stream_overlap *overlap)
{
    if (overlap->start)
        csan_snapshot_release(session_context(), overlap->start);
    if (overlap->end)
        csan_snapshot_release(session_context(), overlap->end);
    *overlap = (struct stream_overlap){0};
}

/* True when the stream was ordered after work of others by it. */
static bool use(struct stream *stream)
{
    struct context *context = stream->context;
    thread_enqueues(stream->lane);
    if (stream == context->legacy) {
        bool gathers = context->dirty != NULL || context->legacy_did != NULL;
        legacy_forget(context);
        legacy_gather(context);
        context->legacy_count++;
        return gathers;
    }
    if (!stream->blocking)
        return false;
    bool joins = stream->legacy_seen != context->legacy_count;
    if (joins)
        blocking_joins_legacy(stream);
    stream_is_dirty(stream);
    return joins;
}

void stream_use(struct stream *stream)
{
    use(stream);
    if (__builtin_expect(stream->overlap.end || stream->overlap.unknown, 0))
        stream_overlap_release(&stream->overlap);
}

struct stream_overlap stream_use_launch(struct stream *stream)
{
    struct stream_overlap overlap = stream->overlap;
    stream->overlap = (struct stream_overlap){0};
    if (use(stream) && overlap.end)
        stream_overlap_release(&overlap);
    return overlap;
}

void stream_set_overlap(struct stream *stream, struct stream_overlap overlap)
{
    stream_overlap_release(&stream->overlap);
    stream->overlap = overlap;
}

void stream_declare(struct stream *stream)
{
    stream_overlap_release(&stream->overlap);
    if (stream == stream->context->legacy)
        legacy_look(stream->context);
    else if (stream->blocking)
        stream_is_dirty(stream);
}

void stream_look(struct stream *stream)
{
    if (stream != stream->context->legacy) {
        stream_use(stream);
        return;
    }
    thread_enqueues(stream->lane);
    legacy_look(stream->context);
}

csan_snapshot *stream_snapshot(struct stream *stream)
{
    if (stream == stream->context->legacy)
        legacy_look(stream->context);
    return csan_snapshot_take(session_context(), stream->lane);
}

void stream_serialize_before(struct stream *stream, CUcontext handle)
{
    struct stream *legacy = handle ? legacy_of(context_of(handle)) : NULL;
    if (!legacy || legacy == stream)
        return;
    stream_use(legacy);
    csan_lane_waits(session_context(), stream->lane, legacy->lane);
}

void stream_serialize_after(struct stream *stream, CUcontext handle)
{
    struct stream *legacy = handle ? legacy_of(context_of(handle)) : NULL;
    if (legacy && legacy != stream)
        csan_lane_waits(session_context(), legacy->lane, stream->lane);
}

void stream_created(CUstream handle, CUcontext owner, bool blocking, csan_site site)
{
    struct stream *stale = stream_take_out(handle);
    if (stale)
        stream_destroyed(stale, 0);
    stream_add(handle, owner, blocking, site);
}

/* A part of one line. */
static void name_copy(char name[CSAN_NAME_MAX], const char *given)
{
    size_t length = 0;
    for (; length < CSAN_NAME_MAX - 1 && given[length]; length++)
        name[length] = iscntrl((unsigned char)given[length]) ? ' ' : given[length];
    name[length] = '\0';
}

void stream_named(CUstream handle, const char *given)
{
    char name[CSAN_NAME_MAX];
    if (handle == CU_STREAM_PER_THREAD)
        return; /* it is called by its thread */
    name_copy(name, given);
    struct stream *stream = stream_lock_known(handle, false);
    if (!stream)
        return;
    csan_lane_name(session_context(), stream->lane, name);
    if (stream->calls != CSAN_NO_LANE)
        csan_lane_part_of(session_context(), stream->calls, stream->lane);
    guard_unlock();
}

void stream_thread_named(pid_t thread)
{
    for (const struct context *context = table.contexts; context; context = context->hh.next)
        for (const struct stream *stream = context->streams; stream; stream = stream->next)
            if (stream->owner && stream->owner->title.thread == thread)
                name_by_thread(stream);
}

struct stream *stream_take_out(CUstream handle)
{
    struct stream *stream = NULL;
    HASH_FIND_PTR(table.streams, &handle, stream);
    if (stream) {
        stream_unlist(stream);
        stream->listed = false;
    }
    return stream;
}

void stream_put_back(struct stream *stream)
{
    if (stream->context)
        stream_list(stream);
    else
        free(stream);
}

void stream_destroyed(struct stream *stream, csan_site site)
{
    if (stream->context) {
        csan_step(session_context(), stream->lane, CSAN_STEP_STREAM_DESTROYED, 0, 0, site);
        stream_end(stream);
    }
    former_add(stream->handle);
    free(stream);
}

static size_t cut_room(const struct context *context)
{
    size_t count = 2;
    for (const struct stream *stream = context->streams; stream; stream = stream->next)
        count++;
    return count;
}

static void cut_add(struct stream_cut *cut, const struct context *context)
{
    csan_context *detector = session_context();
    if (context->legacy)
        cut->snapshots[cut->count++] = csan_snapshot_take(detector, context->legacy->lane);
    if (context->graveyard != CSAN_NO_LANE)
        cut->snapshots[cut->count++] = csan_snapshot_take(detector, context->graveyard);
    for (struct stream *stream = context->streams; stream; stream = stream->next)
        cut->snapshots[cut->count++] = csan_snapshot_take(detector, stream->lane);
}

static bool is_within(const struct context *context, CUcontext handle)
{
    return context->handle == handle || context->whole == handle;
}

void stream_cut_take(CUcontext handle, struct stream_cut *cut)
{
    cut->snapshots = NULL;
    cut->count = 0;
    bool only = HASH_COUNT(table.contexts) == 1 && is_within(table.contexts, handle);
    size_t room = 1;
    struct context *context, *next;
    HASH_ITER(hh, table.contexts, context, next)
    {
        if (!only && is_within(context, handle))
            room += cut_room(context);
    }
    cut->snapshots = calloc(room, sizeof *cut->snapshots);
    if (!cut->snapshots)
        return;
    if (only) {
        cut->snapshots[cut->count++] = csan_snapshot_take_all(session_context());
        return;
    }
    HASH_ITER(hh, table.contexts, context, next)
    {
        if (is_within(context, handle))
            cut_add(cut, context);
    }
}

void stream_cut_release(struct stream_cut *cut, bool join)
{
    for (size_t i = 0; i < cut->count; i++) {
        if (join && cut->snapshots[i])
            csan_snapshot_join(session_context(), thread_lane(), cut->snapshots[i]);
        csan_snapshot_release(session_context(), cut->snapshots[i]);
    }
    free(cut->snapshots);
    cut->snapshots = NULL;
    cut->count = 0;
}

/* ---- Contexts as a whole ---- */

void stream_context_within(CUcontext part, CUcontext whole)
{
    struct context *context = part != whole ? context_of(part) : NULL;
    if (!context)
        return;
    context->whole = whole;
    recorded_device_within(part, whole);
    const struct context *around = context_find(whole);
    if (around && around->gate != CSAN_NO_LANE && context->gate == CSAN_NO_LANE)
        context->gate = csan_lane_create(session_context(), 0, "a context");
    if (around && around->gate != CSAN_NO_LANE && context->gate != CSAN_NO_LANE)
        csan_lane_waits(session_context(), context->gate, around->gate);
}

bool stream_context_is_apart(CUcontext *handle)
{
    struct context *context = context_find(*handle), *next;
    if (context && context->whole)
        *handle = context->whole;
    HASH_ITER(hh, table.contexts, context, next)
    {
        if (!is_within(context, *handle))
            return true;
    }
    return false;
}

void stream_context_gather(CUcontext handle, csan_lane lane)
{
    struct context *context, *next;
    HASH_ITER(hh, table.contexts, context, next)
    {
        if (!is_within(context, handle))
            continue;
        if (context->legacy)
            csan_lane_waits(session_context(), lane, context->legacy->lane);
        if (context->graveyard != CSAN_NO_LANE)
            csan_lane_waits(session_context(), lane, context->graveyard);
        for (struct stream *stream = context->streams; stream; stream = stream->next)
            csan_lane_waits(session_context(), lane, stream->lane);
    }
}

static void wait_all(struct context *context, csan_event *event)
{
    csan_context *detector = session_context();
    if (context->gate == CSAN_NO_LANE)
        context->gate = csan_lane_create(session_context(), 0, "a context");
    if (context->gate != CSAN_NO_LANE)
        csan_event_wait(detector, event, context->gate);
    if (context->legacy)
        csan_event_wait(detector, event, context->legacy->lane);
    for (struct stream *stream = context->streams; stream; stream = stream->next) {
        stream_overlap_release(&stream->overlap);
        csan_event_wait(detector, event, stream->lane);
    }
}

void stream_context_wait(CUcontext handle, csan_event *event)
{
    struct context *context, *next;
    context_of(handle); /* it may have no stream yet */
    HASH_ITER(hh, table.contexts, context, next)
    {
        if (is_within(context, handle))
            wait_all(context, event);
    }
}

void stream_context_destroyed(CUcontext handle)
{
    struct context *context = context_find(handle);
    if (!context)
        return;
    struct stream *stream, *next;
    for (stream = context->streams; stream; stream = next) {
        next = stream->next;
        if (stream->listed)
            stream_unlist(stream);
        implicit_wait_for_lane(WAIT_CONTEXT_END, NULL, 0, stream->lane);
        stream_end(stream);
        if (stream->listed || stream->owner)
            free(stream);
        else
            stream->context = NULL; /* another thread is destroying it */
    }
    if (context->legacy) {
        implicit_wait_for_lane(WAIT_CONTEXT_END, NULL, 0, context->legacy->lane);
        lanes_destroy(context->legacy);
        stream_overlap_release(&context->legacy->overlap);
        free(context->legacy);
    }
    if (context->graveyard != CSAN_NO_LANE) {
        implicit_wait_for_lane(WAIT_CONTEXT_END, NULL, 0, context->graveyard);
        csan_lane_destroy(session_context(), context->graveyard);
    }
    if (context->gate != CSAN_NO_LANE)
        csan_lane_destroy(session_context(), context->gate);
    legacy_forget(context);
    HASH_DEL(table.contexts, context);
    free(context);
}

/* ---- Capture ---- */

bool stream_is_capturing(CUstream handle, bool thread_default)
{
    if (!__atomic_load_n(&driver_capture_seen, __ATOMIC_RELAXED))
        return false;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    PFN_cuStreamIsCapturing_v10000 is_capturing =
        (PFN_cuStreamIsCapturing_v10000)(thread_default
                                             ? driver_function_cached(&table.is_capturing_ptsz,
                                                                      "cuStreamIsCapturing_ptsz")
                                             : driver_function_cached(&table.is_capturing,
                                                                      "cuStreamIsCapturing"));
    return is_capturing && is_capturing(handle, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static bool stream_is_idle(CUstream handle, bool thread_default)
{
    PFN_cuStreamQuery_v2000 query =
        (PFN_cuStreamQuery_v2000)(thread_default
                                      ? driver_function_cached(&table.query_ptsz,
                                                               "cuStreamQuery_ptsz")
                                      : driver_function_cached(&table.query, "cuStreamQuery"));
    return !stream_is_capturing(handle, thread_default) && query && query(handle) == CUDA_SUCCESS;
}

/* Not by a thread for another one's, nor while its cuStreamDestroy is under way. */
static bool may_be_asked(const struct stream *stream)
{
    return stream->owner ? stream->owner == pthread_getspecific(table.thread_key) : stream->listed;
}

/* The driver is asked under the lock, so that no destruction of a stream begins meanwhile: a query
 * returns at once. The legacy stream is asked last, for to ask it while another one is captured
 * would end the capture (CUDA Runtime API, Stream Management, cudaStreamBeginCapture). */
bool stream_context_is_idle(void)
{
    CUcontext handle = stream_current_context();
    deferred_flush(); /* a launch is enqueued on a stream without other work */
    guard_lock();
    const struct context *context = handle ? context_find(handle) : NULL;
    bool idle = context != NULL;
    for (const struct stream *stream = idle ? context->streams : NULL; idle && stream;
         stream = stream->next)
        idle = may_be_asked(stream) && stream_is_idle(stream->handle, stream->owner != NULL);
    if (idle && context->legacy)
        idle = stream_is_idle(NULL, false);
    guard_unlock();
    return idle;
}
