/* See unordered.h. */
#include "csan/detector/unordered.h"
#include "csan/base/array.h"

#include <stdlib.h>
#include <string.h>

void unordered_clear(struct unordered *unordered)
{
    for (uint32_t i = 0; i < unordered->lane_count; i++)
        free(unordered->lanes[i].sequences);
    free(unordered->lanes);
    *unordered = (struct unordered){.wanted = unordered->wanted};
}

static struct unordered_lane *lane_of(struct unordered *unordered, uint32_t lane)
{
    return array_reach(&unordered->lanes, lane, &unordered->lane_count, 16, SIZE_MAX,
                       sizeof *unordered->lanes)
               ? &unordered->lanes[lane]
               : NULL;
}

static bool keep(struct unordered_lane *lane, uint64_t sequence)
{
    if (!array_room(&lane->sequences, lane->count, &lane->capacity, 64, SIZE_MAX,
                    sizeof *lane->sequences))
        return false;
    lane->sequences[lane->count++] = sequence;
    return true;
}

/* How many of the lane's ops have a number above `known`. */
static size_t count_beyond(const struct unordered_lane *lane, uint64_t known)
{
    size_t low = 0, high = lane->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lane->sequences[middle] <= known)
            low = middle + 1;
        else
            high = middle;
    }
    return lane->count - low;
}

void unordered_op(struct unordered *unordered, const struct order *order, epoch_t epoch)
{
    const uint32_t self = epoch_lane(epoch);
    const struct clock *clock = order->lanes[self].clock;
    struct unordered_lane *own;
    if (order->lanes[self].host)
        return;
    for (uint32_t i = 0; i < unordered->lane_count && i < order->count; i++)
        if (i != self && unordered->lanes[i].count)
            unordered->pairs += count_beyond(&unordered->lanes[i], clock_known(clock, i));
    own = lane_of(unordered, self);
    if (!own || !keep(own, epoch_sequence(epoch)))
        unordered->cut = true;
}
