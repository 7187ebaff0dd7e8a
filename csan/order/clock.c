#include "csan/order/clock.h"

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

void clock_release_slow(struct clock *clock, struct clock **spare)
{
    free(*spare);
    *spare = clock;
}

/* A clock to be filled, at least `lanes` wide: the held one, if it is the holder's alone. */
static struct clock *room_for(struct clock *held, uint32_t lanes, struct clock **spare)
{
    if (held->references == 1 && held->lanes >= lanes)
        return held;
    uint32_t width = round_up_lanes(lanes > held->lanes ? lanes : held->lanes);
    struct clock *room = *spare;
    if (room && room->lanes == width)
        *spare = NULL;
    else if (!(room = malloc(sizeof(*room) + width * sizeof(room->known[0]))))
        return NULL;
    room->references = 1;
    room->lanes = width;
    return room;
}

/* *clock becomes `room`, which has been filled up to `lanes`. */
static void move_into(struct clock **clock, struct clock *room, uint32_t lanes,
                      struct clock **spare)
{
    if (room == *clock)
        return;
    if (lanes < room->lanes)
        memset(room->known + lanes, 0, (room->lanes - lanes) * sizeof(room->known[0]));
    clock_release_to(*clock, spare);
    *clock = room;
}

bool clock_own(struct clock **clock, uint32_t lanes, struct clock **spare)
{
    const struct clock *shared = *clock;
    struct clock *room = room_for(*clock, lanes, spare);
    if (!room)
        return false;
    if (room != shared)
        memcpy(room->known, shared->known, shared->lanes * sizeof(room->known[0]));
    move_into(clock, room, shared->lanes, spare);
    return true;
}

bool clock_join(struct clock **clock, const struct clock *other, struct clock **spare)
{
    if (*clock == other)
        return true;
    if (!clock_own(clock, other->lanes, spare))
        return false;
    uint64_t *restrict known = (*clock)->known;
    const uint64_t *restrict theirs = other->known;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < other->lanes; i++)
        known[i] = known[i] > theirs[i] ? known[i] : theirs[i];
    return true;
}

bool clock_follow(struct clock **clock, const struct clock *other, struct clock **spare)
{
    if (*clock == other)
        return true;
    struct clock *room = room_for(*clock, other->lanes, spare);
    if (!room)
        return false;
    memcpy(room->known, other->known, other->lanes * sizeof(room->known[0]));
    move_into(clock, room, other->lanes, spare);
    return true;
}

bool clock_learn(struct clock **clock, epoch_t epoch, struct clock **spare)
{
    if (!clock_own(clock, epoch_lane(epoch) + 1, spare))
        return false;
    uint64_t *known = &(*clock)->known[epoch_lane(epoch)];
    if (*known < epoch_sequence(epoch))
        *known = epoch_sequence(epoch);
    return true;
}
