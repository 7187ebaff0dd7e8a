/* Records in device memory. See buffer.h. */
#include "runtime/tracer/buffer.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
    FEW = 64,      /* so many chunks are copied one by one, more all together */
    CLEAR_MS = 50, /* how long a new record may take to be cleared */
};

/* Records of one size. */
struct shelf {
    uint8_t *staging; /* pinned, the reader's: one record; the context's; atomic */
    unsigned made;
    struct buffer *free;
};

struct buffer_pool {
    CUcontext context;
    CUstream stream;
    uint64_t limit, taken;
    uint32_t largest; /* size of record */
    bool closed;      /* atomic */
    unsigned holders;
    struct shelf shelves[RECORD_SIZES];
    pthread_mutex_t mutex; /* of the shelves; no call is made with it: a callback waits for it */
};

/* Of each size at most. */
static const unsigned most[RECORD_SIZES] = {64, 12, 3};

/* ---- The driver ---- */

static struct {
    void *alloc, *host_alloc, *priorities, *stream, *event, *record, *record_default, *query, *down,
        *set, *wait, *current;
} driver;

#define DRIVER(slot, symbol, type) ((PFN_##type)driver_function_cached(&driver.slot, symbol))

static bool context_use(CUcontext context)
{
    PFN_cuCtxSetCurrent_v4000 set = DRIVER(current, "cuCtxSetCurrent", cuCtxSetCurrent_v4000);
    return set && set(context) == CUDA_SUCCESS;
}

static bool stream_wait(const struct buffer_pool *pool)
{
    PFN_cuStreamSynchronize_v2000 wait =
        DRIVER(wait, "cuStreamSynchronize", cuStreamSynchronize_v2000);
    return wait && wait(pool->stream) == CUDA_SUCCESS;
}

static bool copy_down(const struct buffer *buffer, uint64_t at, uint64_t bytes)
{
    const struct buffer_pool *pool = buffer->pool;
    uint8_t *staging = __atomic_load_n(&pool->shelves[buffer->size].staging, __ATOMIC_ACQUIRE);
    PFN_cuMemcpyDtoHAsync_v3020 copy =
        DRIVER(down, "cuMemcpyDtoHAsync_v2", cuMemcpyDtoHAsync_v3020);
    return copy && copy(staging + at, buffer->record + at, bytes, pool->stream) == CUDA_SUCCESS;
}

static bool clear(const struct buffer_pool *pool, CUdeviceptr at, uint64_t bytes)
{
    PFN_cuMemsetD8Async_v3020 set = DRIVER(set, "cuMemsetD8Async", cuMemsetD8Async_v3020);
    return set && set(at, 0, bytes, pool->stream) == CUDA_SUCCESS;
}

static bool event_record(CUevent event, CUstream stream, bool thread_default)
{
    PFN_cuEventRecord_v2000 record =
        thread_default ? DRIVER(record_default, "cuEventRecord_ptsz", cuEventRecord_v2000)
                       : DRIVER(record, "cuEventRecord", cuEventRecord_v2000);
    return record && record(event, stream) == CUDA_SUCCESS;
}

/* ---- The pool ---- */

/* Half of the memory is for smaller ones. */
static uint32_t largest_within(uint64_t limit)
{
    uint32_t size = 0;
    while (size + 1 < RECORD_SIZES && record_bytes(size + 1) <= limit / 2)
        size++;
    return size;
}

/* What is cleared must not wait until all blocks of the program's kernels are done, so it comes
 * before them (CUDA Driver API, cuStreamCreateWithPriority). */
static bool stream_create(CUstream *stream)
{
    PFN_cuCtxGetStreamPriorityRange_v5050 range =
        DRIVER(priorities, "cuCtxGetStreamPriorityRange", cuCtxGetStreamPriorityRange_v5050);
    PFN_cuStreamCreateWithPriority_v5050 create =
        DRIVER(stream, "cuStreamCreateWithPriority", cuStreamCreateWithPriority_v5050);
    int least = 0, greatest = 0;
    if (!range || range(&least, &greatest) != CUDA_SUCCESS)
        greatest = 0;
    return create && create(stream, CU_STREAM_NON_BLOCKING, greatest) == CUDA_SUCCESS;
}

struct buffer_pool *buffer_pool_create(CUcontext context, uint64_t limit)
{
    struct buffer_pool *pool = calloc(1, sizeof *pool);
    if (!pool || limit < record_bytes(0) || !stream_create(&pool->stream)) {
        free(pool);
        return NULL;
    }
    pool->context = context;
    pool->limit = limit;
    pool->largest = largest_within(limit);
    pool->holders = 1;
    pthread_mutex_init(&pool->mutex, NULL);
    return pool;
}

