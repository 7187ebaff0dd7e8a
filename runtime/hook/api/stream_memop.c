/* The hooks of stream memory operations, and the words that they write and wait for. See
 * stream_memop.h. */
#include "runtime/hook/api/stream_memop.h"
#include "driver_hooks.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/operator/operator_stack.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/session/session.h"

#include <stdlib.h>

enum { RELEASES_MAX = 64 };

/* A write of a word. */
struct release {
    uint64_t value;
    uint8_t bytes;         /* 4 or 8; 0: something else wrote, and what is not known */
    csan_snapshot *before; /* what it releases; NULL: nothing */
};

/* A wait that no write satisfied yet. */
struct waiter {
    struct waiter *next;
    uint64_t value;
    unsigned flags;
    uint8_t bytes;
    csan_lane lane; /* of the stream that waits; the rest is that stream's, too */
    CUcontext context;
    bool blocking;
    csan_snapshot *promise;
    csan_lane nobody; /* knows what the host knew: keeps the promise where nothing is released */
};

struct word {
    uint64_t address;
    struct release releases[RELEASES_MAX]; /* a ring */
    uint64_t count;                        /* ever made */
    struct waiter *waiters;
    UT_hash_handle hh;
};

static struct {
    struct word *words;
    size_t waiters;
} table;

/* ---- Words ---- */

static struct word *word_of(uint64_t address, bool make)
{
    struct word *word = NULL;
    HASH_FIND(hh, table.words, &address, sizeof address, word);
    if (word || !make || !(word = calloc(1, sizeof *word)))
        return word;
    word->address = address;
    HASH_ADD(hh, table.words, address, sizeof address, word);
    return word;
}

static bool satisfies(const struct release *release, uint64_t value, uint8_t bytes, unsigned flags)
{
    if (release->bytes < bytes)
        return false;
    bool wide = bytes == 8;
    uint64_t is = wide ? release->value : (uint32_t)release->value;
    uint64_t wanted = wide ? value : (uint32_t)value;
    switch (flags & 3) {
    case CU_STREAM_WAIT_VALUE_EQ:
        return is == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
        return (is & wanted) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
        return wide ? ~(is | wanted) != 0 : (uint32_t) ~(is | wanted) != 0;
    default:
        return wide ? (int64_t)(is - wanted) >= 0 : (int32_t)(is - wanted) >= 0;
    }
}

/* The first of the newest writes that satisfy the wait, or NULL. */
static const struct release *release_find(const struct word *word, uint64_t value, uint8_t bytes,
                                          unsigned flags)
{
    const struct release *found = NULL;
    uint64_t oldest = word->count > RELEASES_MAX ? word->count - RELEASES_MAX : 0;
    for (uint64_t i = word->count; i-- > oldest;) {
        const struct release *release = &word->releases[i % RELEASES_MAX];
        if (!satisfies(release, value, bytes, flags))
            break;
        found = release;
    }
    return found;
}

static void release_add(struct word *word, struct release release)
{
    struct release *place = &word->releases[word->count++ % RELEASES_MAX];
    if (place->before)
        csan_snapshot_release(session_context(), place->before);
    *place = release;
}

static void waiter_end(struct waiter *waiter, csan_lane keeper)
{
    csan_snapshot_keep(session_context(), waiter->promise, keeper);
    csan_snapshot_release(session_context(), waiter->promise);
    csan_lane_destroy(session_context(), waiter->nobody);
    free(waiter);
    __atomic_sub_fetch(&table.waiters, 1, __ATOMIC_RELAXED);
}

static bool covers(const struct stream_memop_scope *scope, const struct waiter *waiter)
{
    if (scope->lane != CSAN_NO_LANE)
        return waiter->lane == scope->lane;
    return (!scope->context || waiter->context == scope->context) &&
           (waiter->blocking || !scope->blocking);
}

/* Nobody is known to have written what they wait for. */
static void settle_word(struct word *word, const struct stream_memop_scope *scope)
{
    struct waiter **link = &word->waiters;
    while (*link) {
        struct waiter *waiter = *link;
        if (!covers(scope, waiter)) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        waiter_end(waiter, waiter->nobody);
        counters_unmodelled("waits for values that no stream wrote (by kernels or the host)");
    }
}

struct stream_memop_scope stream_memop_scope_of(const struct stream *stream)
{
    if (stream_is_legacy(stream))
        return (struct stream_memop_scope){CSAN_NO_LANE, stream_context(stream), true};
    return (struct stream_memop_scope){.lane = stream_lane(stream)};
}

