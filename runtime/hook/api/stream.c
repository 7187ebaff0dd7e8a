/* The hooks of streams: making and ending them, and waiting for them or for all of a context.
 *
 * A synchronize or query covers what was enqueued when it was called, so its snapshot is taken at
 * entry; it orders that before the host only when the call said that it is done. */
#include "driver_hooks.h"
#include "runtime/hook/api/host_wait.h"
#include "runtime/hook/operator/operator_summary.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/api/dropped_sync.h"
#include "runtime/hook/api/memory.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/state/stream_memop.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/recorded_device.h"
#include "runtime/hook/session/recorded_wait.h"

#include <stdlib.h>

const struct sync_dropper *sync_dropper;

/* ---- Streams ---- */

static void created(const struct driver_entry *entry, CUstream handle, bool blocking)
{
    const csan_site site = callsite_of(entry->name, NULL, 0);
    CUcontext context = stream_current_context();
    if (!context)
        return;
    guard_lock();
    stream_created(handle, context, blocking, site);
    guard_unlock();
}

CUresult hook_stream_create(const struct driver_entry *entry, CUstream *phStream,
                            unsigned int Flags)
{
    CUresult result = DRIVER_REAL(entry, cuStreamCreate_v2000)(phStream, Flags);
    if (result == CUDA_SUCCESS)
        created(entry, *phStream, !(Flags & CU_STREAM_NON_BLOCKING));
    return result;
}

CUresult hook_stream_create_with_priority(const struct driver_entry *entry, CUstream *phStream,
                                          unsigned int flags, int priority)
{
    CUresult result =
        DRIVER_REAL(entry, cuStreamCreateWithPriority_v5050)(phStream, flags, priority);
    if (result == CUDA_SUCCESS)
        created(entry, *phStream, !(flags & CU_STREAM_NON_BLOCKING));
    return result;
}

CUresult hook_stream_destroy(const struct driver_entry *entry, CUstream hStream)
{
    const csan_site site = callsite_of(entry->name, NULL, 0);
    guard_lock();
    struct stream *stream = stream_take_out(hStream);
    guard_unlock();
    CUresult result = DRIVER_REAL(entry, cuStreamDestroy_v4000)(hStream);
    if (stream) {
        guard_lock();
        if (result == CUDA_SUCCESS)
            stream_destroyed(stream, site);
        else
            stream_put_back(stream);
        guard_unlock();
    }
    return result;
}

/* ---- What a wait covers ---- */

/* Of a stream, or of a context, as of when the wait began. */
struct covered {
    bool of_context;
    CUcontext context;
    CUstream stream;
    bool thread_default;
    csan_snapshot *snapshot; /* NULL when csan has seen nothing of the stream */
    struct stream_memop_scope scope;
    struct stream_cut cut;
    bool apart; /* it has memory of its own */
};

static void cover(struct covered *covered)
{
    if (covered->of_context) {
        guard_lock();
        stream_cut_take(covered->context, &covered->cut);
        guard_unlock();
        return;
    }
    struct stream *stream = stream_lock_known(covered->stream, covered->thread_default);
    if (!stream)
        return;
    covered->snapshot = stream_snapshot(stream);
    covered->scope = stream_memop_scope_of(stream);
    guard_unlock();
}

struct deferred_cover {
    struct deferred_piece piece;
    struct covered *covered;
};

static void deferred_cover_work(const struct deferred_piece *piece)
{
    cover(((const struct deferred_cover *)piece)->covered);
}

/* Deferred, in its place behind the launches before the call. So the driver waits for the GPU while
 * csan's thread processes them, and the calling thread processes what is left behind the wait.
 * NULL: it cannot be. */
static struct covered *cover_later(const struct covered *what)
{
    if (deferred_is_empty() ||
        (!what->of_context && stream_is_of_thread(what->stream, what->thread_default)))
        return NULL;
    struct covered *later = malloc(sizeof *later); /* the thread may end while it waits */
    const CUcontext context = stream_current_context();
    struct deferred_cover *deferred =
        later ? (struct deferred_cover *)deferred_begin(sizeof *deferred) : NULL;
    if (!deferred) {
        free(later);
        return NULL;
    }
    *later = *what;
    later->apart = true;
    deferred->piece.work = deferred_cover_work;
    deferred->piece.context = context;
    deferred->covered = later;
    deferred_end(&deferred->piece);
    return later;
}

