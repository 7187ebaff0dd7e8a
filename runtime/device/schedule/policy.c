/* Which piece of legal work runs next, by the policy that CSAN_SCHEDULE or device_schedule_set
 * chose (schedule.h lists them). When anything runs is schedule.c's matter, and the only caller. A
 * policy looks at nothing but the queues and its own random numbers, so equal programs on one host
 * thread get equal answers. */
#include "runtime/device/driver/driver.h"

enum {
    FAIR_SLICES = 64,         /* after so many steps an item lets others pass */
    SLICE = 8192,             /* warp instructions of one step of a kernel */
    SMALLEST_GRANULARITY = 4, /* random slices: powers of two below two to this, or one up to ... */
    LARGEST_GRANULARITY = 14, /* ... this */
    GROWTH_SLICES = 32,       /* after each so many, slices are twice as long */
    HOLD_PATIENCE = 16, /* queries in vain before held work runs: the program may be polling */
};

/* ---- Random numbers: splitmix64, the same everywhere --------------------------------------- */

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

bool policy_coin(void)
{
    return random_next(&device.schedule.random) >> 63;
}

/* Under random, slices of all sizes up to one that the seed chooses, from eight instructions, which
 * interleave kernels between a load and the store that depends on it, to a whole small kernel. They
 * grow with what has run already: a long kernel must not be long in vain. */
uint64_t policy_budget(uint64_t slices)
{
    struct schedule *schedule = &device.schedule;
    if (schedule->policy != POLICY_RANDOM)
        return SLICE;
    uint64_t shift =
        random_next(&schedule->random) % schedule->granularity + slices / GROWTH_SLICES;
    return UINT64_C(1) << (shift < LARGEST_GRANULARITY ? shift : LARGEST_GRANULARITY);
}

/* ---- Choosing ------------------------------------------------------------------------------ */

/* The queue whose head must run first so that `stream` is done up to `sequence`; NULL when that is
 * being run by another thread. Every step goes to an older item, so this ends. */
static struct CUstream_st *blocker(struct CUstream_st *stream, uint64_t sequence)
{
    while (stream && !queue_drained(stream, sequence)) {
        struct item *head = stream->head;
        if (head->running)
            return NULL;
        if (queue_ready(stream))
            return stream;
        if (head->wait && !head->wait->done) {
            sequence = head->wait->sequence;
            stream = head->wait->queue;
            continue;
        }
        sequence = head->sequence - 1;
        if (!stream->legacy) {
            stream = stream->context->legacy;
            continue;
        }
        struct CUstream_st *other = device.busy;
        while (other == stream || other->context != stream->context || !stream_is_blocking(other) ||
               queue_drained(other, sequence))
            other = other->busy_next;
        stream = other;
    }
    return NULL;
}

static struct CUstream_st *pick_needed(const struct goal *goal)
{
    if (goal->mark)
        return blocker(goal->mark->queue, goal->mark->sequence);
    if (goal->stream && !goal->stream->legacy)
        return blocker(goal->stream, goal->sequence);
    /* Of several streams, the one that got work last. */
    for (struct CUstream_st *stream = device.busy_last; stream; stream = stream->busy_previous) {
        if (!goal_covers(goal, stream) || queue_drained(stream, goal->sequence))
            continue;
        struct CUstream_st *found = blocker(stream, goal->sequence);
        if (found)
            return found;
    }
    return NULL;
}

static bool is_held(const struct item *item)
{
    const struct schedule *schedule = &device.schedule;
    return schedule->policy == POLICY_HOLD && !schedule->released &&
           item->sequence >= schedule->choice.first && item->sequence <= schedule->choice.last;
}

static uint64_t rounds_of(const struct CUstream_st *stream)
{
    return stream->head->slices / FAIR_SLICES;
}

/* The oldest (or newest) ready item among those that made the fewest rounds of steps. */
static struct CUstream_st *pick_by_age(bool newest, bool held)
{
    struct CUstream_st *best = NULL;
    for (struct CUstream_st *stream = device.busy; stream; stream = stream->busy_next) {
        if (!queue_ready(stream) || (!held && is_held(stream->head)))
            continue;
        bool older = best && stream->head->sequence < best->head->sequence;
        if (!best || rounds_of(stream) < rounds_of(best) ||
            (rounds_of(stream) == rounds_of(best) && older != newest))
            best = stream;
    }
    return best;
}

