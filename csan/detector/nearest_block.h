/* Where an address lies: in which memory of the program, or how far from which, live or freed. For
 * findings that name one address, such as a failed kernel. */
#ifndef CSAN_DETECTOR_NEAREST_BLOCK_H
#define CSAN_DETECTOR_NEAREST_BLOCK_H

#include "csan/shadow/memory.h"

struct nearest_block {
    enum csan_where where; /* UNKNOWN: near no memory */
    uint64_t distance;     /* from the begin (INSIDE, BEFORE) or the end (BEHIND) of this memory: */
    struct range owner;    /* a pool's block, else an allocation, as it was allocated */
    uint32_t birth_site;
    bool freed;
    struct past_access death; /* if it was freed */
};

/* If several are near, it is the one whose end or begin is nearest. Beyond 1 MiB, or beyond the
 * memory's own size if that is larger, memory is not near. */
struct nearest_block nearest_block_of(struct memory *memory, uint64_t address);

#endif
