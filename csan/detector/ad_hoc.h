/* Ad-hoc synchronization: kernels that run at once and order each other through words of memory,
 * one by a release, the other by an acquire (PTX ISA, "Memory Consistency Model", release and
 * acquire patterns). csan sees that both use the word. It does not see which value was read, so
 * this is no order. What such an order would explain is a possible race and no certain one.
 *
 * A *word* is what an op releases or acquires. An *edge* says that the op of an acquire may have
 * waited for the op of a release. Edges continue what is known: work that knows the first op may
 * know all that the second one knew. Both are kept in rings, the newest ones. Not thread-safe: the
 * context's lock covers every user. */
#ifndef CSAN_DETECTOR_AD_HOC_H
#define CSAN_DETECTOR_AD_HOC_H

#include "csan/base/range_map.h"
#include "csan/order/order.h"
#include "csan/shadow/access_history.h"

/* An op's further words become one with its last. */
enum { AD_HOC_WORDS = 256, AD_HOC_EDGES = 128, AD_HOC_WORDS_OF_OP = 16 };

struct ad_hoc_word {
    struct range bytes;
    struct snapshot snapshot; /* of the op: it and all that it knew */
    uint64_t op;
    uint8_t order; /* CSAN_ACQUIRES, CSAN_RELEASES */
};

struct ad_hoc_edge {
    struct range word;
    epoch_t acquired; /* of the op that may have waited */
    uint64_t acquired_op;
    struct snapshot released;
    uint64_t released_op;
};

/* All zero: no op has done so. */
struct ad_hoc {
    struct ad_hoc_word *words; /* rings; NULL until the first one */
    struct ad_hoc_edge *edges;
    uint64_t word_count, edge_count; /* ever; the newest are kept */
    struct range waits_for;          /* what the newest op acquires and nobody released so far */
    uint64_t waiting_op;             /* that op; 0: it is not so */
};

/* The accesses of an op that just took `epoch`: finds which earlier ops it may wait for, and which
 * may wait for it. Call it before the op's accesses are checked. Without memory, words are lost. */
void ad_hoc_op(struct ad_hoc *ad_hoc, struct order *order, epoch_t epoch, uint64_t op,
               const struct csan_access *accesses, size_t count);

/* Whether an access of the newest op and an earlier one may be ordered so; *word is where. */
bool ad_hoc_may_order(const struct ad_hoc *ad_hoc, const struct order *order,
                      const struct past_access *current, const struct past_access *earlier,
                      struct range *word);

void ad_hoc_clear(struct ad_hoc *ad_hoc, struct order *order);

/* Whether any of the accesses releases or acquires. */
static inline bool ad_hoc_is_used(const struct csan_access *accesses, size_t count)
{
    uint8_t order = 0;
    for (size_t i = 0; i < count; i++)
        order |= accesses[i].order;
    return order != 0;
}

#endif