void stream_memop_settle(const struct stream_memop_scope *scope)
{
    struct word *word = NULL, *next = NULL;
    if (!__atomic_load_n(&table.waiters, __ATOMIC_RELAXED))
        return;
    guard_lock();
    HASH_ITER(hh, table.words, word, next)
    {
        settle_word(word, scope);
    }
    guard_unlock();
}

void stream_memop_overwritten(uint64_t base, uint64_t bytes)
{
    struct word *word = NULL, *next = NULL;
    HASH_ITER(hh, table.words, word, next)
    {
        if (word->address < base + bytes && base < word->address + 8)
            release_add(word, (struct release){0});
    }
}

void stream_memop_forget(uint64_t base, uint64_t bytes)
{
    struct word *word = NULL, *next = NULL;
    HASH_ITER(hh, table.words, word, next)
    {
        if (word->address - base >= bytes)
            continue;
        settle_word(word, &(struct stream_memop_scope){.lane = CSAN_NO_LANE});
        for (size_t i = 0; i < RELEASES_MAX; i++)
            if (word->releases[i].before)
                csan_snapshot_release(session_context(), word->releases[i].before);
        HASH_DEL(table.words, word);
        free(word);
    }
}

/* ---- Operations, with the stream locked ---- */

/* One of a batch. */
struct memop {
    bool is_wait;
    uint64_t address, value;
    uint8_t bytes;
    unsigned flags;
};

static const char *const argument_names[] = {"addr"};

/* Both sides are strong operations of the whole system, whatever the other side uses. */
static struct csan_access access_of(const struct memop *operation)
{
    return (struct csan_access){.base = operation->address,
                                .bytes = operation->bytes,
                                .kind = CSAN_ATOMIC,
                                .element_bytes = operation->bytes};
}

static void touch(csan_lane lane, csan_site site, const struct memop *operation)
{
    struct csan_access access = access_of(operation);
    csan_op(session_context(), lane, site, CSAN_LEVEL_LIBRARY, &access, 1);
}

