/* The hooks of memory sets. Their accesses are exact. Without Async they run on the default stream
 * and do not make the host wait, unless the target is pinned or managed memory (CUDA Driver API,
 * "API synchronization behavior", Memset). */
#include "runtime/hook/state/transfer.h"
#include "runtime/hook/state/memops.h"
#include "driver_hooks.h"
#include "runtime/hook/api/device_transfer.h"
#include "runtime/hook/session/deferred.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/implicit_wait.h"
#include "runtime/hook/operator/operator_deferred.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/operator/operator_work.h"
#include "runtime/hook/state/memory_type.h"
#include "runtime/hook/failure/refused_call.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/thread.h"

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

static struct device_transfer transfer_of(const struct driver_entry *entry, const struct set *set)
{
    const struct transfer_set *what = &set->what;
    const uint64_t reach =
        what->height > 1 ? what->pitch * (what->height - 1) + what->width : what->width;
    struct device_transfer transfer = {.entry = entry,
                                       .stream = set->stream,
                                       .arguments = transfer_set_arguments,
                                       .count = 1,
                                       .written = {what->base, what->base + reach}};
    transfer.accesses[0] = transfer_set_access(what, &transfer.dim);
    return transfer;
}

/* After a call that is not captured. */
static void set_enqueue(const struct driver_entry *entry, const struct set *set, csan_site site)
{
    const struct device_transfer transfer = transfer_of(entry, set);
    const enum implicit_wait wait = set_waits(set);
    struct stream *stream = stream_lock(set->stream, entry->thread_default);
    if (!stream)
        return;
    device_transfer_enqueue(&transfer, stream, site);
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

/* After a call that succeeded. */
static void set_made(const struct driver_entry *entry, const struct set *set)
{
    if (!set->what.width || !set->what.height)
        return;
    struct callsite_stack room;
    const struct callsite_stack *stack = operator_deferred_owner() ? NULL : &room; /* it has one */
    if (stack)
        callsite_capture(&room);
    const struct device_transfer transfer = transfer_of(entry, set);
    if (set->async && device_transfer_defer(&transfer, stack))
        return;
    deferred_flush();
    set_record(entry, set, stack, stream_is_capturing(set->stream, entry->thread_default));
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
