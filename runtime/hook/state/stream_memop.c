/* The words that streams write and wait for. See stream_memop.h. */
#include "runtime/hook/state/stream_memop.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"
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
    struct memop wait;
    csan_lane lane; /* of the stream that waits; the rest is that stream's, too */
    CUcontext context;
    bool blocking;
    csan_snapshot *promise;
    csan_lane nobody; /* knows what the host knew: keeps the promise where nothing is released */
};

/* A word of memory, or a semaphore: its handle. */
struct word_key {
    uint64_t address;
    uint64_t is_semaphore;
};

struct word {
    struct word_key key;
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

static struct word *word_of(const struct memop *operation)
{
    const struct word_key key = {operation->address, operation->is_semaphore};
    struct word *word = NULL;
    HASH_FIND(hh, table.words, &key, sizeof key, word);
    if (word || !(word = calloc(1, sizeof *word)))
        return word;
    word->key = key;
    HASH_ADD(hh, table.words, key, sizeof key, word);
    return word;
}

bool memop_satisfies(const struct memop *write, const struct memop *wait)
{
    if (write->is_wait || !wait->is_wait || write->bytes < wait->bytes ||
        write->is_semaphore != wait->is_semaphore || write->address != wait->address)
        return false;
    const bool wide = wait->bytes == 8;
    const uint64_t is = wide ? write->value : (uint32_t)write->value;
    const uint64_t wanted = wide ? wait->value : (uint32_t)wait->value;
    switch (wait->flags & 3) {
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

static bool satisfies(const struct release *release, const struct memop *wait)
{
    const struct memop write = {.is_semaphore = wait->is_semaphore,
                                .bytes = release->bytes,
                                .address = wait->address,
                                .value = release->value};
    return memop_satisfies(&write, wait);
}

/* The first of the newest writes that satisfy the wait, or NULL. A semaphore without values is
 * signalled once for each wait: the newest one. */
static const struct release *release_find(const struct word *word, const struct memop *wait)
{
    const struct release *found = NULL;
    const bool newest = wait->is_semaphore && !wait->value;
    uint64_t oldest = word->count > RELEASES_MAX ? word->count - RELEASES_MAX : 0;
    for (uint64_t i = word->count; i-- > oldest && !(newest && found);) {
        const struct release *release = &word->releases[i % RELEASES_MAX];
        if (!satisfies(release, wait))
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
        if (!word->key.is_semaphore && word->key.address < base + bytes &&
            base < word->key.address + 8)
            release_add(word, (struct release){0});
    }
}

static void word_end(struct word *word)
{
    settle_word(word, &(struct stream_memop_scope){.lane = CSAN_NO_LANE});
    for (size_t i = 0; i < RELEASES_MAX; i++)
        if (word->releases[i].before)
            csan_snapshot_release(session_context(), word->releases[i].before);
    HASH_DEL(table.words, word);
    free(word);
}

void stream_memop_forget(uint64_t base, uint64_t bytes)
{
    struct word *word = NULL, *next = NULL;
    HASH_ITER(hh, table.words, word, next)
    {
        if (!word->key.is_semaphore && word->key.address - base < bytes)
            word_end(word);
    }
}

void stream_memop_forget_semaphore(CUexternalSemaphore semaphore)
{
    const struct word_key key = {(uintptr_t)semaphore, true};
    struct word *word = NULL;
    guard_lock();
    HASH_FIND(hh, table.words, &key, sizeof key, word);
    if (word)
        word_end(word);
    guard_unlock();
}

bool stream_memop_any(void)
{
    return table.words != NULL;
}

/* ---- Operations, with the stream locked ---- */

struct csan_access memop_access(const struct memop *operation)
{
    return (struct csan_access){.base = operation->address,
                                .bytes = operation->bytes,
                                .kind = CSAN_ATOMIC,
                                .element_bytes = operation->bytes};
}

static void touch(csan_lane lane, csan_site site, const struct memop *operation)
{
    struct csan_access access = memop_access(operation);
    csan_op(session_context(), lane, site, CSAN_LEVEL_LIBRARY, &access,
            operation->is_semaphore ? 0 : 1);
}

static void enqueue_write(csan_lane lane, csan_site site, const struct memop *operation)
{
    struct word *word = word_of(operation);
    struct release release = {.value = operation->value, .bytes = operation->bytes};
    if (!operation->is_semaphore)
        known_contents_forget(operation->address, operation->bytes);
    touch(lane, site, operation);
    if (!word)
        return;
    bool fenced =
        operation->is_semaphore || !(operation->flags & CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
    if (fenced)
        release.before = csan_snapshot_take(session_context(), lane);
    release_add(word, release);
    struct waiter **link = &word->waiters;
    while (*link) {
        struct waiter *waiter = *link;
        if (!satisfies(&release, &waiter->wait)) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        waiter_end(waiter, fenced ? lane : waiter->nobody);
    }
}

/* Holds back the lane's later work, inside csan. */
static void wait_openly(const struct stream *stream, csan_lane lane, struct word *word,
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
                              .wait = *operation,
                              .lane = stream_lane(stream),
                              .context = stream_context(stream),
                              .blocking = stream_is_blocking(stream) || stream_is_legacy(stream),
                              .promise = promise,
                              .nobody = nobody};
    word->waiters = waiter;
    __atomic_add_fetch(&table.waiters, 1, __ATOMIC_RELAXED);
    csan_snapshot_join(detector, lane, promise);
}

/* Another interface may have signalled a semaphore: a wait for it stays open for nobody. */
static void enqueue_wait(const struct stream *stream, csan_lane lane, csan_site site,
                         const struct memop *operation)
{
    struct word *word = word_of(operation);
    const struct release *release = word ? release_find(word, operation) : NULL;
    if (release && release->before)
        csan_snapshot_join(session_context(), lane, release->before);
    else if (operation->is_semaphore && !release)
        counters_unmodelled("waits for external semaphores that no stream signalled");
    else if (word && !release)
        wait_openly(stream, lane, word, operation);
    touch(lane, site, operation);
}

void stream_memop_enqueue(const struct stream *stream, csan_lane lane, csan_site site,
                          const struct memop *operations, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (operations[i].is_wait)
            enqueue_wait(stream, lane, site, &operations[i]);
        else
            enqueue_write(lane, site, &operations[i]);
}

/* ---- What calls say --------------------------------------------------------------------------
 */

/* "The operations are enqueued in the order they appear in the array." Barriers and flushes concern
 * one stream alone. */
size_t memop_read_batch(const CUstreamBatchMemOpParams *params, unsigned count,
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
                .is_wait = true,
                .address = one->waitValue.address,
                .value = wide ? one->waitValue.value64 : one->waitValue.value,
                .bytes = wide ? 8 : 4,
                .flags = one->waitValue.flags,
            };
        else if (wide || one->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32)
            operations[found++] = (struct memop){
                .address = one->writeValue.address,
                .value = wide ? one->writeValue.value64 : one->writeValue.value,
                .bytes = wide ? 8 : 4,
                .flags = one->writeValue.flags,
            };
    }
    return found;
}

/* A timeline's value, a fence's, or 0. */
void memop_read_signals(const CUexternalSemaphore *semaphores,
                        const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params, unsigned count,
                        struct memop *operations)
{
    for (unsigned i = 0; i < count; i++)
        operations[i] = (struct memop){.is_semaphore = true,
                                       .address = (uintptr_t)semaphores[i],
                                       .value = params[i].params.fence.value,
                                       .bytes = 8};
}

void memop_read_waits(const CUexternalSemaphore *semaphores,
                      const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params, unsigned count,
                      struct memop *operations)
{
    for (unsigned i = 0; i < count; i++)
        operations[i] = (struct memop){.is_semaphore = true,
                                       .is_wait = true,
                                       .address = (uintptr_t)semaphores[i],
                                       .value = params[i].params.fence.value,
                                       .bytes = 8};
}
