/* See added_stream.h. */
#include "runtime/hook/run/added_stream.h"
#include "csan/base/array.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    CUstream *streams; /* by number, from 1; NULL: destroyed */
    size_t count, capacity;
} created = {.lock = PTHREAD_MUTEX_INITIALIZER};

void added_stream_created(CUstream stream)
{
    lock_order_take(LOCK_ADDED_STREAMS, &created.lock);
    if (array_room(&created.streams, created.count, &created.capacity, 16, SIZE_MAX,
                   sizeof(CUstream)))
        created.streams[created.count++] = stream;
    lock_order_give(LOCK_ADDED_STREAMS, &created.lock);
}

void added_stream_destroyed(CUstream stream)
{
    lock_order_take(LOCK_ADDED_STREAMS, &created.lock);
    for (size_t i = created.count; stream && i-- > 0;)
        if (created.streams[i] == stream)
            created.streams[i] = NULL;
    lock_order_give(LOCK_ADDED_STREAMS, &created.lock);
}

static CUstream stream_of(unsigned number)
{
    lock_order_take(LOCK_ADDED_STREAMS, &created.lock);
    CUstream stream = number && number <= created.count ? created.streams[number - 1] : NULL;
    lock_order_give(LOCK_ADDED_STREAMS, &created.lock);
    return stream;
}

/* 0: no stream that the program created. */
static unsigned number_of(CUstream stream)
{
    unsigned number = 0;
    lock_order_take(LOCK_ADDED_STREAMS, &created.lock);
    for (size_t i = created.count; stream && !number && i-- > 0;)
        if (created.streams[i] == stream)
            number = (unsigned)i + 1;
    lock_order_give(LOCK_ADDED_STREAMS, &created.lock);
    return number;
}

static bool is_transfer(const struct watched_call *call)
{
    return strncmp(call->entry->name, "cuMemcpy", 8) == 0 ||
           strncmp(call->entry->name, "cuMemset", 8) == 0;
}

void added_stream_move(struct added *order, struct watched_call *call)
{
    CUstream stream = is_transfer(call) ? stream_of(order->number) : NULL;
    if (!stream) {
        __atomic_fetch_add(&order->failed, 1, __ATOMIC_RELAXED);
        return;
    }
    /* A form with a stream of its own goes on to wait for nothing. */
    call->moved = strstr(call->entry->name, "Async") == NULL;
    call->stream = stream;
    __atomic_fetch_add(&order->changed, 1, __ATOMIC_RELAXED);
}

void added_stream_note(struct added *order, const struct watched_call *call)
{
    const unsigned number = number_of(call->stream);
    if (!number || (order->number && order->number != number))
        order->several = true;
    order->number = number;
}
