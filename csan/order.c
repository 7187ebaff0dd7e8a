#include "order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool order_init(struct order *order)
{
    *order = (struct order){0};
    return order_lane_create(order, 0, "the host") == ORDER_HOST;
}

void order_clear(struct order *order)
{
    for (uint32_t i = 0; i < order->count; i++) {
        clock_release(order->lanes[i].clock);
        free(order->lanes[i].label);
    }
    free(order->lanes);
    *order = (struct order){0};
}

/* A destroyed lane of which the host knows every op and every snapshot: nothing it did can race any
 * more, and no event of its former life can tell more than the new one inherits from the host. */
static uint32_t find_recyclable(struct order *order)
{
    for (uint32_t i = 1; order->ended_count && i < order->count; i++) {
        struct lane *lane = &order->lanes[i];
        if (lane->ended && order_is_over(order, epoch_make(i, lane->observed)))
            return i;
    }
    return ORDER_NO_LANE;
}

static bool grow(struct order *order)
{
    if (order->count < order->capacity)
        return true;
    if (order->count == EPOCH_LANES)
        return false;
    uint32_t capacity = order->capacity ? order->capacity * 2 : 16;
    struct lane *lanes = realloc(order->lanes, capacity * sizeof(*lanes));
    if (!lanes)
        return false;
    order->lanes = lanes;
    order->capacity = capacity;
    return true;
}

uint32_t order_lane_create(struct order *order, uint64_t handle, const char *label)
{
    char *own_label = strdup(label ? label : "");
    if (!own_label)
        return ORDER_NO_LANE;
    uint32_t index = find_recyclable(order);
    if (index != ORDER_NO_LANE) {
        struct lane *lane = &order->lanes[index];
        free(lane->label);
        clock_release(lane->clock);
        order->ended_count--;
    } else {
        if (!grow(order)) {
            free(own_label);
            return ORDER_NO_LANE;
        }
        index = order->count;
        order->lanes[index] = (struct lane){0};
    }
    struct clock *clock =
        index == ORDER_HOST ? clock_create(1) : clock_share(order->lanes[ORDER_HOST].clock);
    if (!clock) {
        free(own_label);
        return ORDER_NO_LANE;
    }
    if (index == order->count)
        order->count++;
    struct lane *lane = &order->lanes[index];
    uint64_t sequence = lane->sequence + 1; /* a recycled lane starts with a clock of its own */
    *lane = (struct lane){
        .sequence = sequence, .clock = clock, .handle = handle, .label = own_label, .live = true};
    order->live_count++;
    return index;
}

void order_lane_destroy(struct order *order, uint32_t lane)
{
    if (lane == ORDER_HOST || lane >= order->count || !order->lanes[lane].live)
        return;
    order->lanes[lane].live = false;
    order->lanes[lane].ended = true;
    order->live_count--;
    order->ended_count++;
}

/* Out of memory loses the join: the lane then knows less than is true and csan may report too much.
 * Nothing better can be done here, and the process is about to fail anyway. */
static void join_slow(struct order *order, uint32_t lane, const struct snapshot *snapshot)
{
    struct lane *self = &order->lanes[lane];
    if (snapshot->clock && !clock_join(&self->clock, snapshot->clock))
        return;
    if (snapshot->epoch)
        clock_learn(&self->clock, snapshot->epoch);
    self->sequence++;
}

void order_join(struct order *order, uint32_t lane, const struct snapshot *snapshot)
{
    if (snapshot->epoch) {
        if (order_knows(order, lane, snapshot->epoch))
            return;
    } else if (!snapshot->clock) {
        return;
    }
    join_slow(order, lane, snapshot);
}

void order_join_lane(struct order *order, uint32_t lane, uint32_t other)
{
    struct lane *them = &order->lanes[other];
    them->observed = them->sequence;
    struct snapshot snapshot = {them->clock, epoch_make(other, them->sequence)};
    order_join(order, lane, &snapshot);
}

epoch_t order_advance(struct order *order, uint32_t lane)
{
    if (lane != ORDER_HOST)
        order_join_lane(order, lane, ORDER_HOST);
    return order_advance_alone(order, lane);
}

epoch_t order_advance_alone(struct order *order, uint32_t lane)
{
    struct lane *self = &order->lanes[lane];
    self->observed = ++self->sequence;
    return epoch_make(lane, self->sequence);
}

struct snapshot order_snapshot(struct order *order, uint32_t lane)
{
    struct lane *self = &order->lanes[lane];
    self->observed = self->sequence;
    return (struct snapshot){clock_share(self->clock), epoch_make(lane, self->sequence)};
}

struct snapshot order_snapshot_all(struct order *order)
{
    struct clock *clock = clock_create(order->count);
    if (!clock)
        return (struct snapshot){0};
    for (uint32_t i = 0; i < order->count; i++)
        clock->known[i] = order->lanes[i].observed = order->lanes[i].sequence;
    return (struct snapshot){clock, 0};
}
