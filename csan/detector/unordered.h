/* How many pairs of the device's ops nothing orders: what an order costs is how many there are
 * less. Counted exactly, at each op, for all that came before; only where option count_unordered
 * asks. The host's ops do not count.
 *
 * Of each lane the sequence numbers of its ops are kept, eight bytes each, for the process's life.
 * Not thread-safe: the context's lock covers every user. */
#ifndef CSAN_DETECTOR_UNORDERED_H
#define CSAN_DETECTOR_UNORDERED_H

#include "csan/order/order.h"

struct unordered_lane {
    uint64_t *sequences; /* ascending */
    size_t count, capacity;
};

struct unordered {
    bool wanted;
    bool cut; /* there was no memory for some: the count is too low and is not reported */
    struct unordered_lane *lanes;
    uint32_t lane_count;
    uint64_t pairs;
};

void unordered_clear(struct unordered *unordered);

/* An op of the lane takes that epoch. Adds to `pairs` of how many earlier ones on other lanes it is
 * not ordered after. */
void unordered_op(struct unordered *unordered, const struct order *order, epoch_t epoch);

#endif
