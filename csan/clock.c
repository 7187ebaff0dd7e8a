#include "clock.h"

#include <stdlib.h>
#include <string.h>

/* Widths are rounded up so that lanes created one by one do not each cost every clock a copy. */
static uint32_t round_up_lanes(uint32_t lanes)
{
    return (lanes + 15) & ~15u;
}

struct clock *clock_create(uint32_t lanes)
{
    uint32_t rounded = round_up_lanes(lanes ? lanes : 1);
    struct clock *clock = calloc(1, sizeof(*clock) + rounded * sizeof(clock->known[0]));
    if (clock) {
        clock->references = 1;
        clock->lanes = rounded;
    }
    return clock;
}

void clock_release(struct clock *clock)
{
    if (clock && --clock->references == 0)
        free(clock);
}

bool clock_own(struct clock **clock, uint32_t lanes)
{
    struct clock *shared = *clock;
    if (shared->references == 1 && shared->lanes >= lanes)
        return true;
    uint32_t width = round_up_lanes(lanes > shared->lanes ? lanes : shared->lanes);
    struct clock *owned = malloc(sizeof(*owned) + width * sizeof(owned->known[0]));
    if (!owned)
        return false;
    owned->references = 1;
    owned->lanes = width;
    memcpy(owned->known, shared->known, shared->lanes * sizeof(owned->known[0]));
    memset(owned->known + shared->lanes, 0, (width - shared->lanes) * sizeof(owned->known[0]));
    clock_release(shared);
    *clock = owned;
    return true;
}

bool clock_join(struct clock **clock, const struct clock *other)
{
    if (*clock == other)
        return true;
    if (!clock_own(clock, other->lanes))
        return false;
    uint64_t *restrict known = (*clock)->known;
    const uint64_t *restrict theirs = other->known;
    for (uint32_t i = 0; i < other->lanes; i++)
        known[i] = known[i] > theirs[i] ? known[i] : theirs[i];
    return true;
}

bool clock_learn(struct clock **clock, epoch_t epoch)
{
    if (!clock_own(clock, epoch_lane(epoch) + 1))
        return false;
    uint64_t *known = &(*clock)->known[epoch_lane(epoch)];
    if (*known < epoch_sequence(epoch))
        *known = epoch_sequence(epoch);
    return true;
}
