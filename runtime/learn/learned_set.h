/* What a launch touches, told relative to the pointers it was given, so that it serves another
 * launch with other pointers.
 *
 * Each range belongs to the anchor (launch.h) whose block it lies in; of several anchors in a block
 * to the nearest from below. A range in a block that no anchor points into was reached through
 * memory: a table of pointers, a variable csan does not know. It is kept by its address, together
 * with the block: such a set stands in this process alone, and only while that block is there. (A
 * pointer in memory may change without a trace; then two launches differ, and the kernel is one
 * whose set cannot be learned.)
 *
 * Sets are immutable, shared by reference count (atomic), and in normal form: two sets of the same
 * bytes by kind and anchor are equal, as long as no kind of an anchor has more than LEARNED_RUNS
 * runs of bytes; beyond they may be taken to differ. */
#ifndef RUNTIME_LEARN_LEARNED_SET_H
#define RUNTIME_LEARN_LEARNED_SET_H

#include "runtime/device/trace.h"
#include "runtime/learn/launch.h"

enum {
    LEARNED_DIMS = 4,
    LEARNED_RUNS = 65536,  /* expanded to find the normal form */
    LEARNED_RANGES = 4096, /* of a set; beyond, one range for each anchor and kind, inexact */
    LEARNED_NO_ANCHOR = 0xffff
};

/* Touches [anchor + offset + sum(i_k * stride_k), + bytes) for 0 <= i_k < count_k, k < dims. */
struct learned_range {
    uint16_t anchor; /* index into the launch's; LEARNED_NO_ANCHOR: offset is the address */
    uint8_t kind;    /* enum device_trace_kind */
    uint8_t dims;
    bool whole; /* the anchor's whole block; then no more is told */
    int64_t offset;
    uint64_t bytes;
    uint64_t stride[LEARNED_DIMS], count[LEARNED_DIMS]; /* outermost first; the unused are 0 */
};

struct learned_set {
    uint32_t references;
    uint32_t count, block_count;
    bool inexact;               /* a bound: holds every byte touched, and perhaps others */
    uint64_t hash;              /* of ranges and inexact */
    struct learn_block *blocks; /* of the ranges without an anchor, in their order */
    struct learned_range *ranges;
};

/* From a trace. NULL when memory is short. */
struct learned_set *learned_set_create(const struct device_trace_launch *trace,
                                       const struct learn_launch *launch, learn_find_block *find,
                                       void *user);
/* From ranges that came from a set: read from a file. They are copied. */
struct learned_set *learned_set_of_ranges(const struct learned_range *ranges, uint32_t count,
                                          bool inexact);
struct learned_set *learned_set_retain(struct learned_set *set);
void learned_set_release(struct learned_set *set);

bool learned_set_equal(const struct learned_set *a, const struct learned_set *b);

/* All that either touches, each anchor's whole block: an inexact set. NULL when memory is short, or
 * when either has ranges without an anchor: nobody knows where those will be next time. */
struct learned_set *learned_set_widen(const struct learned_set *a, const struct learned_set *b);

/* Whether the set can stand for the launch: it has the anchors, every range stays in its anchor's
 * block, and the blocks of the others are still there. */
bool learned_set_fits(const struct learned_set *set, const struct learn_launch *launch,
                      learn_find_block *find, void *user);

/* The first byte of a range in this launch. */
uint64_t learned_range_address(const struct learned_range *range,
                               const struct learn_launch *launch);

#endif
