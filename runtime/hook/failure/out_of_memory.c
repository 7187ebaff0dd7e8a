/* See out_of_memory.h. */
#include "runtime/hook/failure/out_of_memory.h"
#include "csan/detector/context.h"
#include "csan/detector/memory_usage.h"
#include "csan/base/now.h"
#include "csan/options.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/memory_owner.h"
#include "runtime/hook/interpose/driver_thread.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/stream.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t out_of_memory_any;

static struct {
    pthread_mutex_t mutex;
    csan_site site;
    struct csan_out_of_memory what;
} newest = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- What the driver says: none of it allocates ---- */

static int current_device(void)
{
    static void *function;
    PFN_cuCtxGetDevice_v2000 get_device =
        (PFN_cuCtxGetDevice_v2000)driver_function_cached(&function, "cuCtxGetDevice");
    CUdevice device = 0;
    return get_device && get_device(&device) == CUDA_SUCCESS ? (int)device : 0;
}

static void ask_device(struct csan_out_of_memory *out_of_memory)
{
    static void *function;
    PFN_cuMemGetInfo_v3020 get_info =
        (PFN_cuMemGetInfo_v3020)driver_function_cached(&function, "cuMemGetInfo_v2");
    size_t free_bytes, total;
    out_of_memory->device = current_device();
    if (get_info && get_info(&free_bytes, &total) == CUDA_SUCCESS) {
        out_of_memory->free = free_bytes;
        out_of_memory->total = total;
    }
}

/* What the device's default pool has and no allocation uses. */
static void ask_pool(struct csan_out_of_memory *out_of_memory)
{
    static void *functions[2];
    PFN_cuDeviceGetDefaultMemPool_v11020 get_pool =
        (PFN_cuDeviceGetDefaultMemPool_v11020)driver_function_cached(&functions[0],
                                                                     "cuDeviceGetDefaultMemPool");
    PFN_cuMemPoolGetAttribute_v11020 get = (PFN_cuMemPoolGetAttribute_v11020)driver_function_cached(
        &functions[1], "cuMemPoolGetAttribute");
    CUmemoryPool pool;
    cuuint64_t reserved, used;
    if (get_pool && get && get_pool(&pool, out_of_memory->device) == CUDA_SUCCESS &&
        get(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved) == CUDA_SUCCESS &&
        get(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) == CUDA_SUCCESS && reserved > used)
        out_of_memory->unused = reserved - used;
}

/* ---- What the program holds ---- */

static bool is_of_context(void *context, uint64_t base)
{
    const CUcontext owner = memory_owner(base);
    return !owner || owner == context;
}

static uint64_t age(uint64_t born, uint64_t now)
{
    return born && now > born ? now - born : 0;
}

static void list(struct csan_out_of_memory *out_of_memory, const struct memory_usage *usage,
                 uint64_t now)
{
    if (out_of_memory->held_count == CSAN_HELD_MAX) {
        out_of_memory->more++;
        out_of_memory->more_bytes += usage->bytes;
        return;
    }
    struct csan_held *held = &out_of_memory->held[out_of_memory->held_count++];
    *held = (struct csan_held){.site = usage->site,
                               .count = usage->count,
                               .bytes = usage->bytes,
                               .oldest = age(usage->oldest, now),
                               .newest = age(usage->newest, now)};
    held->name =
        context_site_stack(session_context(), usage->site, &held->frames, &held->frame_count);
}

static void count(struct csan_out_of_memory *out_of_memory, const struct memory_usage *usage,
                  uint64_t now)
{
    const bool of_host = usage->kind == CSAN_MEMORY_HOST;
    if (usage->class == MEMORY_USAGE_BLOCK) {
        out_of_memory->allocated += usage->bytes;
        return;
    }
    if (usage->kind == CSAN_MEMORY_VARIABLE)
        return;
    if (!of_host) {
        out_of_memory->own += usage->bytes;
        out_of_memory->own_count += usage->count;
    }
    if (usage->class == MEMORY_USAGE_POOL)
        out_of_memory->reserved += usage->bytes;
    if (of_host == (out_of_memory->host != 0))
        list(out_of_memory, usage, now);
}