/* Hold: what the item that all wait for needs, as soon as it is enqueued. */
static struct CUstream_st *pick_awaited(void)
{
    uint64_t until = device.schedule.choice.until;
    if (device.schedule.policy != POLICY_HOLD || device.schedule.released)
        return NULL;
    for (struct CUstream_st *stream = device.busy; stream; stream = stream->busy_next)
        for (const struct item *item = stream->head; item && item->sequence <= until;
             item = item->next)
            if (item->sequence == until)
                return blocker(stream, until);
    return NULL;
}

struct CUstream_st *policy_pick_oldest(void)
{
    struct CUstream_st *awaited = pick_awaited();
    return awaited ? awaited : pick_by_age(false, false);
}

static struct CUstream_st *pick_random(uint64_t *state)
{
    uint64_t ready = 0;
    for (struct CUstream_st *stream = device.busy; stream; stream = stream->busy_next)
        ready += queue_ready(stream);
    if (!ready)
        return NULL;
    uint64_t wanted = random_next(state) % ready;
    struct CUstream_st *chosen = device.busy;
    while (!queue_ready(chosen) || wanted-- != 0)
        chosen = chosen->busy_next;
    return chosen;
}

struct CUstream_st *policy_pick_any(uint64_t *random)
{
    return device.schedule.policy == POLICY_RANDOM ? pick_random(random) : pick_by_age(false, true);
}

/* What is needed may be spinning on something that only other work can change. */
static struct CUstream_st *pick_lazily(const struct goal *goal)
{
    struct CUstream_st *needed = pick_needed(goal), *oldest = pick_by_age(false, true);
    if (!needed || !oldest)
        return needed;
    return rounds_of(needed) > rounds_of(oldest) ? oldest : needed;
}

/* What has waited in vain longer than what is held has run lets that run. */
static struct CUstream_st *yields_to_held(struct CUstream_st *found)
{
    struct CUstream_st *oldest = pick_by_age(false, true);
    return oldest && rounds_of(found) > rounds_of(oldest) ? oldest : found;
}

struct CUstream_st *policy_pick(const struct goal *goal)
{
    struct CUstream_st *found;
    if (!device.schedule.pending)
        return NULL;
    switch (device.schedule.policy) {
    case POLICY_RANDOM:
        return pick_random(&device.schedule.random);
    case POLICY_LAZY:
        return pick_lazily(goal);
    case POLICY_REVERSE:
        return pick_by_age(true, true);
    default:
        found = policy_pick_oldest();
        if (found && found->head->spins) /* for what is held, perhaps: a kernel for its children */
            return yields_to_held(found);
        return found ? found : pick_lazily(goal); /* the host waits for what is held */
    }
}

void policy_finished(uint64_t item)
{
    if (item == device.schedule.choice.until)
        device.schedule.released = true;
}

/* ---- Begin -------------------------------------------------------------------------------------
 */

void policy_start(const struct schedule_choice *choice)
{
    struct schedule *schedule = &device.schedule;
    schedule->choice = *choice;
    schedule->choice.file = NULL; /* the caller's text */
    schedule->base = schedule->sequence;
    schedule->choice.first += schedule->base;
    schedule->choice.last += schedule->base;
    schedule->choice.until += schedule->base;
    schedule->policy = choice->policy;
    schedule->released = false;
    schedule->patience = HOLD_PATIENCE;
    schedule->random = choice->seed;
    schedule->idle_random = ~choice->seed;
    schedule->granularity =
        SMALLEST_GRANULARITY +
        random_next(&schedule->random) % (LARGEST_GRANULARITY - SMALLEST_GRANULARITY + 1);
    schedule->point = schedule->clock = 0;
    if (choice->policy != POLICY_REPLAY) /* the recording says */
        schedule->stages_late = choice->policy == POLICY_LAZY || choice->policy == POLICY_REVERSE;
}
