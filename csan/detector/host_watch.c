/* What a watch of the host's memory hears of ops and of the host's order. See host_watch.h and
 * detect.h. */
#include "csan/detector/host_watch.h"
#include "csan/detector/detect.h"
#include "csan/shadow/lmad.h"

static bool is_of_host(const struct allocation *allocation)
{
    return allocation && !allocation->freed &&
           (allocation->kind == CSAN_MEMORY_HOST || allocation->kind == CSAN_MEMORY_MANAGED);
}

/* False: it touches nothing, or memory of a device. */
static bool watched_access(struct detector *detector, const struct csan_access *access,
                           struct lmad *lmad, struct host_touch *touch)
{
    const bool to_end = access->bytes == CSAN_TO_END;
    const struct allocation *allocation = memory_find(&detector->memory, access->base);
    if (allocation && !is_of_host(allocation))
        return false;
    if (!to_end && !lmad_from_access(lmad, access))
        return false;
    touch->exact = !to_end && access->bound == CSAN_EXACT;
    touch->pageable = !allocation;
    touch->writes = access->kind != CSAN_READ;
    touch->atomic = access->kind == CSAN_ATOMIC;
    touch->argument = access->argument;
    touch->lmad = lmad;
    touch->bytes = (struct range){lmad->base, lmad->base + lmad->span};
    if (to_end)
        touch->bytes =
            (struct range){access->base, allocation ? allocation->range.end : UINT64_MAX};
    if (allocation)
        touch->memory = allocation->kind;
    return true;
}

void detector_watch_op(struct detector *detector, const struct op *op, epoch_t epoch)
{
    static const struct range everywhere = {0, UINT64_MAX};
    const struct host_watch *watch = detector->watch;
    const struct lane *lane = &detector->order.lanes[op->lane];
    struct lmad lmad = {0};
    struct host_touch touch = {.epoch = epoch,
                               .number = op->number,
                               .site = op->site,
                               .level = op->level,
                               .by = lane->host ? HOST_TOUCH_HOST : (enum host_touch_by)lane->role,
                               .request = lane->kind == CSAN_LANE_REQUEST,
                               .late = detector->from_queue};
    for (size_t i = 0; i < op->access_count; i++)
        if (watched_access(detector, &op->accesses[i], &lmad, &touch))
            detector->watch_due |= watch->touched(watch->user, &touch);
    if (op->level != CSAN_LEVEL_UNKNOWN || lane->host)
        return;
    touch.exact = false;
    touch.writes = true;
    touch.bytes = everywhere;
    detector->watch_due |= watch->touched(watch->user, &touch);
}

void detector_watch_host(struct detector *detector)
{
    const struct host_watch *watch = detector->watch;
    const struct order *order = &detector->order;
    const uint64_t learned = order->lanes[ORDER_HOST].sequence + order->host_joins +
                             (order->pool ? order->lanes[order->pool].sequence : 0);
    if (__builtin_expect(detector->watch_lost, 0) && watch->lost)
        watch->lost(watch->user);
    detector->watch_lost = false;
    if (learned == detector->watched)
        return;
    detector->watched = learned;
    detector->watch_due |= watch->learned(watch->user, order);
}

bool host_watch_knows(const struct order *order, uint64_t epoch)
{
    return order_knows(order, ORDER_HOST, epoch);
}

bool host_watch_anyone_knows(const struct order *order, uint64_t epoch)
{
    bool known = order_knows(order, ORDER_HOST, epoch) ||
                 (order->pool && order_knows(order, order->pool, epoch));
    for (uint32_t i = 1; order->thread_count && !known && i < order->count; i++)
        known = order->lanes[i].host && order_knows(order, i, epoch);
    return known;
}
