/* Memory as the program has it now: live allocations, and blocks of declared pools. The detector's
 * view (memory.h) is as of the entries it has processed; this one is asked and changed at once,
 * while entries wait in the queue. The context owns one, and its lock covers all but
 * live_memory_may_have. */
#ifndef CSAN_DETECTOR_LIVE_MEMORY_H
#define CSAN_DETECTOR_LIVE_MEMORY_H

#include <csan/csan.h>
#include "csan/base/hash.h"
#include "csan/base/range_map.h"

#include <stdbool.h>

/* Most values that look like an address are none. A page here is 4 GiB of the address space. */
enum { LIVE_MEMORY_PAGE_WORDS = 16, LIVE_MEMORY_PAGE_SHIFT = 32 };

struct live_memory_entry {
    struct range range;
    enum csan_memory_kind kind;
    uint32_t site; /* of the call that made it */
    uint64_t born; /* by now_coarse */
    bool pooled;   /* blocks of it were handed out */
};

struct live_memory_block {
    struct range range;
    uint32_t site;
    bool inside; /* of the allocation as a whole; saves looking for it */
};

struct live_memory {
    struct range_map allocations;           /* of struct live_memory_entry */
    struct range_map blocks;                /* of struct live_memory_block */
    uint64_t pages[LIVE_MEMORY_PAGE_WORDS]; /* bits of the hashes of all pages that ever had any;
                                               atomic */
    uint64_t lowest, highest;               /* all that ever lay between; atomic */
};

void live_memory_init(struct live_memory *live);
void live_memory_clear(struct live_memory *live);

/* Adds an allocation. It replaces all that its range had. */
void live_memory_add(struct live_memory *live, const struct live_memory_entry *entry);
/* Takes out the allocation that begins there, with its blocks; false: none begins there. */
bool live_memory_remove(struct live_memory *live, uint64_t base, struct live_memory_entry *removed);

void live_memory_add_block(struct live_memory *live, struct range block, uint32_t site);
void live_memory_remove_block(struct live_memory *live, uint64_t base);

/* The allocation that holds the address, or NULL. */
const struct live_memory_entry *live_memory_find(const struct live_memory *live, uint64_t address);
/* Whether an allocation overlaps the range that is not only the host's. */
bool live_memory_has_device_memory(const struct live_memory *live, struct range range);
/* The block that holds the address, else the allocation; false: neither does. */
bool live_memory_owner(const struct live_memory *live, uint64_t address, struct range *owner);

/* Finds the owners of what several pointers point to, in one call; [0, 0) where there is none. A
 * pointer to the end of memory belongs to that memory, if no other memory begins there. */
void live_memory_pointees(const struct live_memory *live, const uint64_t *pointers, size_t count,
                          struct range *owners);

static inline uint32_t live_memory_page(uint64_t page)
{
    return (uint32_t)(hash_spread(page) >> 54); /* below LIVE_MEMORY_PAGE_WORDS * 64 */
}

/* The range in which allocations have ever been; [0, 0): there was none. On any thread, without the
 * lock, as live_memory_may_have. */
static inline struct range live_memory_span(const struct live_memory *live)
{
    return (struct range){__atomic_load_n(&live->lowest, __ATOMIC_RELAXED),
                          __atomic_load_n(&live->highest, __ATOMIC_RELAXED)};
}

/* False: no allocation has ever held the address. Any thread, without the lock: a thread that knows
 * an address learned it after csan learned of its memory. */
static inline bool live_memory_may_have(const struct live_memory *live, uint64_t address)
{
    uint32_t bit = live_memory_page(address >> LIVE_MEMORY_PAGE_SHIFT);
    return __atomic_load_n(&live->pages[bit / 64], __ATOMIC_RELAXED) >> bit % 64 & 1;
}
/* The same for a pointer, which may point to an end. */
static inline bool live_memory_may_point(const struct live_memory *live, uint64_t pointer)
{
    return live_memory_may_have(live, pointer) || (pointer << (64 - LIVE_MEMORY_PAGE_SHIFT) == 0 &&
                                                   live_memory_may_have(live, pointer - 1));
}

#endif
