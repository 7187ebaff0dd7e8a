/* Contexts and their records. See trace_context.h. */
#include "runtime/tracer/trace_context.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/stream.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdlib.h>

/* A context in which launches are traced. */
struct entry {
    CUcontext context;
    struct buffer_pool *pool; /* NULL: this context can have none, or not yet */
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t mutex; /* no call is made with it: a callback waits for it */
    struct entry *list;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct entry *trace_context_find(CUcontext context)
{
    struct entry *entry = NULL;
    HASH_FIND_PTR(table.list, &context, entry);
    return entry;
}

void trace_context_close(CUcontext context)
{
    lock_order_take(LOCK_TRACER_CONTEXTS, &table.mutex);
    struct entry *entry = trace_context_find(context);
    if (entry)
        HASH_DEL(table.list, entry);
    lock_order_give(LOCK_TRACER_CONTEXTS, &table.mutex);
    if (entry && entry->pool) {
        buffer_pool_close(entry->pool);
        buffer_pool_release(entry->pool);
    }
    free(entry);
}

/* A context's first pool, made without the lock: other threads that ask meanwhile get none. */
static struct buffer_pool *pool_make(CUcontext context)
{
    const uint64_t limit = (uint64_t)session_options()->learn_memory_mb << 20;
    struct buffer_pool *pool = buffer_pool_create(context, limit);
    lock_order_take(LOCK_TRACER_CONTEXTS, &table.mutex);
    struct entry *entry = trace_context_find(context);
    if (entry && pool) {
        entry->pool = pool;
        buffer_pool_hold(pool);
    }
    lock_order_give(LOCK_TRACER_CONTEXTS, &table.mutex);
    return pool;
}

/* Held by the caller; NULL: there is none. */
static struct buffer_pool *pool_of(CUcontext context)
{
    lock_order_take(LOCK_TRACER_CONTEXTS, &table.mutex);
    struct entry *entry = trace_context_find(context);
    struct buffer_pool *pool = entry ? entry->pool : NULL;
    const bool fresh = !entry;
    if (fresh && (entry = calloc(1, sizeof *entry))) {
        entry->context = context;
        HASH_ADD_PTR(table.list, context, entry);
    }
    const bool made = fresh && entry && entry->hh.tbl;
    if (fresh && !made)
        free(entry);
    if (pool)
        buffer_pool_hold(pool);
    lock_order_give(LOCK_TRACER_CONTEXTS, &table.mutex);
    return made ? pool_make(context) : pool;
}

struct buffer *trace_context_record(uint32_t size, uint32_t *largest)
{
    CUcontext context = stream_current_context();
    struct buffer_pool *pool = context ? pool_of(context) : NULL;
    struct buffer *buffer = pool ? buffer_take(pool, size) : NULL;
    *largest = buffer ? buffer_pool_largest(pool) : 0;
    if (pool)
        buffer_pool_release(pool);
    return buffer;
}