uint32_t buffer_pool_largest(const struct buffer_pool *pool)
{
    return pool->largest;
}

static bool is_closed(const struct buffer_pool *pool)
{
    return __atomic_load_n(&pool->closed, __ATOMIC_ACQUIRE);
}

void buffer_pool_hold(struct buffer_pool *pool)
{
    __atomic_add_fetch(&pool->holders, 1, __ATOMIC_RELAXED);
}

void buffer_pool_release(struct buffer_pool *pool)
{
    if (__atomic_sub_fetch(&pool->holders, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (uint32_t size = 0; size < RECORD_SIZES; size++)
        while (pool->shelves[size].free) {
            struct buffer *buffer = pool->shelves[size].free;
            pool->shelves[size].free = buffer->next;
            free(buffer);
        }
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

void buffer_pool_close(struct buffer_pool *pool)
{
    __atomic_store_n(&pool->closed, true, __ATOMIC_RELEASE);
}

/* By the program's thread, which waits for a short while only: what else runs on the device may
 * wait for this very thread. */
static bool clear_begin(struct buffer *buffer)
{
    const struct timespec step = {.tv_nsec = 20000};
    buffer->clearing = true;
    if (!clear(buffer->pool, buffer->record, record_bytes(buffer->size)) ||
        !event_record(buffer->done, buffer->pool->stream, false))
        return false;
    for (int i = 0; i < CLEAR_MS * 50 && buffer_state(buffer) == BUFFER_BUSY; i++)
        nanosleep(&step, NULL);
    return true;
}

/* Another thread may have been faster: then this one's stays unused. */
static bool staging_make(struct buffer_pool *pool, uint32_t size)
{
    uint8_t **staging = &pool->shelves[size].staging, *none = NULL;
    void *fresh = NULL;
    if (__atomic_load_n(staging, __ATOMIC_ACQUIRE))
        return true;
    PFN_cuMemHostAlloc_v2020 alloc = DRIVER(host_alloc, "cuMemHostAlloc", cuMemHostAlloc_v2020);
    if (!alloc || alloc(&fresh, record_bytes(size), CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS)
        return false;
    __atomic_compare_exchange_n(staging, &none, (uint8_t *)fresh, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    return true;
}

static bool buffer_create(struct buffer *buffer)
{
    PFN_cuMemAlloc_v3020 alloc = DRIVER(alloc, "cuMemAlloc_v2", cuMemAlloc_v3020);
    PFN_cuEventCreate_v2000 event_create = DRIVER(event, "cuEventCreate", cuEventCreate_v2000);
    return alloc && event_create &&
           event_create(&buffer->done, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
           staging_make(buffer->pool, buffer->size) &&
           alloc(&buffer->record, record_bytes(buffer->size)) == CUDA_SUCCESS &&
           clear_begin(buffer);
}

/* What could not be made whole is not tried again: the memory counts as taken, since to free some
 * would wait for all that the device does. */
static struct buffer *buffer_new(struct buffer_pool *pool, uint32_t size)
{
    struct buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return NULL;
    buffer->pool = pool;
    buffer->size = size;
    if (buffer_create(buffer))
        return buffer;
    free(buffer);
    return NULL;
}

/* Whether there is memory for one more, besides one of each larger size. */
static bool has_room(const struct buffer_pool *pool, uint32_t size)
{
    uint64_t reserved = 0;
    for (uint32_t larger = size + 1; larger <= pool->largest; larger++)
        reserved += pool->shelves[larger].made ? 0 : record_bytes(larger);
    return pool->shelves[size].made < most[size] &&
           pool->taken + record_bytes(size) + reserved <= pool->limit;
}

/* With the mutex. A free one of that size or larger; else *create is the size of a new one, that is
 * counted already, or beyond all sizes. */
static struct buffer *take_free(struct buffer_pool *pool, uint32_t size, uint32_t *create)
{
    for (*create = size; *create <= pool->largest; ++*create) {
        struct shelf *shelf = &pool->shelves[*create];
        struct buffer *buffer = shelf->free;
        if (buffer) {
            shelf->free = buffer->next;
            return buffer;
        }
        if (has_room(pool, *create)) {
            shelf->made++;
            pool->taken += record_bytes(*create);
            return NULL;
        }
    }
    return NULL;
}

struct buffer *buffer_take(struct buffer_pool *pool, uint32_t size)
{
    uint32_t create = 0;
    if (is_closed(pool))
        return NULL;
    lock_order_take(LOCK_TRACER_BUFFERS, &pool->mutex);
    struct buffer *buffer = take_free(pool, size < pool->largest ? size : pool->largest, &create);
    lock_order_give(LOCK_TRACER_BUFFERS, &pool->mutex);
    if (!buffer && create <= pool->largest)
        buffer = buffer_new(pool, create);
    if (!buffer)
        return NULL;
    buffer_pool_hold(pool);
    if (buffer->clearing)
        buffer->clearing = buffer_state(buffer) != BUFFER_DONE;
    if (!buffer->clearing)
        return buffer;
    buffer_return(buffer);
    return NULL;
}

CUcontext buffer_context(const struct buffer *buffer)
{
    return buffer->pool->context;
}

void buffer_return(struct buffer *buffer)
{
    struct buffer_pool *pool = buffer->pool;
    struct shelf *shelf = &pool->shelves[buffer->size];
    lock_order_take(LOCK_TRACER_BUFFERS, &pool->mutex);
    buffer->next = shelf->free;
    shelf->free = buffer;
    lock_order_give(LOCK_TRACER_BUFFERS, &pool->mutex);
    buffer_pool_release(pool);
}

void buffer_drop(struct buffer *buffer)
{
    buffer_pool_release(buffer->pool);
    free(buffer);
}

bool buffer_mark(struct buffer *buffer, CUstream stream, bool thread_default)
{
    return event_record(buffer->done, stream, thread_default);
}

/* ---- Reading ---- */

enum buffer_state buffer_state(const struct buffer *buffer)
{
    PFN_cuEventQuery_v2000 query = DRIVER(query, "cuEventQuery", cuEventQuery_v2000);
    if (is_closed(buffer->pool) || !query)
        return BUFFER_BROKEN;
    CUresult result = query(buffer->done);
    return result == CUDA_SUCCESS           ? BUFFER_DONE
           : result == CUDA_ERROR_NOT_READY ? BUFFER_BUSY
                                            : BUFFER_BROKEN;
}

static bool copy_chunks(const struct buffer *buffer, const struct record_use *uses, uint64_t count)
{
    const uint64_t chunks_at = record_chunks_at(buffer->size);
    const uint64_t slots = UINT64_C(1) << record_slot_shift(buffer->size);
    bool copied = true;
    if (count > FEW)
        return copy_down(buffer, chunks_at, slots * sizeof(struct record_chunk));
    for (uint64_t i = 0; copied && i < count; i++)
        copied = uses[i].slot < slots &&
                 copy_down(buffer, chunks_at + uses[i].slot * sizeof(struct record_chunk),
                           sizeof(struct record_chunk));
    return copied;
}

/* The record's head, its uses, and the chunks in use, in the pool's staging memory. */
static struct record *copy_record(const struct buffer *buffer)
{
    const struct buffer_pool *pool = buffer->pool;
    uint8_t *staging = __atomic_load_n(&pool->shelves[buffer->size].staging, __ATOMIC_ACQUIRE);
    struct record *head = (struct record *)staging;
    const uint64_t uses_at = record_uses_at(buffer->size);
    if (!copy_down(buffer, 0, sizeof *head) || !stream_wait(pool))
        return NULL;
    uint64_t count = head->use_count;
    if (count > UINT64_C(1) << record_slot_shift(buffer->size))
        return NULL;
    if (!copy_down(buffer, uses_at, count * sizeof(struct record_use)) || !stream_wait(pool))
        return NULL;
    const struct record_use *uses = (const struct record_use *)(staging + uses_at);
    return copy_chunks(buffer, uses, count) && stream_wait(pool) ? head : NULL;
}

bool buffer_read(struct buffer *buffer, uint32_t granule_shift, struct recorded *recorded)
{
    const struct buffer_pool *pool = buffer->pool;
    struct record *copy = NULL;
    bool usable = !is_closed(pool) && context_use(pool->context);
    if (usable && recorded) {
        copy = copy_record(buffer);
        usable = copy != NULL;
    }
    bool used = !copy || copy->use_count > 0;
    usable =
        usable && clear(pool, buffer->record, used ? record_bytes(buffer->size) : RECORD_KEYS_AT);
    if (copy) /* while the device clears it */
        recorded_fill(recorded, copy, buffer->size, granule_shift);
    usable = usable && stream_wait(pool);
    if (usable)
        buffer_return(buffer);
    else
        buffer_drop(buffer);
    return usable;
}
