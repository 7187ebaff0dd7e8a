/* Whether an access reaches out of its memory, or uses freed memory.
 *
 * It checks only what surely happens: exact accesses. The memory is the block of a pool or else the
 * allocation in which the access begins or ends. It stays silent in these cases, which are no
 * faults or cannot be decided:
 *  - a read that ends in the 16 bytes with which the memory ends: kernels load whole vectors (PTX
 * ISA, "Vectors": at most 16 bytes before sm_100);
 *  - freed memory of the host's: the C library may have given its addresses out again;
 *  - memory that the program mapped or registered itself: pieces of one buffer may adjoin;
 *  - blocks of pools, of a graph's nodes: a graph keeps the blocks that it was captured with;
 *  - bytes of other memory, where it was seen which addresses were touched, and not through which
 *    pointer. */
#ifndef CSAN_DETECTOR_BOUNDS_H
#define CSAN_DETECTOR_BOUNDS_H

#include "csan/shadow/lmad.h"
#include "csan/shadow/memory.h"
#include "csan/stack/site.h"

struct bounds_fault {
    bool unplaced;      /* nothing is wrong that is known: the bytes begin in no allocation */
    bool freed;         /* else out of bounds */
    struct range bytes; /* that should not be touched */
    struct range owner; /* the memory, as it was allocated */
    uint32_t birth_site;
    enum csan_where where;
    uint64_t distance;      /* from the owner to the first of the bytes */
    struct range neighbour; /* the live memory that the bytes belong to; empty: none */
    uint32_t neighbour_site;
    struct past_access death; /* of freed memory */
};

/* What the check needs to know of the op. */
struct bounds_op {
    enum csan_level level;
    bool node;    /* of a graph */
    bool refused; /* the driver did not do it */
};

/* Whether an access is wrong; then `fault` says how, of a pattern with gaps by its first run that
 * is. */
bool bounds_check(struct memory *memory, const struct site_table *sites, const struct bounds_op *op,
                  const struct lmad *lmad, enum csan_access_kind kind, struct bounds_fault *fault);

/* The same for bytes in no allocation that are accessed through a pointer of that value. They are
 * out of bounds of the memory that the pointer points into. It stays silent if the pointer points
 * into no memory or past an end, since it may be a base that an offset was taken from. It also
 * stays silent if the access lies in other memory. */
bool bounds_check_wrong_pointer(struct memory *memory, const struct site_table *sites,
                                const struct bounds_op *op, uint64_t pointer, struct range bytes,
                                struct bounds_fault *fault);

/* The same for a free of that address that the driver refused: the memory was freed before, or
 * begins elsewhere. */
bool bounds_check_free(struct memory *memory, uint64_t address, struct bounds_fault *fault);

#endif
