/* See host_blocks.h. Writers have a mutex. Readers read the count of changes before and after:
 * it is odd while a writer is at work. Who acquires something that a writer released sees its odd
 * count as well. */
#include "runtime/hook/host/host_blocks.h"

#include <pthread.h>
#include <string.h>

enum { BLOCKS_MOST = 4096 };

struct block {
    uint64_t start, end; /* atomic */
};

static struct {
    pthread_mutex_t mutex;
    uint32_t changes;                 /* atomic */
    uint32_t count;                   /* atomic */
    bool lost;                        /* there were more; atomic */
    struct block blocks[BLOCKS_MOST]; /* apart, in order */
} host = {.mutex = PTHREAD_MUTEX_INITIALIZER};

struct host_blocks_hull host_blocks_hull;

static void hull_is(uint64_t start, uint64_t end)
{
    __atomic_store_n(&host_blocks_hull.start, start, __ATOMIC_RELEASE);
    __atomic_store_n(&host_blocks_hull.end, end, __ATOMIC_RELEASE);
}

static void begin(void)
{
    pthread_mutex_lock(&host.mutex);
    __atomic_store_n(&host.changes, host.changes + 1, __ATOMIC_RELAXED);
}

static void end(void)
{
    if (host.lost)
        hull_is(0, UINT64_MAX);
    else if (host.count)
        hull_is(host.blocks[0].start, host.blocks[host.count - 1].end);
    else
        hull_is(0, 0);
    __atomic_store_n(&host.changes, host.changes + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&host.mutex);
}

static void put(uint32_t at, struct block block)
{
    __atomic_store_n(&host.blocks[at].start, block.start, __ATOMIC_RELEASE);
    __atomic_store_n(&host.blocks[at].end, block.end, __ATOMIC_RELEASE);
}

static void count_is(uint32_t count)
{
    __atomic_store_n(&host.count, count, __ATOMIC_RELEASE);
}

static void insert(uint32_t at, struct block block)
{
    if (host.count == BLOCKS_MOST) {
        __atomic_store_n(&host.lost, true, __ATOMIC_RELEASE);
        return;
    }
    for (uint32_t i = host.count; i > at; i--)
        put(i, host.blocks[i - 1]);
    put(at, block);
    count_is(host.count + 1);
}

static void erase(uint32_t at)
{
    for (uint32_t i = at; i + 1 < host.count; i++)
        put(i, host.blocks[i + 1]);
    count_is(host.count - 1);
}

/* The first that ends behind the address. */
static uint32_t first_behind(uint64_t address, uint32_t count)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (__atomic_load_n(&host.blocks[middle].end, __ATOMIC_ACQUIRE) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void cut(struct range bytes)
{
    for (uint32_t at = first_behind(bytes.start, host.count);
         at < host.count && host.blocks[at].start < bytes.end;) {
        const struct block old = host.blocks[at];
        erase(at);
        if (old.start < bytes.start)
            insert(at++, (struct block){old.start, bytes.start});
        if (old.end > bytes.end)
            insert(at++, (struct block){bytes.end, old.end});
    }
}

void host_blocks_add(struct range block)
{
    if (block.start >= block.end)
        return;
    begin();
    cut(block);
    insert(first_behind(block.start, host.count), (struct block){block.start, block.end});
    end();
}

void host_blocks_remove(struct range bytes)
{
    if (bytes.start >= bytes.end || !__atomic_load_n(&host.count, __ATOMIC_RELAXED))
        return;
    begin();
    cut(bytes);
    end();
}

bool host_blocks_has(uint64_t address)
{
    const uint32_t before = __atomic_load_n(&host.changes, __ATOMIC_ACQUIRE);
    const uint32_t count = __atomic_load_n(&host.count, __ATOMIC_ACQUIRE);
    const uint32_t at = first_behind(address, count);
    const bool has =
        at < count && __atomic_load_n(&host.blocks[at].start, __ATOMIC_ACQUIRE) <= address;
    const bool lost = __atomic_load_n(&host.lost, __ATOMIC_ACQUIRE);
    return has || lost || before % 2 || __atomic_load_n(&host.changes, __ATOMIC_RELAXED) != before;
}

bool host_blocks_any(const void *words, size_t bytes)
{
    enum { LOWEST = 1 << 16 }; /* no memory is below it (vm.mmap_min_addr) */
    const uint64_t start = __atomic_load_n(&host_blocks_hull.start, __ATOMIC_ACQUIRE);
    const uint64_t span = __atomic_load_n(&host_blocks_hull.end, __ATOMIC_ACQUIRE) - start;
    uint64_t word;
    for (size_t at = 0; span && at + sizeof word <= bytes; at += sizeof word) {
        memcpy(&word, (const char *)words + at, sizeof word);
        if (word - start < span && word >= LOWEST && word >> 57 == 0 && host_blocks_has(word))
            return true;
    }
    return false;
}
