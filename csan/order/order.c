#include "csan/order/order.h"
#include "csan/base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool order_init(struct order *order)
{
    *order = (struct order){0};
    if (order_lane_create(order, 0, "the host") != ORDER_HOST)
        return false;
    order->lanes[ORDER_HOST].host = true;
    return true;
}

static void lane_empty(struct lane *lane)
{
    clock_release(lane->clock);
    free(lane->label);
    free(lane->name);
}

void order_clear(struct order *order)
{
    for (uint32_t i = 0; i < order->count; i++)
        lane_empty(&order->lanes[i]);
    free(order->lanes);
    free(order->spare);
    *order = (struct order){0};
}

/* ---- host threads */

/* `least` takes the minimum of itself and what the thread knows. */
static void take_least(struct order *order, uint32_t thread, struct clock *least)
{
    const struct lane *lane = &order->lanes[thread];
    for (uint32_t i = 0; i < order->count; i++) {
        uint64_t known = i == thread ? lane->sequence : clock_known(lane->clock, i);
        if (least->known[i] > known)
            least->known[i] = known;
    }
}

static bool learn(struct order *order, const struct clock *least)
{
    struct lane *host = &order->lanes[ORDER_HOST];
    bool learned = false;
    for (uint32_t i = 1; i < order->count; i++) {
        if (least->known[i] <= host->clock->known[i])
            continue;
        host->clock->known[i] = least->known[i];
        if (order->lanes[i].observed < least->known[i])
            order->lanes[i].observed = least->known[i];
        learned = true;
    }
    return learned;
}

/* Lane 0 learns what all host threads know by now. Done once a thread on average has learned
 * something, it costs what that learning did. */
static void settle_threads(struct order *order)
{
    struct lane *host = &order->lanes[ORDER_HOST];
    order->thread_joins = 0;
    struct clock *least = order->thread_count ? clock_create(order->count) : NULL;
    if (least && clock_own(&host->clock, order->count, &order->spare)) {
        memset(least->known, 0xff, order->count * sizeof(least->known[0]));
        for (uint32_t i = 1; i < order->count; i++)
            if (order->lanes[i].thread)
                take_least(order, i, least);
        host->sequence += learn(order, least);
    }
    clock_release(least);
}

void order_lane_is_host(struct order *order, uint32_t lane, bool thread)
{
    order->lanes[lane].host = true;
    order->lanes[lane].thread = thread;
    order->thread_count += thread;
}

/* ---- lanes */

/* So many lanes may wait for a host thread that never learns of their end. Beyond, it is enough
 * that the new lane's maker knows: a race with the former life bears the new one's name then. */
enum { WAITING_LANES_MAX = 1024 };

/* A destroyed lane of which the host knows every op and every snapshot. Nothing it did can race any
 * more, and its former events know no more than a new lane inherits from the host. The exception is
 * a function that ran during a call, so the reused lane keeps its role. */
static uint32_t find_recyclable(struct order *order, enum csan_lane_role role, uint32_t maker)
{
    uint32_t by = order->ended_count > WAITING_LANES_MAX ? maker : ORDER_HOST;
    for (uint32_t i = 1; order->ended_count && !order->held_back && i < order->count; i++) {
        struct lane *lane = &order->lanes[i];
        if (lane->ended && lane->role == role &&
            order_knows(order, by, epoch_make(i, lane->observed)))
            return i;
    }
    return ORDER_NO_LANE;
}

static bool grow(struct order *order)
{
    return array_room(&order->lanes, order->count, &order->capacity, 16, EPOCH_LANES,
                      sizeof *order->lanes);
}

static struct clock *first_clock(const struct order *order, bool knows_nothing, uint32_t maker)
{
    return knows_nothing ? clock_create(1) : clock_share(order->lanes[maker].clock);
}

uint32_t order_lane_create_as(struct order *order, enum csan_lane_role role, uint64_t handle,
                              const char *label, uint32_t maker)
{
    /* What waits in the queue was called before, and must not learn of the maker by this lane. */
    if (order->held_back)
        maker = ORDER_HOST;
    char *own_label = strdup(label ? label : "");
    if (!own_label)
        return ORDER_NO_LANE;
    uint32_t index = find_recyclable(order, role, maker);
    const bool again = index != ORDER_NO_LANE;
    const bool knows_nothing = order->count == 0 || role == CSAN_LANE_CALL;
    struct clock *clock = again || grow(order) ? first_clock(order, knows_nothing, maker) : NULL;
    if (!clock) {
        free(own_label);
        return ORDER_NO_LANE;
    }
    if (again) {
        lane_empty(&order->lanes[index]);
        order->ended_count--;
    } else {
        index = order->count++;
        order->lanes[index] = (struct lane){0};
    }
    struct lane *lane = &order->lanes[index];
    uint64_t sequence = lane->sequence + 1; /* a recycled lane starts with a clock of its own */
    *lane = (struct lane){.sequence = sequence,
                          .born = again ? sequence : 0,
                          .clock = clock,
                          .handle = handle,
                          .label = own_label,
                          .live = true,
                          .role = (uint8_t)role};
    order->live_count++;
    if (maker != ORDER_HOST && !knows_nothing)
        order_join_lane(order, index, maker);
    return index;
}