static void enqueue_write(const struct stream *stream, csan_site site,
                          const struct memop *operation)
{
    csan_lane lane = stream_lane(stream);
    struct word *word = word_of(operation->address, true);
    struct release release = {.value = operation->value, .bytes = operation->bytes};
    known_contents_forget(operation->address, operation->bytes);
    touch(lane, site, operation);
    if (!word)
        return;
    bool fenced = !(operation->flags & CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
    if (fenced)
        release.before = csan_snapshot_take(session_context(), lane);
    release_add(word, release);
    struct waiter **link = &word->waiters;
    while (*link) {
        struct waiter *waiter = *link;
        if (!satisfies(&release, waiter->value, waiter->bytes, waiter->flags)) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        waiter_end(waiter, fenced ? lane : waiter->nobody);
    }
}

/* Holds back the lane's later work, inside csan. */
static void wait_openly(const struct stream *stream, struct word *word,
                        const struct memop *operation)
{
    csan_context *detector = session_context();
    struct waiter *waiter = calloc(1, sizeof *waiter);
    csan_snapshot *promise = waiter ? csan_snapshot_promise(detector) : NULL;
    csan_lane nobody = promise ? csan_lane_create(detector, 0, "nobody") : CSAN_NO_LANE;
    if (nobody == CSAN_NO_LANE) {
        if (promise)
            csan_snapshot_release(detector, promise);
        free(waiter);
        return;
    }
    *waiter = (struct waiter){.next = word->waiters,
                              .value = operation->value,
                              .flags = operation->flags,
                              .bytes = operation->bytes,
                              .lane = stream_lane(stream),
                              .context = stream_context(stream),
                              .blocking = stream_is_blocking(stream) || stream_is_legacy(stream),
                              .promise = promise,
                              .nobody = nobody};
    word->waiters = waiter;
    __atomic_add_fetch(&table.waiters, 1, __ATOMIC_RELAXED);
    csan_snapshot_join(detector, stream_lane(stream), promise);
}

static void enqueue_wait(const struct stream *stream, csan_site site, const struct memop *operation)
{
    csan_lane lane = stream_lane(stream);
    struct word *word = word_of(operation->address, true);
    const struct release *release =
        word ? release_find(word, operation->value, operation->bytes, operation->flags) : NULL;
    if (release && release->before)
        csan_snapshot_join(session_context(), lane, release->before);
    else if (word && !release)
        wait_openly(stream, word, operation);
    touch(lane, site, operation);
}

static void enqueue(const struct driver_entry *entry, CUstream handle,
                    const struct memop *operations, size_t count)
{
    struct csan_access accesses[16];
    csan_site site = callsite_of(entry->name, argument_names, 1);
    if (stream_is_capturing(handle, entry->thread_default)) {
        size_t kept = count < 16 ? count : 16;
        for (size_t i = 0; i < kept; i++)
            accesses[i] = access_of(&operations[i]);
        operator_capture(handle, entry->thread_default, site, CSAN_LEVEL_LIBRARY, true, accesses,
                         kept);
        counters_unmodelled("memory operations of streams in graphs (they order nothing)");
        return;
    }
    struct stream *stream = stream_lock(handle, entry->thread_default);
    if (!stream)
        return;
    stream_use(stream);
    for (size_t i = 0; i < count; i++)
        (operations[i].is_wait ? enqueue_wait : enqueue_write)(stream, site, &operations[i]);
    guard_unlock();
}

/* ---- The calls ---- */

/* Makes the call, and records it when it succeeded. */
#define VALUE_HOOK(call, ...)                                                                      \
    CUresult result = call;                                                                        \
    if (result == CUDA_SUCCESS)                                                                    \
        enqueue(entry, stream, &(struct memop){__VA_ARGS__}, 1);                                   \
    return result

CUresult hook_stream_write_value_32(const struct driver_entry *entry, CUstream stream,
                                    CUdeviceptr_v2 addr, cuuint32_t value, unsigned int flags)
{
    VALUE_HOOK(DRIVER_REAL(entry, cuStreamWriteValue32_v11070)(stream, addr, value, flags),
               .address = addr, .value = value, .bytes = 4, .flags = flags);
}

CUresult hook_stream_write_value_64(const struct driver_entry *entry, CUstream stream,
                                    CUdeviceptr_v2 addr, cuuint64_t value, unsigned int flags)
{
    VALUE_HOOK(DRIVER_REAL(entry, cuStreamWriteValue64_v11070)(stream, addr, value, flags),
               .address = addr, .value = value, .bytes = 8, .flags = flags);
}

CUresult hook_stream_wait_value_32(const struct driver_entry *entry, CUstream stream,
                                   CUdeviceptr_v2 addr, cuuint32_t value, unsigned int flags)
{
    VALUE_HOOK(DRIVER_REAL(entry, cuStreamWaitValue32_v11070)(stream, addr, value, flags),
               .is_wait = true, .address = addr, .value = value, .bytes = 4, .flags = flags);
}

CUresult hook_stream_wait_value_64(const struct driver_entry *entry, CUstream stream,
                                   CUdeviceptr_v2 addr, cuuint64_t value, unsigned int flags)
{
    VALUE_HOOK(DRIVER_REAL(entry, cuStreamWaitValue64_v11070)(stream, addr, value, flags),
               .is_wait = true, .address = addr, .value = value, .bytes = 8, .flags = flags);
}

/* "The operations are enqueued in the order they appear in the array." Barriers and flushes concern
 * one stream alone. */
static size_t read_batch(const CUstreamBatchMemOpParams *params, unsigned count,
                         struct memop *operations)
{
    size_t found = 0;
    for (unsigned i = 0; i < count; i++) {
        const CUstreamBatchMemOpParams *one = &params[i];
        bool is_wait = one->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
                       one->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
        bool wide = one->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                    one->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
        if (is_wait)
            operations[found++] = (struct memop){
                true, one->waitValue.address, wide ? one->waitValue.value64 : one->waitValue.value,
                wide ? 8 : 4, one->waitValue.flags};
        else if (wide || one->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32)
            operations[found++] =
                (struct memop){false, one->writeValue.address,
                               wide ? one->writeValue.value64 : one->writeValue.value, wide ? 8 : 4,
                               one->writeValue.flags};
    }
    return found;
}

CUresult hook_stream_batch_mem_op(const struct driver_entry *entry, CUstream stream,
                                  unsigned int count, CUstreamBatchMemOpParams *paramArray,
                                  unsigned int flags)
{
    CUresult result =
        DRIVER_REAL(entry, cuStreamBatchMemOp_v11070)(stream, count, paramArray, flags);
    struct memop *operations =
        result == CUDA_SUCCESS && count ? malloc(count * sizeof *operations) : NULL;
    if (operations)
        enqueue(entry, stream, operations, read_batch(paramArray, count, operations));
    free(operations);
    return result;
}
