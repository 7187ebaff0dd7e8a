/* See launch_ring.h. */
#include "runtime/hook/failure/launch_ring.h"
#include "csan/detector/context.h"
#include "runtime/hook/session/session.h"

#include <string.h>

static struct launch_ring_entry ring[LAUNCHED_MOST];
static uint64_t turns;

void launch_ring_note(const struct launch_ring_entry *launch)
{
    const uint64_t turn = __atomic_add_fetch(&turns, 1, __ATOMIC_RELAXED);
    struct launch_ring_entry *place = &ring[turn % LAUNCHED_MOST];
    __atomic_store_n(&place->turn, 0, __ATOMIC_RELEASE);
    place->id = launch->id;
    place->symbol = launch->symbol;
    place->site = launch->site;
    place->lane = launch->lane;
    place->indices = launch->indices;
    place->progress = launch->progress;
    place->failed = launch->failed;
    memcpy(place->grid, launch->grid, sizeof place->grid);
    memcpy(place->block, launch->block, sizeof place->block);
    __atomic_store_n(&place->turn, turn, __ATOMIC_RELEASE);
}

static bool take(uint64_t turn, struct launch_ring_entry *launch)
{
    const struct launch_ring_entry *place = &ring[turn % LAUNCHED_MOST];
    *launch = *place;
    return __atomic_load_n(&place->turn, __ATOMIC_ACQUIRE) == turn && launch->turn == turn;
}

static bool same_sizes(const uint32_t known[3], const uint32_t *wanted)
{
    return !known[0] || !wanted || memcmp(known, wanted, 3 * sizeof *known) == 0;
}

static bool same_kernel(const struct launch_ring_entry *launch,
                        const struct launch_ring_query *wanted)
{
    const void *const *frames;
    size_t count;
    if (!wanted->symbol)
        return true;
    if (launch->symbol)
        return strcmp(launch->symbol, wanted->symbol) == 0;
    const char *name = context_site_stack(session_context(), launch->site, &frames, &count);
    return name && wanted->shown && strcmp(name, wanted->shown) == 0;
}

static bool is_meant(const struct launch_ring_entry *launch, const struct launch_ring_query *wanted)
{
    if (wanted->id && launch->id)
        return launch->id == wanted->id;
    return same_sizes(launch->grid, wanted->grid) && same_sizes(launch->block, wanted->block) &&
           same_kernel(launch, wanted);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

bool launch_ring_find(const struct launch_ring_query *wanted, struct launch_ring_entry *found,
                      uint64_t *since)
{
    const uint64_t newest = __atomic_load_n(&turns, __ATOMIC_ACQUIRE);
    const uint64_t oldest = newest > LAUNCHED_MOST ? newest - LAUNCHED_MOST + 1 : 1;
    bool any = false;
    struct launch_ring_entry launch;
    for (uint64_t turn = newest; turn >= oldest; turn--) {
        if (!take(turn, &launch) || !is_meant(&launch, wanted))
            continue;
        if (any && (!wanted->ordinal ||
                    distance(turn, wanted->ordinal) >= distance(found->turn, wanted->ordinal)))
            continue;
        *found = launch;
        any = true;
        if (!wanted->ordinal)
            break;
    }
    *since = any ? newest - found->turn : 0;
    return any;
}

size_t launch_ring_newest(const char **names, size_t most)
{
    const uint64_t newest = __atomic_load_n(&turns, __ATOMIC_ACQUIRE);
    const void *const *frames;
    struct launch_ring_entry launch;
    size_t count = 0, depth;
    for (uint64_t turn = newest; turn && newest - turn < LAUNCHED_MOST && count < most; turn--) {
        if (!take(turn, &launch))
            continue;
        const char *name = context_site_stack(session_context(), launch.site, &frames, &depth);
        bool known = !name;
        for (size_t i = 0; i < count && !known; i++)
            known = strcmp(names[i], name) == 0;
        if (!known)
            names[count++] = name;
    }
    return count;
}

/* Whether it belongs among the first of the streams that are found already. */
static bool is_first(const struct launch_ring_entry *launch,
                     const struct launch_ring_entry *launches, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (launches[i].progress.slot == launch->progress.slot)
            return launches[i].progress.number == launch->progress.number;
    return true;
}

size_t launch_ring_unfinished(struct launch_ring_entry *launches, size_t most)
{
    const uint64_t newest = __atomic_load_n(&turns, __ATOMIC_ACQUIRE);
    const uint64_t oldest = newest > LAUNCHED_MOST ? newest - LAUNCHED_MOST + 1 : 1;
    struct launch_ring_entry launch;
    size_t count = 0;
    for (uint64_t turn = oldest; turn <= newest; turn++) {
        if (!take(turn, &launch))
            continue;
        if (launch.failed) {
            launches[0] = launch;
            return 1;
        }
        if (count < most && !progress_is_reached(launch.progress) &&
            is_first(&launch, launches, count))
            launches[count++] = launch;
    }
    return count;
}

uint64_t launch_ring_since(const struct launch_ring_entry *launch)
{
    return __atomic_load_n(&turns, __ATOMIC_ACQUIRE) - launch->turn;
}
