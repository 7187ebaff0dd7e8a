/* Numbers and drops synchronizations. See injection.h. */
#include "runtime/hook/run/injection.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/event_table.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/api/dropped_sync.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdlib.h>

/* A place of the program that synchronizes, known by the first that came from there. */
struct sync_site {
    uint64_t site; /* the table hashes 8 bytes */
    uint64_t first;
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t mutex; /* keeps numbers and their lines in one order */
    pthread_once_t once;
    bool embedded;
    uint64_t count;
    struct sync_site *sites;
    struct callsite_stack dropped;
    void *stream_get_flags, *stream_get_flags_ptsz, *event_elapsed_time, *context_get_version;
} injection = {.mutex = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void look_at_device(void)
{
    injection.embedded = driver_is_embedded();
    if (!injection.embedded)
        session_note("drop_sync and list_syncs work on the embedded device only; on this GPU no "
                     "synchronization is dropped or listed (csan run --device=embedded)");
}

static bool wanted(void)
{
    pthread_once(&injection.once, look_at_device);
    return injection.embedded;
}

/* ---- Would the call succeed? Asked of the device in ways that let no work run. ---- */

static bool stream_is_valid(CUstream stream, bool thread_default)
{
    unsigned flags;
    PFN_cuStreamGetFlags_v5050 get_flags =
        (PFN_cuStreamGetFlags_v5050)(thread_default
                                         ? driver_function_cached(&injection.stream_get_flags_ptsz,
                                                                  "cuStreamGetFlags_ptsz")
                                         : driver_function_cached(&injection.stream_get_flags,
                                                                  "cuStreamGetFlags"));
    return get_flags && get_flags(stream, &flags) == CUDA_SUCCESS;
}

/* A query would let the device make progress. This looks at the events before it looks at where the
 * time is to go. */
static bool event_is_valid(CUevent event)
{
    PFN_cuEventElapsedTime_v2000 elapsed_time =
        (PFN_cuEventElapsedTime_v2000)driver_function_cached(&injection.event_elapsed_time,
                                                             "cuEventElapsedTime");
    return elapsed_time && elapsed_time(NULL, event, event) == CUDA_ERROR_INVALID_VALUE;
}

static bool context_is_valid(CUcontext context)
{
    unsigned version;
    PFN_cuCtxGetApiVersion_v3020 get_version = (PFN_cuCtxGetApiVersion_v3020)driver_function_cached(
        &injection.context_get_version, "cuCtxGetApiVersion");
    if (!context) /* the current one, by its default stream */
        return stream_is_valid(NULL, false);
    return get_version && get_version(context, &version) == CUDA_SUCCESS;
}

/* ---- Numbers ---- */

/* The number of the first from this site. */
static uint64_t first_from(uint64_t site, uint64_t number)
{
    struct sync_site *known = NULL;
    HASH_FIND(hh, injection.sites, &site, sizeof site, known);
    if (known)
        return known->first;
    known = calloc(1, sizeof *known);
    if (known) {
        known->site = site;
        known->first = number;
        HASH_ADD(hh, injection.sites, site, sizeof known->site, known);
    }
    return number;
}

static void list(const char *what, uint64_t number)
{
    struct callsite_stack stack;
    callsite_capture(&stack);
    uint64_t first = first_from(callsite_intern(&stack, what, NULL, 0), number);
    if (first == number)
        session_note_stack(stack.frames, stack.count, "sync %llu: %s", (unsigned long long)number,
                           what);
    else
        session_note("sync %llu: as sync %llu", (unsigned long long)number,
                     (unsigned long long)first);
}

/* Where it is takes a while to find out, in which the device might do what nobody waits for: that
 * is said at the end. */
static void say_dropped(const char *what, uint64_t number)
{
    callsite_capture(&injection.dropped);
    session_note("sync %llu is dropped: %s", (unsigned long long)number, what);
}

/* Count one more. 1: it is the one to drop. */
static bool drops_next(const char *what)
{
    const struct session_options *options = session_options();
    lock_order_take(LOCK_INJECTION, &injection.mutex);
    uint64_t number = ++injection.count;
    bool drop = number == (uint64_t)options->drop_sync;
    if (options->list_syncs)
        list(what, number);
    if (drop)
        say_dropped(what, number);
    lock_order_give(LOCK_INJECTION, &injection.mutex);
    return drop;
}

static bool drops_wait(CUstream stream, bool thread_default, CUevent event, unsigned flags)
{
    return wanted() && !(flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) &&
           !stream_is_capturing(stream, thread_default) && !event_is_captured(event) &&
           stream_is_valid(stream, thread_default) && event_is_valid(event) &&
           drops_next("event wait");
}

static bool drops_event(CUevent event)
{
    return wanted() && !event_is_captured(event) && event_is_valid(event) &&
           drops_next("event synchronize");
}

static bool drops_stream(CUstream stream, bool thread_default)
{
    return wanted() && !stream_is_capturing(stream, thread_default) &&
           stream_is_valid(stream, thread_default) && drops_next("stream synchronize");
}

static bool drops_context(CUcontext context)
{
    return wanted() && context_is_valid(context) && drops_next("device synchronize");
}

void injection_start(void)
{
    static const struct sync_dropper dropper = {drops_wait, drops_event, drops_stream,
                                                drops_context};
    if (session_options()->drop_sync || session_options()->list_syncs)
        sync_dropper = &dropper;
}

void injection_summarize(void)
{
    unsigned long long requested = (unsigned long long)session_options()->drop_sync;
    unsigned long long count = injection.count;
    if (!injection.embedded || !requested)
        return;
    if (requested > count)
        session_note("drop_sync=%llu: nothing was dropped, since the program made %llu "
                     "synchronization%s (list_syncs=1 lists them)",
                     requested, count, count == 1 ? "" : "s");
    else
        session_note_stack(injection.dropped.frames, injection.dropped.count,
                           "sync %llu was dropped", requested);
}
