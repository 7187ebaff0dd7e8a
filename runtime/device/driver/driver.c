/* The driver as a whole: initialisation, versions, the lock every entry point takes, the registry
 * of live handles, and the lookup of entry points by name and version (cuGetProcAddress).
 *
 * Owns `device`, the one struct of state. In a child of fork() the device is unusable, as a real
 * one is: every call answers CUDA_ERROR_NOT_INITIALIZED. While the process ends, calls answer
 * CUDA_ERROR_DEINITIALIZED and pending work is left undone. */
#include "runtime/device/compile/compile.h"
#include "runtime/device/driver/driver.h"
#include "csan/base/environment.h"

#pragma GCC visibility push(default) /* this header does not do it itself */
#include <cudaProfiler.h>
#pragma GCC visibility pop
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "runtime/device/exec/exec.h"

struct device device = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .hostfunc_work = PTHREAD_COND_INITIALIZER,
    .schedule.work = PTHREAD_COND_INITIALIZER,
    .said.lock = PTHREAD_MUTEX_INITIALIZER,
};

/* Where the arenas go. The whole of [0x550000000000, 0x555555550000) is application memory both for
 * AddressSanitizer and for ThreadSanitizer (their shadows lie elsewhere), and below where Linux
 * puts position-independent programs. When the hint is taken, the system chooses. */
#define DEVICE_MEMORY_AT    UINT64_C(0x550000000000)
#define DEVICE_MEMORY_SPAN  (UINT64_C(96) << 30)
#define HOST_MEMORY_AT      UINT64_C(0x554000000000)
#define HOST_MEMORY_SPAN    (UINT64_C(64) << 30)
#define WINDOW_AT           UINT64_C(0x553000000000)
#define DEVICE_MEMORY_TOTAL (UINT64_C(16) << 30) /* what the device says it has */

/* "Any address of a variable residing in global memory or returned by one of the memory allocation
 * routines [...] is always aligned to at least 256 bytes." Pinned memory comes in pages of its own.
 */
enum { DEVICE_MEMORY_UNIT = 256, HOST_MEMORY_UNIT = 4096 };
enum { REDZONE = 512, REDZONE_MOST = 64 << 20, QUARANTINE = 64 << 20 };

enum { IDLE_MS = 20, IDLE_MS_MOST = 60000 };
enum { DRIVER_VERSION = 13050 };

/* CSAN_DEVICE_CUDA=12.4: the version that the driver says it has, as an older one would. Other
 * values are those of the newest. The runtime libraries need the newest. */
static int driver_version(void)
{
    const char *text = environment_get("CSAN_DEVICE_CUDA");
    int major, minor, end = 0;
    if (!text || sscanf(text, "%d.%d%n", &major, &minor, &end) != 2 || text[end] || major < 11 ||
        minor < 0 || minor > 9)
        return DRIVER_VERSION;
    const int version = major * 1000 + minor * 10;
    return version < DRIVER_VERSION ? version : DRIVER_VERSION;
}

uint64_t device_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void device_say(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fprintf(stderr, "csan device: %s\n", line);
}

