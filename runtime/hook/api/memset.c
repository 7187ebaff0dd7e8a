/* The hooks of memory sets. Their accesses are exact. Without Async they run on the default stream
 * and do not make the host wait, unless the target is pinned or managed memory (CUDA Driver API,
 * "API synchronization behavior", Memset). */
#include "runtime/hook/state/transfer.h"
#include "runtime/hook/state/memops.h"
#include "driver_hooks.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/host/host_blocks.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/implicit_wait.h"
#include "runtime/hook/operator/operator_deferred.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/operator/operator_work.h"
#include "runtime/hook/state/memory_type.h"
#include "runtime/hook/failure/refused_call.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/observe/trace.h"
#include "runtime/hook/state/stream_memop.h"

struct set {
    struct transfer_set what;
    CUstream stream;
    bool async;
};

/* "The synchronous memset functions are asynchronous with respect to the host except when the
 * target is pinned host memory or a Unified Memory region, in which case they are fully
 * synchronous" (CUDA Driver API, "API synchronization behavior"). */
static enum implicit_wait set_waits(const struct set *set)
{
    if (set->async)
        return WAIT_NONE;
    if (memory_type_of(set->what.base) != MEMORY_TYPE_DEVICE)
        return WAIT_SET_AT_HOST;
    return memops_wait(set->what.base) ? WAIT_SET_SYNC_MEMOPS : WAIT_NONE;
}

/* site 0: that of the operator that runs. After a call that is not captured. */
static void set_enqueue(const struct driver_entry *entry, const struct set *set, csan_site site)
{
    struct csan_dim dim;
    struct csan_access access = transfer_set_access(&set->what, &dim);
    uint64_t reach = set->what.height > 1
                         ? set->what.pitch * (set->what.height - 1) + set->what.width
                         : set->what.width;
    const enum implicit_wait wait = set_waits(set);
    if (!site)
        site = operator_site(NULL, entry->name, transfer_set_arguments, 1);
    struct stream *stream = stream_lock(set->stream, entry->thread_default);
    if (!stream)
        return;
    stream_use(stream);
    known_contents_written(set->what.base, reach, NULL,
                           memory_type_may_be_constant(set->what.base, reach));
    stream_memop_overwritten(set->what.base, reach);
    operator_enqueue(stream_lane(stream), site, CSAN_LEVEL_LIBRARY, true, &access, 1);
    implicit_wait_for_lane(wait, entry, site, stream_lane(stream));
    guard_unlock();
}

/* stack NULL: the operator that runs has one. */
static void set_record(const struct driver_entry *entry, const struct set *set,
                       const struct callsite_stack *stack, bool captured)
{
    struct csan_dim dim;
    struct csan_access access = transfer_set_access(&set->what, &dim);
    csan_site site = operator_site(stack, entry->name, transfer_set_arguments, 1);
    if (captured)
        operator_capture(set->stream, entry->thread_default, site, CSAN_LEVEL_LIBRARY, true,
                         &access, 1);
    else
        set_enqueue(entry, set, site);
}

/* ---- Later ---- */

struct deferred_set {
    struct deferred_piece piece;
    const struct driver_entry *entry;
    struct set set;
    struct operators *owner; /* of a deferred operator that runs, and names it; or NULL: */
    csan_site site;
};

static void deferred_set_work(const struct deferred_piece *piece)
{
    const struct deferred_set *deferred = (const struct deferred_set *)piece;
    struct operators *before = operator_act_for(deferred->owner);
    set_enqueue(deferred->entry, &deferred->set, deferred->site);
    operator_act_for(before);
}

static bool may_be_deferred(const struct driver_entry *entry, const struct set *set)
{
    return set->async && deferred_limit() && !trace_has_all() &&
           !stream_is_of_thread(set->stream, entry->thread_default) &&
           !(host_access_guards && host_blocks_has(set->what.base)) &&
           (operator_deferred_owner() || !operator_deferred_or_other());
}