/* As of now. What it says may be read after guard_waited. */
static struct covered *cover_now(struct covered *what)
{
    struct covered *later = cover_later(what);
    if (later)
        return later;
    deferred_flush();
    cover(what);
    return what;
}

static void covered_free(struct covered *covered)
{
    if (covered->apart)
        free(covered);
}

/* `waiting`: the entry of a call that waits; NULL: it asked, and another run may have another
 * answer. */
static void stream_finished(const struct covered *covered, CUresult result,
                            const struct driver_entry *waiting)
{
    guard_waited();
    if (!covered->snapshot)
        return;
    if (result == CUDA_SUCCESS) {
        stream_memop_settle(&covered->scope);
        if (waiting)
            host_wait_join(CSAN_SYNCHRONIZED_STREAM, waiting, covered->snapshot);
        else
            csan_snapshot_join(session_context(), thread_lane(), covered->snapshot);
        operator_summary_waited();
    }
    csan_snapshot_release(session_context(), covered->snapshot);
}

CUresult hook_stream_synchronize(const struct driver_entry *entry, CUstream hStream)
{
    if (sync_drops_stream(hStream, entry->thread_default))
        return CUDA_SUCCESS;
    struct covered own = {.stream = hStream, .thread_default = entry->thread_default};
    struct covered *covered = cover_now(&own);
    CUresult result = DRIVER_REAL(entry, cuStreamSynchronize_v2000)(hStream);
    stream_finished(covered, result, entry);
    covered_free(covered);
    trace_waited();
    return result;
}

CUresult hook_stream_query(const struct driver_entry *entry, CUstream hStream)
{
    struct covered covered = {.stream = hStream, .thread_default = entry->thread_default};
    cover(&covered);
    CUresult result = DRIVER_REAL(entry, cuStreamQuery_v2000)(hStream);
    stream_finished(&covered, result, NULL);
    return result;
}

/* ---- Contexts ---- */

static void cut_join(const struct driver_entry *entry, CUcontext context, struct stream_cut *cut)
{
    if (!recorded_wait_wanted()) {
        stream_cut_release(cut, true);
        return;
    }
    const csan_site site = callsite_of(entry->name, NULL, 0);
    const csan_lane lane = thread_lane();
    guard_lock();
    recorded_device_host(context);
    recorded_wait_begin(CSAN_SYNCHRONIZED_DEVICE, lane, site);
    stream_cut_release(cut, true);
    recorded_wait_end(lane);
    guard_unlock();
}

static void context_finished(const struct driver_entry *entry, struct covered *covered,
                             CUresult result)
{
    guard_waited();
    if (result == CUDA_SUCCESS) {
        stream_memop_settle(&(struct stream_memop_scope){CSAN_NO_LANE, covered->context, false});
        cut_join(entry, covered->context, &covered->cut);
    } else {
        stream_cut_release(&covered->cut, false);
    }
    covered_free(covered);
    trace_waited();
}

CUresult hook_context_synchronize(const struct driver_entry *entry)
{
    if (sync_drops_context(NULL))
        return CUDA_SUCCESS;
    struct covered own = {.of_context = true, .context = stream_current_context()};
    struct covered *covered = cover_now(&own);
    CUresult result = DRIVER_REAL(entry, cuCtxSynchronize_v2000)();
    context_finished(entry, covered, result);
    return result;
}

CUresult hook_context_synchronize_of(const struct driver_entry *entry, CUcontext ctx)
{
    if (sync_drops_context(ctx))
        return CUDA_SUCCESS;
    struct covered own = {.of_context = true, .context = ctx ? ctx : stream_current_context()};
    struct covered *covered = cover_now(&own);
    CUresult result = DRIVER_REAL(entry, cuCtxSynchronize_v13000)(ctx);
    context_finished(entry, covered, result);
    return result;
}
