/* Counts the pairs of the device's ops that nothing orders. The cost of an added order is how many
 * fewer there are with it. The count is exact, and made at each op for all that came before; only
 * if option count_unordered asks. The host's ops do not count.
 *
 * It keeps the sequence numbers of all ops of each lane, eight bytes each, for the process's life.
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
    bool cut; /* memory was short: the count is too low, and is not reported */
    struct unordered_lane *lanes;
    size_t lane_count;
    uint64_t pairs;
};

void unordered_clear(struct unordered *unordered);

/* An op of the lane takes that epoch. Adds to `pairs` the number of earlier ops on other lanes that
 * it is not ordered after. */
void unordered_op(struct unordered *unordered, const struct order *order, epoch_t epoch);

#endif
