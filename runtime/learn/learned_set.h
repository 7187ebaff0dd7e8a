/* The bytes that a launch touches, relative to its pointers, so that the set serves another launch
 * with other pointers.
 *
 * Each range belongs to the anchor (launch.h) whose block it lies in; of several anchors in a block
 * to the nearest from below. A range in a block that no anchor points into was reached through
 * memory: a table of pointers, a variable csan does not know. Its range keeps its address, together
 * with the block: such a set is valid in this process only, and only while that block exists. (A
 * pointer in memory may change without a trace; then two launches differ, and the kernel is one
 * whose set cannot be learned.)
 *
 * If the bytes of two anchors cannot be distinguished, a set alone does not say what a launch with
 * another layout touches. So the set names relations between anchors. First, anchors that are
 * equal. Second, an anchor where another's range ends: the range may have been divided there, or
 * the kernel may use that pointer as an end. Third, neighbours in one block: bytes that belong to
 * the nearest anchor below may be another's, further below. If these relations hold, the set is
 * valid; otherwise only once a trace agrees (prediction.h). If a range ends with its block and the
 * next block is touched from its own pointer on, the two blocks probably adjoin by chance, as
 * tensors of a pool do. csan assumes that such a relation is no condition until a trace contradicts
 * it (learner.h).
 *
 * Sets are immutable, shared by reference count (atomic), and in normal form: two sets of the same
 * bytes by kind and anchor are equal, as long as no kind of an anchor has more than LEARNED_RUNS
 * runs of bytes; beyond they may be taken to differ. */
#ifndef RUNTIME_LEARN_LEARNED_SET_H
#define RUNTIME_LEARN_LEARNED_SET_H

#include "runtime/trace/trace.h"
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
    bool whole; /* the anchor's whole block; the other members are then unused */
    int64_t offset;
    uint64_t bytes;
    uint64_t stride[LEARNED_DIMS], count[LEARNED_DIMS]; /* outermost first; the unused are 0 */
};

/* The anchor `to` lies so far behind the anchor `from`. */
struct learned_relation {
    uint16_t from, to;
    int64_t distance;
    bool assumed; /* to be no condition: `to` begins the next block, and what is touched there */
};

struct learned_set {
    uint32_t references;
    uint32_t count, block_count, relation_count;
    bool inexact;  /* a bound: holds every byte touched, and perhaps others */
    bool whole;    /* inexact, with ranges that are whole; the others are exact */
    uint64_t hash; /* of ranges and inexact */
    struct learned_relation *relations; /* by from, then to */
    struct learn_block *blocks;         /* of the ranges without an anchor, in their order */
    struct learned_range *ranges;
};

/* From a trace. NULL when memory is short. */
struct learned_set *learned_set_create(const struct device_trace_launch *trace,
                                       const struct learn_launch *launch, learn_find_block *find,
                                       void *user);
/* From ranges and relations that came from a set: they are copied. */
struct learned_set *learned_set_of_ranges(const struct learned_range *ranges, uint32_t count,
                                          const struct learned_relation *relations,
                                          uint32_t relation_count, bool inexact);
struct learned_set *learned_set_retain(struct learned_set *set);
void learned_set_release(struct learned_set *set);
/* Of its memory, which is one piece. */
size_t learned_set_bytes(const struct learned_set *set);

bool learned_range_equal(const struct learned_range *a, const struct learned_range *b);
/* The same ranges; relations are not looked at. */
bool learned_set_equal(const struct learned_set *a, const struct learned_set *b);
/* Whether its relations hold among the launch's anchors: those that are a condition, and all. */
bool learned_set_stands(const struct learned_set *set, const struct learn_launch *launch);
bool learned_set_holds(const struct learned_set *set, const struct learn_launch *launch);
/* Whether each relation of the set is one of the other's. */
bool learned_relations_within(const struct learned_set *set, const struct learned_set *other);
/* Behind the last byte of a range, from its anchor. */
int64_t learned_range_end(const struct learned_range *range);

/* Whether there is room for the set in the launch: it has the anchors, every range stays in its
 * anchor's block, and the blocks of the others are still there. */
bool learned_set_fits(const struct learned_set *set, const struct learn_launch *launch,
                      learn_find_block *find, void *user);

/* The first byte of a range in this launch. */
uint64_t learned_range_address(const struct learned_range *range,
                               const struct learn_launch *launch);

#endif
