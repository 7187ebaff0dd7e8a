/* The memory that the program holds: live allocations, and blocks of pools that it declared, summed
 * by the site that allocated them. The reports of leaks and of failed allocations use it. */
#ifndef CSAN_DETECTOR_MEMORY_USAGE_H
#define CSAN_DETECTOR_MEMORY_USAGE_H

#include "csan/detector/live_memory.h"

enum memory_usage_class {
    MEMORY_USAGE_ALLOCATION,
    MEMORY_USAGE_POOL, /* an allocation whose blocks a pool hands out */
    MEMORY_USAGE_BLOCK
};

struct memory_usage {
    uint8_t class;              /* enum memory_usage_class */
    enum csan_memory_kind kind; /* of allocations */
    uint32_t site;
    uint64_t count, bytes;
    uint64_t oldest, newest; /* births, by now_coarse; 0: not known */
};

/* Whether an allocation that begins there counts, with its blocks; NULL: all count. */
typedef bool memory_usage_wanted(void *user, uint64_t base);

/* Returns one entry for each class, kind and site, largest first; the caller frees them. The result
 * is how many there are, and 0 when memory is short. */
size_t memory_usage_gather(const struct live_memory *live, memory_usage_wanted *wanted, void *user,
                           struct memory_usage **holdings);

#endif