CUresult device_lacks(const char *name)
{
    struct said *said = &device.said;
    bool known = false;
    pthread_mutex_lock(&said->lock);
    for (size_t i = 0; i < said->count && !known; i++)
        known = !strcmp(said->names[i], name);
    if (!known && said->count < sizeof said->names / sizeof *said->names)
        said->names[said->count++] = name;
    pthread_mutex_unlock(&said->lock);
    if (!known)
        device_say("%s is not supported by the embedded device", name);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* ---- The lock ------------------------------------------------------------------------------ */

void device_lock(void)
{
    atomic_fetch_add_explicit(&device.entering, 1, memory_order_relaxed);
    pthread_mutex_lock(&device.lock);
    atomic_fetch_sub_explicit(&device.entering, 1, memory_order_relaxed);
}

void device_unlock(void)
{
    pthread_mutex_unlock(&device.lock);
}

/* A mutex is not fair: without the yield the thread that loops would always win it back. */
void device_breathe(void)
{
    if (!atomic_load_explicit(&device.entering, memory_order_relaxed))
        return;
    pthread_mutex_unlock(&device.lock);
    for (int i = 0; i < 64 && atomic_load_explicit(&device.entering, memory_order_relaxed); i++)
        sched_yield();
    device_lock();
}

/* Whether the thread may make calls at all, and now. */
static CUresult admits(void)
{
    if (atomic_load(&device.forked))
        return CUDA_ERROR_NOT_INITIALIZED;
    if (atomic_load(&device.closing))
        return CUDA_ERROR_DEINITIALIZED;
    /* cuLaunchHostFunc: "The host function must not make any CUDA API calls." */
    return context_in_host_function ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS;
}

static CUresult enter(void)
{
    const CUresult admitted = admits();
    if (admitted != CUDA_SUCCESS)
        return admitted;
    device_lock();
    if (!device.initialised) {
        device_unlock();
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    device.schedule.inside++;
    return CUDA_SUCCESS;
}

CUresult device_leave(CUresult result)
{
    if (device.trace.dropped_count)
        launch_report_dropped();
    device.schedule.inside--;
    device.schedule.last_call = device_nanoseconds();
    device_unlock();
    return result;
}

CUresult device_enter(void)
{
    CUresult result = enter();
    if (result == CUDA_SUCCESS)
        schedule_entry();
    return result;
}

CUresult device_enter_failed(struct CUctx_st **context)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct CUctx_st *current = context_current();
    if (!current)
        return device_leave(CUDA_ERROR_INVALID_CONTEXT);
    if (!object_find(current, OBJECT_CONTEXT))
        return device_leave(CUDA_ERROR_CONTEXT_IS_DESTROYED);
    *context = current;
    return CUDA_SUCCESS;
}

CUresult device_enter_context(struct CUctx_st **context)
{
    CUresult result = device_enter_failed(context);
    if (result == CUDA_SUCCESS && (*context)->error != CUDA_SUCCESS)
        return device_leave((*context)->error);
    return result;
}

/* ---- Live handles -------------------------------------------------------------------------- */

void object_add(struct object *object, enum object_kind kind)
{
    object->kind = kind;
    object->key = object;
    HASH_ADD_PTR(device.objects, key, object);
}

void object_remove(struct object *object)
{
    HASH_DEL(device.objects, object);
}

void *object_find(const void *handle, enum object_kind kind)
{
    struct object *object = NULL;
    if (handle)
        HASH_FIND_PTR(device.objects, &handle, object);
    return object && object->kind == kind ? object : NULL;
}

/* ---- Initialisation ------------------------------------------------------------------------ */

/* What is written and not in its file yet would be written by the child, too. */
static void fork_prepare(void)
{
    outcome_flush();
    recording_flush();
}

static void fork_child(void)
{
    if (device.initialised)
        atomic_store(&device.forked, true);
}

__attribute__((destructor)) static void device_close(void)
{
    atomic_store(&device.closing, true);
    if (device.initialised && !atomic_load(&device.forked))
        schedule_close();
}

/* A variable that is bytes, with an optional K, M or G. */
static uint64_t bytes_of(const char *name, uint64_t least, uint64_t most, uint64_t usual)
{
    const char *text = environment_get_text(name);
    if (!text)
        return usual;
    char *end = NULL;
    errno = 0;
    uint64_t bytes = strtoull(text, &end, 0);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift)
        end++;
    if (errno || *end || *text == '-' || bytes << shift >> shift != bytes ||
        bytes << shift > most || bytes << shift < least) {
        device_say("%s=%s is no size between %" PRIu64 " and %" PRIu64 " bytes; using %" PRIu64,
                   name, text, least, most, usual);
        return usual;
    }
    return bytes << shift;
}

/* A variable that counts `what`, from 1; `otherwise` if it is not set, or says so. */
static int count_of(const char *name, const char *what, int most, int otherwise)
{
    const char *text = environment_get(name);
    char *end = NULL;
    if (!text || !*text)
        return otherwise;
    long count = strtol(text, &end, 10);
    if (!*end && count >= 1 && count <= most)
        return (int)count;
    device_say("%s=%s is no number of %s from 1 to %d; using %d", name, text, what, most,
               otherwise);
    return otherwise;
}

/* Where the system grants no 96 GiB of addresses (a limit on virtual memory) take what it grants.
 */
static bool open_arena(struct arena *arena, uint64_t hint, uint64_t span, uint64_t unit,
                       uint64_t limit, bool hidden)
{
    for (; span >= UINT64_C(64) << 20; span /= 2)
        if (arena_open(arena, hint, span, unit, limit < span ? limit : span, hidden))
            return true;
    return false;
}

