/* Records in device memory. See buffer.h. */
#include "runtime/tracer/buffer.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
    FEW = 32,      /* so many chunks are copied one by one, more all together */
    CLEAR_MS = 50, /* how long a new record may take to be cleared */
};

struct buffer_pool {
    CUcontext context;
    CUstream stream;
    uint8_t *staging; /* pinned, the reader's: one record; the context's, as all that follows */
    uint64_t limit, taken;
    bool closed; /* atomic */
    unsigned holders;
    struct buffer *free;
    pthread_mutex_t mutex; /* no call is made with it: a callback waits for it */
};

/* ---- The driver ---- */

static struct {
    void *alloc, *host_alloc, *stream, *event, *record, *record_default, *query, *down, *set, *wait,
        *current;
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

static bool copy_down(const struct buffer_pool *pool, uint64_t at, CUdeviceptr from, uint64_t bytes)
{
    PFN_cuMemcpyDtoHAsync_v3020 copy =
        DRIVER(down, "cuMemcpyDtoHAsync_v2", cuMemcpyDtoHAsync_v3020);
    return copy && copy(pool->staging + at, from + at, bytes, pool->stream) == CUDA_SUCCESS;
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

struct buffer_pool *buffer_pool_create(CUcontext context, uint64_t limit)
{
    PFN_cuStreamCreate_v2000 create = DRIVER(stream, "cuStreamCreate", cuStreamCreate_v2000);
    PFN_cuMemHostAlloc_v2020 host_alloc =
        DRIVER(host_alloc, "cuMemHostAlloc", cuMemHostAlloc_v2020);
    struct buffer_pool *pool = calloc(1, sizeof *pool);
    void *staging = NULL;
    if (!pool || limit < RECORD_BYTES || !create || !host_alloc ||
        create(&pool->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
        host_alloc(&staging, RECORD_BYTES, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS) {
        free(pool); /* a stream that was made stays: the context is short of memory, or failed */
        return NULL;
    }
    pool->context = context;
    pool->staging = staging;
    pool->limit = limit;
    pool->holders = 1;
    pthread_mutex_init(&pool->mutex, NULL);
    return pool;
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
    while (pool->free) {
        struct buffer *buffer = pool->free;
        pool->free = buffer->next;
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
    if (!clear(buffer->pool, buffer->record, RECORD_BYTES) ||
        !event_record(buffer->done, buffer->pool->stream, false))
        return false;
    for (int i = 0; i < CLEAR_MS * 50 && buffer_state(buffer) == BUFFER_BUSY; i++)
        nanosleep(&step, NULL);
    return true;
}

static bool buffer_create(struct buffer *buffer)
{
    PFN_cuMemAlloc_v3020 alloc = DRIVER(alloc, "cuMemAlloc_v2", cuMemAlloc_v3020);
    PFN_cuEventCreate_v2000 event_create = DRIVER(event, "cuEventCreate", cuEventCreate_v2000);
    return alloc && event_create &&
           event_create(&buffer->done, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
           alloc(&buffer->record, RECORD_BYTES) == CUDA_SUCCESS && clear_begin(buffer);
}

/* What could not be made whole is not tried again: the memory counts as taken, since to free some
 * would wait for all that the device does. */
static struct buffer *buffer_new(struct buffer_pool *pool)
{
    struct buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return NULL;
    buffer->pool = pool;
    if (buffer_create(buffer))
        return buffer;
    free(buffer);
    return NULL;
}

struct buffer *buffer_take(struct buffer_pool *pool)
{
    if (is_closed(pool))
        return NULL;
    pthread_mutex_lock(&pool->mutex);
    struct buffer *buffer = pool->free;
    bool create = !buffer && pool->taken + RECORD_BYTES <= pool->limit;
    if (buffer)
        pool->free = buffer->next;
    else if (create)
        pool->taken += RECORD_BYTES;
    pthread_mutex_unlock(&pool->mutex);
    if (create)
        buffer = buffer_new(pool);
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

void buffer_return(struct buffer *buffer)
{
    struct buffer_pool *pool = buffer->pool;
    pthread_mutex_lock(&pool->mutex);
    buffer->next = pool->free;
    pool->free = buffer;
    pthread_mutex_unlock(&pool->mutex);
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

/* The record's head, its uses, and the chunks in use, in the pool's staging memory. */
static const struct record *copy_record(const struct buffer *buffer)
{
    const struct buffer_pool *pool = buffer->pool;
    const struct record *head = (const struct record *)pool->staging;
    if (!copy_down(pool, 0, buffer->record, sizeof *head) || !stream_wait(pool))
        return NULL;
    uint64_t count = head->use_count;
    if (count > RECORD_SLOTS)
        return NULL;
    if (!copy_down(pool, RECORD_USES_AT, buffer->record, count * sizeof(struct record_use)) ||
        !stream_wait(pool))
        return NULL;
    const struct record_use *uses = (const struct record_use *)(pool->staging + RECORD_USES_AT);
    bool copied = true;
    for (uint64_t i = 0; copied && count <= FEW && i < count; i++)
        copied = uses[i].slot < RECORD_SLOTS &&
                 copy_down(pool, RECORD_CHUNKS_AT + uses[i].slot * sizeof(struct record_chunk),
                           buffer->record, sizeof(struct record_chunk));
    if (count > FEW)
        copied = copy_down(pool, RECORD_CHUNKS_AT, buffer->record, RECORD_BYTES - RECORD_CHUNKS_AT);
    return copied && stream_wait(pool) ? head : NULL;
}

/* Runs of bits are runs of bytes. */
static void chunk_touch(struct touch *touch, const struct record_chunk *chunk, uint64_t address,
                        uint32_t shift)
{
    for (uint32_t kind = 0; kind < RECORD_KINDS; kind++)
        for (uint32_t word = 0; word < RECORD_CHUNK_WORDS; word++) {
            uint32_t bits = chunk->bits[kind][word];
            while (bits) {
                uint32_t first = (uint32_t)__builtin_ctz(bits);
                uint32_t run = ~(bits >> first) ? (uint32_t)__builtin_ctz(~(bits >> first)) : 32;
                run = run > 32 - first ? 32 - first : run;
                touch_record(touch, kind, address + ((uint64_t)(word * 32 + first) << shift),
                             (uint64_t)run << shift);
                bits &= run == 32 ? 0 : ~(((UINT32_C(1) << run) - 1) << first);
            }
        }
}

static void record_touch(const struct record *head, uint32_t shift, struct touch *touch)
{
    const uint8_t *base = (const uint8_t *)head;
    const struct record_use *uses = (const struct record_use *)(base + RECORD_USES_AT);
    const struct record_chunk *chunks = (const struct record_chunk *)(base + RECORD_CHUNKS_AT);
    for (uint32_t i = 0; i < head->use_count; i++)
        if (uses[i].slot < RECORD_SLOTS)
            chunk_touch(touch, &chunks[uses[i].slot], uses[i].address, shift);
}

static bool record_clear(const struct buffer *buffer, bool used)
{
    const struct buffer_pool *pool = buffer->pool;
    return clear(pool, buffer->record, used ? RECORD_BYTES : RECORD_KEYS_AT) && stream_wait(pool);
}

bool buffer_read(struct buffer *buffer, uint32_t granule_shift, struct touch *touch,
                 uint32_t *flags)
{
    const struct buffer_pool *pool = buffer->pool;
    const struct record *head = NULL;
    bool usable = !is_closed(pool) && context_use(pool->context);
    if (usable && touch) {
        head = copy_record(buffer);
        usable = head != NULL;
    }
    if (head) {
        record_touch(head, granule_shift, touch);
        *flags = head->flags;
    }
    if (!usable || !record_clear(buffer, !head || head->use_count > 0)) {
        buffer_drop(buffer);
        return false;
    }
    buffer_return(buffer);
    return true;
}
