/* Where an address lies: in which of the program's memory, or how far from which, living or freed.
 * For findings that name one address, as a kernel that failed does. */
#ifndef CSAN_DETECTOR_NEAREST_BLOCK_H
#define CSAN_DETECTOR_NEAREST_BLOCK_H

#include "csan/shadow/memory.h"

struct nearest_block {
    enum csan_where where; /* UNKNOWN: near no memory */
    uint64_t distance;     /* from the begin (INSIDE, BEFORE) or the end (BEHIND) of: */
    struct range owner;    /* a pool's block, else an allocation, as it was allocated */
    uint32_t birth_site;
    bool freed;
    struct past_access death; /* if it was freed */
};

/* Of several that are near, the one whose end or begin is nearest. Beyond 1 MiB, or the memory's
 * own size if that is more, it is near none. */
struct nearest_block nearest_block_of(struct memory *memory, uint64_t address);

#endif