/* False: there is no room, or its place in the program is new. */
static bool set_defer(const struct driver_entry *entry, const struct set *set,
                      const struct callsite_stack *stack)
{
    struct operators *owner = operator_deferred_owner();
    const csan_site site = owner ? 0 : callsite_recall(stack, entry->name, 1);
    const CUcontext context = stream_current_context();
    struct deferred_set *deferred =
        owner || site ? (struct deferred_set *)deferred_begin(sizeof *deferred) : NULL;
    if (!deferred)
        return false;
    *deferred = (struct deferred_set){
        {.work = deferred_set_work, .context = context, .bytes = deferred->piece.bytes},
        entry,
        *set,
        owner,
        site};
    deferred_end(&deferred->piece);
    return true;
}

/* After a call that succeeded. */
static void set_made(const struct driver_entry *entry, const struct set *set)
{
    if (!set->what.width || !set->what.height)
        return;
    struct callsite_stack room;
    const struct callsite_stack *stack = operator_deferred_owner() ? NULL : &room; /* it has one */
    if (stack)
        callsite_capture(&room);
    const bool captured = stream_is_capturing(set->stream, entry->thread_default);
    if (!captured && may_be_deferred(entry, set) && set_defer(entry, set, stack))
        return;
    deferred_flush();
    set_record(entry, set, stack, captured);
}

static void set_refused(const struct driver_entry *entry, const struct set *set)
{
    struct callsite_stack stack;
    struct csan_dim dim;
    const struct csan_access access = transfer_set_access(&set->what, &dim);
    if (!set->what.width || !set->what.height)
        return;
    callsite_capture(&stack);
    refused_call_copy(
        &(struct refused){.entry = entry,
                          .stream = set->stream,
                          .site = callsite_intern(&stack, entry->name, transfer_set_arguments, 1),
                          .accesses = &access,
                          .access_count = 1});
}

/* ---- Hooks ---- */

/* Makes the call, and records it when it succeeded. */
#define SET_HOOK(call, ...)                                                                        \
    CUresult result = call;                                                                        \
    if (result == CUDA_SUCCESS)                                                                    \
        set_made(entry, &(struct set){__VA_ARGS__});                                               \
    else if (refused_call_matters(result))                                                         \
        set_refused(entry, &(struct set){__VA_ARGS__});                                            \
    return result

/* Of elements of so many bits: along a line, and in rows; at once, and on a stream. */
#define SET_HOOKS(bits, type)                                                                      \
    CUresult hook_set_d##bits(const struct driver_entry *entry, CUdeviceptr_v2 to, type value,     \
                              size_t count)                                                        \
    {                                                                                              \
        SET_HOOK(DRIVER_REAL(entry, cuMemsetD##bits##_v3020)(to, value, count), .what.base = to,   \
                 .what.width = count * (bits / 8), .what.height = 1);                              \
    }                                                                                              \
    CUresult hook_set_d##bits##_async(const struct driver_entry *entry, CUdeviceptr_v2 to,         \
                                      type value, size_t count, CUstream handle)                   \
    {                                                                                              \
        SET_HOOK(DRIVER_REAL(entry, cuMemsetD##bits##Async_v3020)(to, value, count, handle),       \
                 .what.base = to, .what.width = count * (bits / 8), .what.height = 1,              \
                 .stream = handle, .async = true);                                                 \
    }                                                                                              \
    CUresult hook_set_2d_d##bits(const struct driver_entry *entry, CUdeviceptr_v2 to, size_t row,  \
                                 type value, size_t count, size_t rows)                            \
    {                                                                                              \
        SET_HOOK(DRIVER_REAL(entry, cuMemsetD2D##bits##_v3020)(to, row, value, count, rows),       \
                 .what.base = to, .what.width = count * (bits / 8), .what.height = rows,           \
                 .what.pitch = row);                                                               \
    }                                                                                              \
    CUresult hook_set_2d_d##bits##_async(const struct driver_entry *entry, CUdeviceptr_v2 to,      \
                                         size_t row, type value, size_t count, size_t rows,        \
                                         CUstream handle)                                          \
    {                                                                                              \
        SET_HOOK(DRIVER_REAL(entry, cuMemsetD2D##bits##Async_v3020)(to, row, value, count, rows,   \
                                                                    handle),                       \
                 .what.base = to, .what.width = count * (bits / 8), .what.height = rows,           \
                 .what.pitch = row, .stream = handle, .async = true);                              \
    }

SET_HOOKS(8, unsigned char)
SET_HOOKS(16, unsigned short)
SET_HOOKS(32, unsigned int)
