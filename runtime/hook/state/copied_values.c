/* See copied_values.h. */
#include "runtime/hook/state/copied_values.h"
#include "csan/base/lock_order.h"

#include <pthread.h>
#include <string.h>

enum { COPIES = 16 };

struct copy {
    uint64_t base, bytes; /* bytes 0: free */
    uint8_t values[COPIED_BYTES_MOST];
};

static struct {
    pthread_mutex_t mutex;
    bool wanted;         /* atomic */
    uint64_t start, end; /* of all copies; end 0: there is none; read without the lock */
    struct copy items[COPIES];
    unsigned next;
} copied = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void copied_values_want(void)
{
    __atomic_store_n(&copied.wanted, true, __ATOMIC_RELAXED);
}

bool copied_values_any(void)
{
    return __atomic_load_n(&copied.end, __ATOMIC_RELAXED) != 0;
}

static uint64_t end_of(uint64_t base, uint64_t bytes)
{
    return bytes > UINT64_MAX - base ? UINT64_MAX : base + bytes;
}

static bool hull_overlaps(uint64_t start, uint64_t end)
{
    return start < __atomic_load_n(&copied.end, __ATOMIC_RELAXED) &&
           __atomic_load_n(&copied.start, __ATOMIC_RELAXED) < end;
}

/* Both under the mutex. */
static void hull_set(void)
{
    uint64_t start = UINT64_MAX, end = 0;
    for (unsigned i = 0; i < COPIES; i++) {
        const struct copy *copy = &copied.items[i];
        if (!copy->bytes)
            continue;
        start = copy->base < start ? copy->base : start;
        end = copy->base + copy->bytes > end ? copy->base + copy->bytes : end;
    }
    __atomic_store_n(&copied.start, end ? start : 0, __ATOMIC_RELAXED);
    __atomic_store_n(&copied.end, end, __ATOMIC_RELAXED);
}

static void forget(uint64_t start, uint64_t end)
{
    for (unsigned i = 0; i < COPIES; i++) {
        struct copy *copy = &copied.items[i];
        if (copy->bytes && copy->base < end && start < copy->base + copy->bytes)
            copy->bytes = 0;
    }
}

void copied_values_note(uint64_t base, uint64_t bytes, const void *source)
{
    if (!bytes || bytes > COPIED_BYTES_MOST || bytes > UINT64_MAX - base ||
        !__atomic_load_n(&copied.wanted, __ATOMIC_RELAXED))
        return;
    lock_order_take(LOCK_COPIED_VALUES, &copied.mutex);
    forget(base, base + bytes);
    struct copy *copy = &copied.items[copied.next++ % COPIES];
    copy->base = base;
    copy->bytes = bytes;
    memcpy(copy->values, source, bytes);
    hull_set();
    lock_order_give(LOCK_COPIED_VALUES, &copied.mutex);
}

void copied_values_forget(uint64_t base, uint64_t bytes)
{
    const uint64_t end = end_of(base, bytes);
    if (!bytes || !hull_overlaps(base, end))
        return;
    lock_order_take(LOCK_COPIED_VALUES, &copied.mutex);
    forget(base, end);
    hull_set();
    lock_order_give(LOCK_COPIED_VALUES, &copied.mutex);
}

void copied_values_forget_all(void)
{
    copied_values_forget(0, UINT64_MAX);
}

bool copied_values_read(uint64_t address, uint64_t bytes, void *to)
{
    bool found = false;
    if (!bytes || bytes > COPIED_BYTES_MOST || !hull_overlaps(address, end_of(address, bytes)))
        return false;
    lock_order_take(LOCK_COPIED_VALUES, &copied.mutex);
    for (unsigned i = 0; i < COPIES && !found; i++) {
        const struct copy *copy = &copied.items[i];
        found = copy->bytes >= bytes && address >= copy->base &&
                address - copy->base <= copy->bytes - bytes;
        if (found)
            memcpy(to, copy->values + (address - copy->base), bytes);
    }
    lock_order_give(LOCK_COPIED_VALUES, &copied.mutex);
    return found;
}
