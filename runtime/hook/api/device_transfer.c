/* See device_transfer.h. */
#include "runtime/hook/api/device_transfer.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/operator/operator_deferred.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/operator/operator_work.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/state/memory_type.h"
#include "runtime/hook/state/stream_memop.h"

struct deferred_transfer {
    struct deferred_piece piece;
    struct device_transfer what;
    struct operators *owner; /* of a deferred operator that runs, and names it; or NULL: */
    csan_site site;
};

void device_transfer_enqueue(const struct device_transfer *transfer, struct stream *stream,
                             csan_site site)
{
    struct csan_access accesses[] = {transfer->accesses[0], transfer->accesses[1]};
    const uint64_t base = transfer->written.start, bytes = transfer->written.end - base;
    if (accesses[0].dim_count)
        accesses[0].dims = &transfer->dim;
    stream_use(stream);
    known_contents_written(base, bytes, NULL, memory_type_may_be_constant(base, bytes));
    stream_memop_overwritten(base, bytes);
    operator_enqueue(stream_lane(stream), site, CSAN_LEVEL_LIBRARY, true, accesses,
                     transfer->count);
}

static void deferred_transfer_work(const struct deferred_piece *piece)
{
    const struct deferred_transfer *deferred = (const struct deferred_transfer *)piece;
    const struct device_transfer *what = &deferred->what;
    struct operators *before = operator_act_for(deferred->owner);
    const csan_site site =
        deferred->site ? deferred->site
                       : operator_site(NULL, what->entry->name, what->arguments, what->count);
    struct stream *stream = stream_lock(what->stream, what->entry->thread_default);
    if (stream) {
        device_transfer_enqueue(what, stream, site);
        guard_unlock();
    }
    operator_act_for(before);
}

static bool may_be_deferred(const struct device_transfer *transfer)
{
    const bool thread_default = transfer->entry->thread_default;
    return deferred_limit() && !trace_has_all() &&
           !stream_is_of_thread(transfer->stream, thread_default) &&
           !stream_is_capturing(transfer->stream, thread_default) &&
           !host_access_concerns(transfer->accesses, transfer->count) &&
           (operator_deferred_owner() || !operator_deferred_or_other());
}

bool device_transfer_defer(const struct device_transfer *transfer,
                           const struct callsite_stack *stack)
{
    struct operators *owner = operator_deferred_owner();
    if (!may_be_deferred(transfer))
        return false;
    const csan_site site =
        owner ? 0 : callsite_recall(stack, transfer->entry->name, transfer->count);
    const CUcontext context = stream_current_context();
    struct deferred_transfer *deferred =
        owner || site ? (struct deferred_transfer *)deferred_begin(sizeof *deferred) : NULL;
    if (!deferred)
        return false;
    *deferred = (struct deferred_transfer){
        {.work = deferred_transfer_work, .context = context, .bytes = deferred->piece.bytes},
        *transfer,
        owner,
        site};
    deferred_end(&deferred->piece);
    return true;
}
