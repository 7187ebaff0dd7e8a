/* Memory as the program has it now: live allocations, and blocks of told pools. The detector's view
 * (memory.h) is as of the entries it has processed; this one is asked and changed at once, while
 * entries wait in the queue. The context owns one, and its lock covers all but front_may_have. */
#ifndef CSAN_DETECTOR_LIVE_MEMORY_H
#define CSAN_DETECTOR_LIVE_MEMORY_H

#include <csan/csan.h>
#include "csan/base/range_map.h"

#include <stdbool.h>

/* Of whatever looks like an address most is none: 4 GiB of the address space is a page. */
enum { FRONT_PAGE_WORDS = 16, FRONT_PAGE_SHIFT = 32 };

struct front_entry {
    struct range range;
    enum csan_memory_kind kind;
    uint32_t site; /* of the call that made it */
    uint64_t born; /* by now_coarse */
    bool pooled;   /* blocks of it were handed out */
};

struct front_block {
    struct range range;
    uint32_t site;
    bool inside; /* an allocation, as a whole, which then need not be looked for */
};

struct front {
    struct range_map allocations; /* of struct front_entry */
    struct range_map blocks;      /* of struct front_block */
    uint64_t
        pages[FRONT_PAGE_WORDS]; /* bits of the hashes of all pages that ever had any; atomic */
    uint64_t lowest, highest;    /* all that ever lay between; atomic */
};

void front_init(struct front *front);
void front_clear(struct front *front);

/* An allocation takes the place of all that its range had. */
void front_add(struct front *front, const struct front_entry *entry);
/* The one that begins there, which is taken out with its blocks; false: none does. */
bool front_remove(struct front *front, uint64_t base, struct front_entry *removed);

void front_add_block(struct front *front, struct range block, uint32_t site);
void front_remove_block(struct front *front, uint64_t base);

/* The allocation that holds the address, or NULL. */
const struct front_entry *front_find(const struct front *front, uint64_t address);
/* Whether an allocation that is not the host's alone lies there, as a part at least. */
bool front_has_device_memory(const struct front *front, struct range range);
/* The block that holds the address, else the allocation; false: neither does. */
bool front_owner(const struct front *front, uint64_t address, struct range *owner);

/* The owners of what several pointers point to, which are asked for together: [0, 0) where there is
 * none. The end of memory in which nothing begins belongs to what ends there. */
void front_pointees(const struct front *front, const uint64_t *pointers, size_t count,
                    struct range *owners);

static inline uint32_t front_page(uint64_t page)
{
    return (uint32_t)(page * UINT64_C(0x9e3779b97f4a7c15) >> 54); /* below FRONT_PAGE_WORDS * 64 */
}

/* From where to where allocations have ever lain; [0, 0): there was none. On any thread, without
 * the lock, as front_may_have. */
static inline struct range front_span(const struct front *front)
{
    return (struct range){__atomic_load_n(&front->lowest, __ATOMIC_RELAXED),
                          __atomic_load_n(&front->highest, __ATOMIC_RELAXED)};
}

/* False: no allocation has ever held the address. On any thread, without the lock: who knows an
 * address was told of it after its memory was. */
static inline bool front_may_have(const struct front *front, uint64_t address)
{
    uint32_t bit = front_page(address >> FRONT_PAGE_SHIFT);
    return __atomic_load_n(&front->pages[bit / 64], __ATOMIC_RELAXED) >> bit % 64 & 1;
}
/* The same of a pointer, which may be to an end. */
static inline bool front_may_point(const struct front *front, uint64_t pointer)
{
    return front_may_have(front, pointer) ||
           (pointer << (64 - FRONT_PAGE_SHIFT) == 0 && front_may_have(front, pointer - 1));
}

#endif