/* Of the calling thread's context; what is of none that csan knows counts, too. */
static void count_memory_usage(struct csan_out_of_memory *out_of_memory)
{
    struct memory_usage *usages;
    const uint64_t now = now_coarse();
    const CUcontext context = stream_current_context();
    guard_lock();
    const size_t all = context_memory_usage(session_context(), is_of_context, context, &usages);
    guard_unlock();
    for (size_t i = 0; i < all; i++)
        count(out_of_memory, &usages[i], now);
    free(usages);
    const uint64_t known = out_of_memory->own + out_of_memory->unused + out_of_memory->free;
    out_of_memory->others = out_of_memory->total > known ? out_of_memory->total - known : 0;
}

/* ---- Reporting ---- */

static void report(csan_site site, const struct csan_out_of_memory *out_of_memory,
                   const char *detail)
{
    context_find(session_context(),
                 &(struct context_finding){.kind = CSAN_RACE_OUT_OF_MEMORY,
                                           .lane = CSAN_HOST,
                                           .site = site,
                                           .level = CSAN_LEVEL_LIBRARY,
                                           .access = CSAN_ALLOCATE,
                                           .error = {.code = "CUDA_ERROR_OUT_OF_MEMORY",
                                                     .detail = detail,
                                                     .total = out_of_memory->asked,
                                                     .out_of_memory = out_of_memory}});
}

static bool is_option(const char *value)
{
    return strcmp(session_all_options()->oom, value) == 0;
}

static void failed(const struct driver_entry *entry, uint64_t bytes, enum out_of_memory_of what)
{
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    struct csan_out_of_memory out_of_memory = {.host = what == OUT_OF_MEMORY_HOST, .asked = bytes};
    const csan_site site = callsite_of_memory(entry->name);
    const CUstreamCaptureMode mode = driver_capture_mode(CU_STREAM_CAPTURE_MODE_RELAXED);
    ask_device(&out_of_memory);
    ask_pool(&out_of_memory);
    driver_capture_mode(mode);
    count_memory_usage(&out_of_memory);
    if (is_option("1")) {
        report(site, &out_of_memory, "");
        return;
    }
    pthread_once(&watched, session_watch_signals); /* the program may give up by one */
    lock_order_take(LOCK_OUT_OF_MEMORY, &newest.mutex);
    newest.site = site;
    newest.what = out_of_memory;
    lock_order_give(LOCK_OUT_OF_MEMORY, &newest.mutex);
    __atomic_store_n(&out_of_memory_any, 1, __ATOMIC_RELEASE);
}

static void succeeded(uint64_t bytes, enum out_of_memory_of what)
{
    const int device = current_device();
    lock_order_take(LOCK_OUT_OF_MEMORY, &newest.mutex);
    if (bytes >= newest.what.asked && newest.what.host == (what == OUT_OF_MEMORY_HOST) &&
        newest.what.device == device)
        __atomic_store_n(&out_of_memory_any, 0, __ATOMIC_RELEASE);
    lock_order_give(LOCK_OUT_OF_MEMORY, &newest.mutex);
}

void out_of_memory_ended_slow(const struct driver_entry *entry, CUresult result, uint64_t bytes,
                              enum out_of_memory_of what)
{
    if (!session_options()->errors || is_option("off"))
        return;
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        failed(entry, bytes, what);
    else if (result == CUDA_SUCCESS)
        succeeded(bytes, what);
}

void out_of_memory_finish(struct session_end how)
{
    char detail[96] = "The program was then ended by abort or a signal.";
    if (!__atomic_load_n(&out_of_memory_any, __ATOMIC_ACQUIRE) || how.way == SESSION_END_EXEC)
        return;
    if (how.way != SESSION_END_KILLED && (how.status & 0xff) == 0)
        return;
    if (how.way != SESSION_END_KILLED)
        snprintf(detail, sizeof detail, "The program then ended with exit code %d.",
                 how.status & 0xff);
    report(newest.site, &newest.what, detail);
}