/* Addresses that kernels use for shared, local and parameter memory: see exec.h. */
static uint64_t reserve_window(void)
{
    const uint64_t alignment = UINT64_C(16) << 20;
    void *range = mmap((void *)WINDOW_AT, EXEC_WINDOW_BYTES + alignment, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return 0;
    return ((uint64_t)range + alignment - 1) / alignment * alignment;
}

/* Keeps wrong addresses out of other allocations: see arena.h. */
static void guard_arenas(void)
{
    uint64_t redzone = bytes_of("CSAN_DEVICE_REDZONE", 0, REDZONE_MOST, REDZONE);
    uint64_t quarantine = bytes_of("CSAN_DEVICE_QUARANTINE", 0, DEVICE_MEMORY_SPAN, QUARANTINE);
    arena_guard(&device.device_memory, redzone, quarantine);
    arena_guard(&device.host_memory, redzone, quarantine);
}

static CUresult device_start(void)
{
    device.total_memory =
        bytes_of("CSAN_DEVICE_MEMORY", 1, DEVICE_MEMORY_SPAN, DEVICE_MEMORY_TOTAL);
    if (!open_arena(&device.device_memory, DEVICE_MEMORY_AT, DEVICE_MEMORY_SPAN, DEVICE_MEMORY_UNIT,
                    device.total_memory, true)) {
        device_say("no address space for device memory: %s; raise the limit (ulimit -v)",
                   strerror(errno));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!open_arena(&device.host_memory, HOST_MEMORY_AT, HOST_MEMORY_SPAN, HOST_MEMORY_UNIT,
                    HOST_MEMORY_SPAN, false)) {
        arena_close(&device.device_memory);
        device_say("no address space for pinned memory: %s; raise the limit (ulimit -v)",
                   strerror(errno));
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    device.window = reserve_window();
    if (!device.window) {
        arena_close(&device.device_memory);
        arena_close(&device.host_memory);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    guard_arenas();
    compile_start(compile_mode_of(environment_get("CSAN_DEVICE_COMPILE"), COMPILE_HOT));
    device.total_memory = device.device_memory.limit;
    device.ordinal_count = count_of("CSAN_DEVICES", "devices", ORDINALS_MAX, 1);
    device.schedule.idle_ns =
        (uint64_t)count_of("CSAN_DEVICE_IDLE_MS", "milliseconds", IDLE_MS_MOST, IDLE_MS) * 1000000;
    pool_start();
    outcome_start();
    schedule_start();
    pthread_atfork(fork_prepare, NULL, fork_child);
    device.initialised = true;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuInit(unsigned int Flags)
{
    if (Flags)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult admitted = admits();
    if (admitted != CUDA_SUCCESS)
        return admitted;
    device_lock();
    CUresult result = device.initialised ? CUDA_SUCCESS : device_start();
    device_unlock();
    return result;
}

CUresult CUDAAPI cuDriverGetVersion(int *driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = driver_version();
    return CUDA_SUCCESS;
}

/* ---- Entry points by name ------------------------------------------------------------------ */

static size_t entries_lower_bound(const char *name)
{
    size_t low = 0, high = device_entry_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(device_entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* "this API will return the function pointer to the corresponding versioned function": the newest
 * that the requested version knows; a per-thread one first when those are asked for. */
static const struct device_entry *entry_find(const char *name, int version, bool per_thread,
                                             bool *known)
{
    const struct device_entry *found = NULL;
    *known = false;
    for (size_t i = entries_lower_bound(name); i < device_entry_count; i++) {
        const struct device_entry *entry = &device_entries[i];
        if (strcmp(entry->name, name))
            break;
        *known = true;
        if (entry->version > (uint32_t)version || (entry->per_thread && !per_thread))
            continue;
        if (!found || entry->per_thread > found->per_thread ||
            (entry->per_thread == found->per_thread && entry->version > found->version))
            found = entry;
    }
    return found;
}

CUresult CUDAAPI cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
                                     cuuint64_t flags, CUdriverProcAddressQueryResult *symbolStatus)
{
    const cuuint64_t both =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (!symbol || !pfn || cudaVersion > driver_version() || flags > both)
        return CUDA_ERROR_INVALID_VALUE;
    bool known;
    const struct device_entry *entry = entry_find(
        symbol, cudaVersion, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &known);
    *pfn = entry ? entry->function : NULL;
    if (symbolStatus)
        *symbolStatus = entry   ? CU_GET_PROC_ADDRESS_SUCCESS
                        : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    /* Documented: success with a NULL pointer. The first version of this function, without the
     * status, answers CUDA_ERROR_NOT_FOUND. */
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
    CUresult result = cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
    return result == CUDA_SUCCESS && !*pfn ? CUDA_ERROR_NOT_FOUND : result;
}

/* The tables behind this call are not documented; NVIDIA's own runtime, linked statically, cannot
 * start without them. */
CUresult CUDAAPI cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    static atomic_bool said;
    if (!ppExportTable || !pExportTableId)
        return CUDA_ERROR_INVALID_VALUE;
    *ppExportTable = NULL;
    if (!atomic_exchange(&said, true))
        device_say("this program asks for the driver's undocumented tables, which the embedded "
                   "device has not; should it fail to start, it has the CUDA runtime linked "
                   "statically: link it with -lcsan or with -cudart shared");
    return CUDA_ERROR_NOT_FOUND;
}

CUresult CUDAAPI cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}
CUresult CUDAAPI cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}
