/* Memory that nodes of graphs allocate. See graph_memory.h. */
#include "runtime/hook/state/graph_memory.h"
#include "csan/base/range_map.h"
#include "csan/base/lock_order.h"

#include <pthread.h>

struct block {
    struct range range;
    const struct graph_node_work *birth;
};

static struct {
    pthread_mutex_t mutex;
    bool begun; /* atomic: most programs have no such memory, and no lock is taken then */
    struct range_map blocks; /* of struct block, once begun */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void graph_memory_note(const struct graph_node_work *birth, uint64_t base, uint64_t bytes)
{
    struct range range = {base, base + bytes};
    if (range.start >= range.end)
        return;
    lock_order_take(LOCK_GRAPH_MEMORY, &table.mutex);
    if (!table.begun)
        range_map_init(&table.blocks, sizeof(struct block));
    __atomic_store_n(&table.begun, true, __ATOMIC_RELEASE);
    struct range_cursor cursor = range_map_make_room(&table.blocks, range);
    struct block *block = range_map_insert(&table.blocks, &cursor, range);
    if (block)
        block->birth = birth;
    lock_order_give(LOCK_GRAPH_MEMORY, &table.mutex);
}

void graph_memory_forget(const struct graph_node_work *birth, uint64_t base)
{
    lock_order_take(LOCK_GRAPH_MEMORY, &table.mutex);
    if (table.begun) {
        struct range_cursor cursor = range_map_seek(&table.blocks, base);
        const struct block *block = range_map_at(&table.blocks, cursor);
        if (block && block->birth == birth)
            range_map_remove(&table.blocks, &cursor);
    }
    lock_order_give(LOCK_GRAPH_MEMORY, &table.mutex);
}

bool graph_memory_find(uint64_t address, uint64_t *start, uint64_t *end)
{
    if (!__atomic_load_n(&table.begun, __ATOMIC_ACQUIRE))
        return false;
    lock_order_take(LOCK_GRAPH_MEMORY, &table.mutex);
    const struct block *block = range_map_find(&table.blocks, address);
    if (block) {
        *start = block->range.start;
        *end = block->range.end;
    }
    lock_order_give(LOCK_GRAPH_MEMORY, &table.mutex);
    return block != NULL;
}