uint32_t order_lane_create(struct order *order, uint64_t handle, const char *label)
{
    return order_lane_create_as(order, CSAN_LANE_STREAM, handle, label, ORDER_HOST);
}

void order_lane_describe(struct order *order, uint32_t index, uint8_t kind, csan_site created)
{
    struct lane *lane = &order->lanes[index];
    const bool lettered = kind == CSAN_LANE_BLOCKING || kind == CSAN_LANE_NON_BLOCKING;
    if (lettered && !lane->letter)
        lane->letter = ++order->letters;
    lane->kind = kind;
    lane->created = created;
    order->has_requests |= kind == CSAN_LANE_REQUEST;
}

void order_lane_name(struct order *order, uint32_t index, const char *name)
{
    struct lane *lane = &order->lanes[index];
    char *copy = name && name[0] ? strdup(name) : NULL;
    free(lane->name);
    lane->name = copy;
}

void order_lane_part_of(struct order *order, uint32_t index, uint32_t whole)
{
    const struct lane *of = &order->lanes[whole];
    struct lane *lane = &order->lanes[index];
    lane->kind = of->kind;
    lane->letter = of->letter;
    lane->created = of->created;
    order_lane_name(order, index, of->name);
}

void order_lane_destroy(struct order *order, uint32_t lane)
{
    if (lane == ORDER_HOST || lane >= order->count || !order->lanes[lane].live)
        return;
    order->lanes[lane].live = false;
    order->lanes[lane].ended = true;
    order->live_count--;
    order->ended_count++;
    if (order->lanes[lane].thread) {
        order->lanes[lane].thread = false;
        order->thread_count--;
        settle_threads(order);
    }
}

/* ---- joins */

/* Who knows a lane's newest epoch knows all that the lane does: there is nothing to compare. So it
 * is where work is handed round. */
static bool join_clock(struct order *order, uint32_t lane, const struct clock *clock)
{
    struct lane *self = &order->lanes[lane];
    if (clock_known(clock, lane) >= self->sequence)
        return clock_follow(&self->clock, clock, &order->spare);
    return clock_join(&self->clock, clock, &order->spare);
}

/* Out of memory loses the join: the lane then knows less than is true and csan may report too much.
 * Nothing better can be done here, and the process is about to fail anyway. */
void order_join_slow(struct order *order, uint32_t lane, const struct snapshot *snapshot)
{
    struct lane *self = &order->lanes[lane];
    if (snapshot->clock && !join_clock(order, lane, snapshot->clock))
        return;
    if (snapshot->epoch)
        clock_learn(&self->clock, snapshot->epoch, &order->spare);
    self->sequence++;
    order->host_joins += self->host;
    if (self->thread && ++order->thread_joins >= order->thread_count)
        settle_threads(order);
}

/* What the lanes that are no host's know of this one. */
static uint64_t known_to_device(const struct order *order, uint32_t lane)
{
    uint64_t known = 0;
    for (uint32_t i = 0; i < order->count; i++) {
        uint64_t theirs = order->lanes[i].host && i ? 0 : clock_known(order->lanes[i].clock, lane);
        known = known > theirs ? known : theirs;
    }
    return known;
}

/* A wait for the whole device waits neither for host threads nor for what libraries do. */
static bool is_aside(const struct lane *lane)
{
    return lane->host || lane->kind == CSAN_LANE_REQUEST;
}

struct snapshot order_snapshot_all(struct order *order)
{
    struct clock *clock = clock_create(order->count);
    if (!clock)
        return (struct snapshot){0};
    for (uint32_t i = 0; i < order->count; i++)
        if (is_aside(&order->lanes[i]) && i != ORDER_HOST)
            clock->known[i] = known_to_device(order, i);
        else
            clock->known[i] = order->lanes[i].observed = order->lanes[i].sequence;
    return (struct snapshot){clock, 0};
}

struct snapshot order_snapshot_all_for(struct order *order, uint32_t lane)
{
    const struct snapshot all = order_snapshot_all(order);
    for (uint32_t i = 1; all.clock && i < order->count; i++) {
        const uint64_t known = order->lanes[i].kind == CSAN_LANE_REQUEST
                                   ? clock_known(order->lanes[lane].clock, i)
                                   : 0;
        if (known > all.clock->known[i])
            all.clock->known[i] = known;
    }
    return all;
}
