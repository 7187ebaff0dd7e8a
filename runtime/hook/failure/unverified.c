/* See unverified.h. */
#include "runtime/hook/failure/unverified.h"
#include "runtime/hook/session/guard.h"

enum { LANES = 16 };

struct item {
    csan_lane lane;
    csan_snapshot *snapshot; /* of the lane at a wait; NULL: there was none since the launches */
    bool newer;              /* there are launches behind the snapshot */
};

/* With the hooks' lock. */
static struct {
    struct item items[LANES];
    uint32_t count;
    bool more; /* lanes than there is room for: until the host has waited for all */
} own;

uint32_t unverified_any;

static struct item *item_of(csan_lane lane)
{
    for (uint32_t i = 0; i < own.count; i++)
        if (own.items[i].lane == lane)
            return &own.items[i];
    return NULL;
}

bool unverified_is_news(csan_lane lane)
{
    const struct item *item = item_of(lane);
    return item ? item->snapshot && !item->newer : !own.more;
}

void unverified_launched(csan_lane lane)
{
    struct item *item = item_of(lane);
    if (item)
        item->newer = item->snapshot != NULL;
    else if (own.count < LANES)
        own.items[own.count++] = (struct item){.lane = lane};
    else
        own.more = true;
    __atomic_store_n(&unverified_any, 1, __ATOMIC_RELEASE);
}

/* Whether the host knows all its launches. The lane may be gone: then its snapshot stays empty, and
 * only a wait for all ends it. */
static bool item_is_over(csan_context *context, struct item *item)
{
    for (;;) {
        if (!item->snapshot) {
            item->snapshot = csan_snapshot_take(context, item->lane);
            item->newer = false;
        }
        if (!item->snapshot || !context_is_over(context, item->snapshot))
            return false;
        csan_snapshot_release(context, item->snapshot);
        item->snapshot = NULL;
        if (!item->newer)
            return true;
    }
}

static void item_forget(csan_context *context, const struct item *item)
{
    if (item->snapshot)
        csan_snapshot_release(context, item->snapshot);
}

void unverified_waited(csan_context *context, bool all)
{
    uint32_t left = 0;
    guard_lock();
    for (uint32_t i = 0; i < own.count; i++)
        if (all)
            item_forget(context, &own.items[i]);
        else if (!item_is_over(context, &own.items[i]))
            own.items[left++] = own.items[i];
    own.count = left;
    own.more = own.more && !all;
    if (!left && !own.more)
        __atomic_store_n(&unverified_any, 0, __ATOMIC_RELEASE);
    guard_unlock();
}
