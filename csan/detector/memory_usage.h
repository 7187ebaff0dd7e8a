/* The memory that the program holds: live allocations, and blocks of pools that it declared, summed
 * by the place that made them. The reports of leaks and of failed allocations use it. */
#ifndef CSAN_DETECTOR_MEMORY_USAGE_H
#define CSAN_DETECTOR_MEMORY_USAGE_H

#include "csan/detector/live_memory.h"

enum memory_usage_class {
    MEMORY_USAGE_ALLOCATION,
    MEMORY_USAGE_POOL, /* an allocation that blocks were handed out of */
    MEMORY_USAGE_BLOCK
};

struct memory_usage {
    uint8_t class;              /* enum memory_usage_class */
    enum csan_memory_kind kind; /* of allocations */
    uint32_t site;
    uint64_t count, bytes;
    uint64_t oldest, newest; /* births, by now_coarse; 0: not known */
};

/* Whether an allocation that begins there counts, and the blocks in it; NULL: all do. */
typedef bool memory_usage_wanted(void *user, uint64_t base);

/* One for each class, kind and site, largest first; to be freed. Returns how many: 0 where memory
 * is short, too. */
size_t memory_usage_gather(const struct live_memory *live, memory_usage_wanted *wanted, void *user,
                           struct memory_usage **holdings);

#endif
