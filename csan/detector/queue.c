#define HASH_NONFATAL_OOM 1
#include "csan/base/access_copy.h"
#include "csan/detector/detect.h"
#include "csan/base/now.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

struct queued {
    struct entry entry;
    uint64_t stalled_since; /* nanoseconds; 0: not the reason of a stall yet */
    uint64_t ticket;        /* of a pending op, else 0 */
    struct queued *prev, *next;
    UT_hash_handle hh; /* by ticket */
};

void queue_init(struct queue *queue, size_t limit, uint64_t timeout)
{
    *queue = (struct queue){.limit = limit, .timeout = timeout, .pass = 1};
}

/* ---- entries on the heap */

void snapshot_handle_release(struct csan_snapshot *snapshot)
{
    if (!snapshot || --snapshot->references > 0)
        return;
    snapshot_release(&snapshot->value);
    free(snapshot);
}

static struct csan_snapshot *snapshot_handle_of(struct snapshot value)
{
    struct csan_snapshot *snapshot = calloc(1, sizeof(*snapshot));
    if (snapshot)
        *snapshot = (struct csan_snapshot){
            .references = 1, .state = SNAPSHOT_FILLED, .value = snapshot_share(value)};
    return snapshot;
}

static const struct csan_access *accesses_copy(const struct csan_access *accesses, size_t count)
{
    struct csan_access *copy = malloc(access_copy_bytes(accesses, count) + 1);
    if (copy)
        access_copy(copy, accesses, count);
    return copy;
}

/* Steps order nothing: the limit is for what a program has under way, not for what reports say. */
static bool takes_room(const struct entry *entry)
{
    return entry->kind != ENTRY_STEP;
}

static struct queued *queued_create(const struct entry *entry)
{
    struct queued *queued = calloc(1, sizeof(*queued));
    if (!queued)
        return NULL;
    queued->entry = *entry;
    queued->entry.accesses = accesses_copy(entry->accesses, entry->access_count);
    if (!queued->entry.accesses) {
        free(queued);
        return NULL;
    }
    if (entry->snapshot)
        entry->snapshot->references++;
    return queued;
}

static void queued_finish(struct queue *queue, struct detector *detector, struct queued *queued)
{
    struct entry *entry = &queued->entry;
    DL_DELETE(queue->entries, queued);
    queue->count -= takes_room(entry);
    detector->order.held_back = queue->entries != NULL;
    detector->out_of_turn &= queue->entries != NULL;
    if (queued->ticket)
        HASH_DEL(queue->tickets, queued);
    queue->kept |= entry->kind == ENTRY_KEEP;
    detector->from_queue = true;
    detector_process(detector, entry);
    detector->from_queue = false;
    snapshot_handle_release(entry->snapshot);
    free((void *)entry->accesses);
    free(queued);
}

/* ---- what is blocked */

static bool lane_blocked(const struct queue *queue, const struct detector *detector, uint32_t lane)
{
    return detector->order.lanes[lane].blocked_pass == queue->pass;
}

static bool any_lane_blocked(const struct queue *queue, const struct detector *detector)
{
    for (uint32_t i = 0; i < detector->order.count; i++)
        if (lane_blocked(queue, detector, i))
            return true;
    return false;
}

static bool waits_for_promise(const struct entry *entry)
{
    return entry->kind == ENTRY_JOIN && entry->snapshot->state == SNAPSHOT_PROMISE;
}

/* Which of the things an entry handles an entry kind uses. */
enum { USES_LANE = 1, USES_OTHER = 2, USES_SNAPSHOT = 4, USES_EVENT = 8, USES_FREE = 16 };
static const uint8_t entry_uses[] = {
    [ENTRY_OP] = USES_LANE,
    [ENTRY_SAME_OPERATOR] = USES_LANE,
    [ENTRY_JOIN_LANE] = USES_LANE | USES_OTHER,
    [ENTRY_JOIN] = USES_LANE | USES_SNAPSHOT,
    [ENTRY_SNAPSHOT] = USES_LANE | USES_SNAPSHOT,
    [ENTRY_SNAPSHOT_ALL] = USES_SNAPSHOT,
    [ENTRY_SNAPSHOT_EVENT] = USES_EVENT | USES_SNAPSHOT,
    [ENTRY_KEEP] = USES_LANE | USES_SNAPSHOT,
    [ENTRY_RECORD] = USES_LANE | USES_EVENT,
    [ENTRY_RECORD_SNAPSHOT] = USES_EVENT | USES_SNAPSHOT,
    [ENTRY_WAIT] = USES_LANE | USES_EVENT,
    [ENTRY_EVENT_DESTROY] = USES_EVENT,
    [ENTRY_LANE_DESTROY] = USES_LANE,
    [ENTRY_BIRTH] = USES_LANE,
    [ENTRY_FREE_BEGIN] = USES_LANE | USES_FREE,
    [ENTRY_FREE_END] = USES_FREE,
    [ENTRY_POOL_ALLOC] = 0,
    [ENTRY_POOL_FREE] = 0,
    [ENTRY_STEP] = USES_LANE,
    [ENTRY_JUDGED] = USES_LANE,
    [ENTRY_DOUBT] = 0,
};

static bool has_accesses(const struct entry *entry)
{
    return entry->kind == ENTRY_OP || entry->kind == ENTRY_JUDGED;
}

/* Does the entry touch, free or give out memory of that range? */
static bool concerns(const struct entry *entry, struct range range)
{
    if (entry->kind == ENTRY_BIRTH)
        return entry->base < range.end && range.start < entry->base + entry->bytes;
    if (entry->kind == ENTRY_FREE_BEGIN)
        return entry->free->base < range.end &&
               range.start < entry->free->base + entry->free->bytes;
    for (size_t i = 0; has_accesses(entry) && i < entry->access_count; i++) {
        struct lmad lmad = {.base = entry->accesses[i].base, .span = 1};
        bool to_end = entry->accesses[i].bytes == CSAN_TO_END;
        if ((to_end || lmad_from_access(&lmad, &entry->accesses[i])) && lmad.base < range.end &&
            range.start < lmad.base + lmad.span)
            return true;
    }
    return false;
}

/* Memory changes hands in the program's order: a birth would take the memory from under an earlier
 * op or free that is held back, and what comes after a birth that is held back would find the
 * former owner's. The entry is none of the queue's, or one that all before it in the queue are held
 * back. */
static bool memory_blocked(const struct queue *queue, const struct entry *entry)
{
    if (entry->kind != ENTRY_BIRTH && !has_accesses(entry) && entry->kind != ENTRY_FREE_BEGIN)
        return false;
    const struct queued *earlier;
    DL_FOREACH(queue->entries, earlier)
    {
        if (&earlier->entry == entry)
            return false;
        const struct entry *birth = entry->kind == ENTRY_BIRTH ? entry : &earlier->entry;
        const struct entry *other = entry->kind == ENTRY_BIRTH ? &earlier->entry : entry;
        if (birth->kind == ENTRY_BIRTH &&
            concerns(other, (struct range){birth->base, birth->base + birth->bytes}))
            return true;
    }
    return false;
}

/* Births and frees are ops, too. */
static bool joins_host(const struct detector *detector, const struct entry *entry)
{
    return (entry->kind == ENTRY_OP || entry->kind == ENTRY_BIRTH ||
            entry->kind == ENTRY_FREE_BEGIN) &&
           !entry->host_joined && order_joins_host(&detector->order, entry->lane);
}

/* It is checked with what the host knew at its turn. */
static bool is_free_of_host(const struct entry *entry)
{
    return entry->kind == ENTRY_FREE_BEGIN && entry->lane == ORDER_HOST && !entry->host_joined;
}

static bool is_blocked(const struct queue *queue, const struct detector *detector,
                       const struct entry *entry)
{
    uint8_t uses = entry_uses[entry->kind];
    if (entry->kind == ENTRY_SNAPSHOT_EVENT && entry->snapshot->state == SNAPSHOT_FILLED)
        return false; /* by looking ahead */
    if ((uses & USES_LANE) && lane_blocked(queue, detector, entry->lane))
        return true;
    if ((uses & USES_OTHER) && lane_blocked(queue, detector, entry->other))
        return true;
    if ((uses & USES_EVENT) && entry->event->blocked_pass == queue->pass)
        return true;
    if ((uses & USES_SNAPSHOT) && entry->snapshot->blocked_pass == queue->pass)
        return true;
    if ((uses & USES_FREE) && entry->free->blocked_pass == queue->pass)
        return true;
    /* what looks at every lane waits for every lane; an op joins the host */
    if (joins_host(detector, entry) && lane_blocked(queue, detector, ORDER_HOST))
        return true;
    if ((entry->kind == ENTRY_SNAPSHOT_ALL ||
         (entry->kind == ENTRY_FREE_BEGIN && entry->free->kind != CSAN_MEMORY_STREAM)) &&
        any_lane_blocked(queue, detector))
        return true;
    return memory_blocked(queue, entry);
}

/* An event whose newest record is held back only for what uses the event before it: what it will
 * hold is known. Then a wait joins that, and a snapshot takes it; neither waits for the rest. True
 * when the entry holds that snapshot now. */
static bool look_ahead(const struct queue *queue, struct entry *entry)
{
    if ((entry->kind != ENTRY_WAIT && entry->kind != ENTRY_SNAPSHOT_EVENT) ||
        entry->event->blocked_pass != queue->pass || !entry->event->newest)
        return false;
    if (entry->kind == ENTRY_SNAPSHOT_EVENT) {
        entry->snapshot->value = snapshot_share(entry->event->newest->value);
        entry->snapshot->state = SNAPSHOT_FILLED;
        return false;
    }
    entry->kind = ENTRY_JOIN;
    entry->snapshot = entry->event->newest;
    return true;
}

/* Turn "lane <- other", "lane <- event", "event <- lane" into the same with the source's snapshot
 * as of now, when the source goes on and the target is held back; likewise the host an op joins. */
static void take_along(const struct queue *queue, struct detector *detector, struct entry *entry)
{
    struct snapshot now;
    if ((joins_host(detector, entry) || is_free_of_host(entry)) &&
        !lane_blocked(queue, detector, ORDER_HOST))
        now = order_snapshot(&detector->order, ORDER_HOST);
    else if (entry->kind == ENTRY_JOIN_LANE && !lane_blocked(queue, detector, entry->other))
        now = order_snapshot(&detector->order, entry->other);
    else if (entry->kind == ENTRY_RECORD && !lane_blocked(queue, detector, entry->lane))
        now = order_snapshot(&detector->order, entry->lane);
    else if (entry->kind == ENTRY_WAIT && entry->event->blocked_pass != queue->pass)
        now = snapshot_share(entry->event->value);
    else
        return;
    struct csan_snapshot *handle = snapshot_handle_of(now);
    snapshot_release(&now);
    if (!handle)
        return;
    entry->snapshot = handle;
    if (joins_host(detector, entry) || is_free_of_host(entry))
        entry->host_joined = true;
    else if (entry->kind == ENTRY_RECORD)
        entry->kind = ENTRY_RECORD_SNAPSHOT;
    else
        entry->kind = ENTRY_JOIN;
}

static struct csan_snapshot *known_record(const struct queue *queue, const struct entry *entry)
{
    bool known = entry->kind == ENTRY_RECORD_SNAPSHOT &&
                 entry->snapshot->state == SNAPSHOT_FILLED &&
                 entry->snapshot->blocked_pass != queue->pass;
    return known ? entry->snapshot : NULL;
}

/* Whether the lane knows or does anything new after the entry. Births and frees at the host add
 * nothing. A free there waits for all lanes, including host functions, which join the host. */
static bool changes_lane(const struct detector *detector, const struct entry *entry)
{
    switch (entry->kind) {
    case ENTRY_RECORD:
    case ENTRY_KEEP:
    case ENTRY_SNAPSHOT:
    case ENTRY_STEP:
    case ENTRY_JUDGED:
        return false;
    case ENTRY_BIRTH:
    case ENTRY_FREE_BEGIN:
        return !detector->order.lanes[entry->lane].host;
    default:
        return entry_uses[entry->kind] & USES_LANE;
    }
}

/* The entry stays in the queue: whatever reads what it would have changed stays too. */
static void hold_back(struct queue *queue, struct detector *detector, struct entry *entry)
{
    take_along(queue, detector, entry);
    detector->out_of_turn = true;
    uint8_t uses = entry_uses[entry->kind];
    if (changes_lane(detector, entry))
        detector->order.lanes[entry->lane].blocked_pass = queue->pass;
    if (uses & USES_EVENT) {
        entry->event->blocked_pass = queue->pass;
        if (entry->kind == ENTRY_RECORD || entry->kind == ENTRY_RECORD_SNAPSHOT)
            entry->event->newest = known_record(queue, entry);
    }
    if ((uses & USES_SNAPSHOT) && entry->kind != ENTRY_JOIN &&
        entry->kind != ENTRY_RECORD_SNAPSHOT && entry->kind != ENTRY_KEEP)
        entry->snapshot->blocked_pass = queue->pass;
    if (uses & USES_FREE)
        entry->free->blocked_pass = queue->pass;
}

/* ---- passing */

static uint64_t now_nanoseconds(const struct queue *queue)
{
    return queue->now ? queue->now : now_coarse();
}

static void set_stalled(const struct queue *queue, struct queued *queued)
{
    if (!queued->stalled_since)
        queued->stalled_since = now_nanoseconds(queue);
}

/* A birth whose lane is held back happens at once, on a lane of its own that the birth's lane joins
 * in its turn: who uses the memory without an order must not have to wait for that turn. */
static struct csan_snapshot *birth_ahead(struct queue *queue, struct detector *detector,
                                         struct entry *entry)
{
    struct order *order = &detector->order;
    if (entry->kind != ENTRY_BIRTH || queue->stopped || entry->lane == ORDER_HOST ||
        !lane_blocked(queue, detector, entry->lane) || lane_blocked(queue, detector, ORDER_HOST) ||
        memory_blocked(queue, entry))
        return NULL;
    const struct lane *owner = &order->lanes[entry->lane];
    uint32_t own = order_lane_create(order, owner->handle, owner->label);
    if (own == ORDER_NO_LANE)
        return NULL;
    struct entry birth = *entry;
    birth.lane = own;
    detector_process(detector, &birth);
    struct snapshot value = order_snapshot(order, own);
    struct csan_snapshot *snapshot = snapshot_handle_of(value);
    snapshot_release(&value);
    order_lane_destroy(order, own);
    return snapshot;
}

/* From the front, process what can be. */
static void pass_once(struct queue *queue, struct detector *detector)
{
    queue->pass++;
    queue->stopped = queue->kept = false;
    bool anything_blocked = false;
    struct queued *queued, *next;
    DL_FOREACH_SAFE(queue->entries, queued, next)
    {
        struct entry *entry = &queued->entry;
        if (look_ahead(queue, entry))
            entry->snapshot->references++; /* the queue's own */
        struct csan_snapshot *born = anything_blocked ? birth_ahead(queue, detector, entry) : NULL;
        if (born) {
            entry->kind = ENTRY_JOIN;
            entry->snapshot = born; /* now the queue's */
        }
        bool blocked = anything_blocked && is_blocked(queue, detector, entry);
        if (waits_for_promise(entry) || blocked) {
            if (!blocked)
                set_stalled(queue, queued);
            hold_back(queue, detector, entry);
            anything_blocked = true;
        } else if (entry->pending) {
            set_stalled(queue, queued);
            queue->stopped = true;
            return;
        } else {
            queued_finish(queue, detector, queued);
        }
    }
}

static void pass_until_stuck(struct queue *queue, struct detector *detector)
{
    do
        pass_once(queue, detector);
    while (queue->kept && queue->entries && !queue->stopped);
}

/* The first entry that is not decided: nothing before it holds anything back. */
static struct queued *stalling_entry(const struct queue *queue)
{
    struct queued *queued;
    DL_FOREACH(queue->entries, queued)
    {
        if (queued->entry.pending || waits_for_promise(&queued->entry))
            return queued;
    }
    return NULL;
}

/* The entry that stalls the queue goes on with the next best: an op with its fallback, a join
 * without its promise. */
static void give_up(struct queue *queue, struct detector *detector, uint64_t *counter)
{
    struct queued *stalling = stalling_entry(queue);
    if (stalling && stalling->entry.pending) {
        stalling->entry.pending = false;
        ++*counter;
    } else if (stalling) {
        stalling->entry.snapshot->state = SNAPSHOT_FILLED;
        detector->stats.promises_broken++;
    }
    pass_until_stuck(queue, detector);
}

static void enforce_limits(struct queue *queue, struct detector *detector)
{
    const struct queued *stalling;
    while ((stalling = stalling_entry(queue))) {
        if (queue->count > queue->limit)
            give_up(queue, detector, &detector->stats.pending_overflows);
        else if (queue->timeout && stalling->stalled_since &&
                 now_nanoseconds(queue) - stalling->stalled_since > queue->timeout)
            give_up(queue, detector, &detector->stats.pending_timeouts);
        else
            return;
    }
}

/* ---- entering */

static bool passes_now(const struct queue *queue, const struct detector *detector,
                       const struct entry *entry)
{
    if (entry->pending || waits_for_promise(entry))
        return false;
    return !queue->entries || (!queue->stopped && !is_blocked(queue, detector, entry));
}

/* Or a memory pool. */
static bool teaches_host(const struct detector *detector, const struct entry *entry)
{
    const struct order *order = &detector->order;
    return detector->watch && (order->lanes[entry->lane].host || entry->lane == order->pool);
}

static uint64_t enqueue(struct queue *queue, struct detector *detector, struct queued *queued)
{
    bool passes = false;
    if (queued->entry.pending) {
        queued->ticket = ++queue->last_ticket;
        HASH_ADD(hh, queue->tickets, ticket, sizeof(queued->ticket), queued);
        if (!queued->hh.tbl) /* no memory: it can only go on with its fallback */
            queued->ticket = 0;
        queued->entry.pending = queued->ticket != 0;
        passes = !queued->entry.pending;
    }
    uint64_t ticket = queued->ticket;
    DL_APPEND(queue->entries, queued);
    queue->count += takes_room(&queued->entry);
    detector->order.held_back = true;
    detector->watch_lost |= teaches_host(detector, &queued->entry);
    if (!queue->stopped) {
        if (queued->entry.pending || waits_for_promise(&queued->entry))
            set_stalled(queue, queued);
        if (queued->entry.pending)
            queue->stopped = true;
        else
            hold_back(queue, detector, &queued->entry);
    }
    if (passes) /* it is held back by nothing of its own */
        pass_until_stuck(queue, detector);
    enforce_limits(queue, detector);
    return ticket;
}

uint64_t queue_submit(struct queue *queue, struct detector *detector, struct entry *entry)
{
    struct csan_snapshot *born =
        __builtin_expect(queue->entries != NULL, 0) ? birth_ahead(queue, detector, entry) : NULL;
    if (born) {
        queue_submit(queue, detector,
                     &(struct entry){.kind = ENTRY_JOIN, .lane = entry->lane, .snapshot = born});
        snapshot_handle_release(born);
        return 0;
    }
    if (__builtin_expect(queue->entries != NULL, 0) && !queue->stopped)
        look_ahead(queue, entry);
    if (__builtin_expect(passes_now(queue, detector, entry), 1)) {
        detector_process(detector, entry);
        if (queue->entries && entry->kind == ENTRY_KEEP)
            pass_until_stuck(queue, detector);
        return 0;
    }
    struct queued *queued = queued_create(entry);
    if (queued)
        return enqueue(queue, detector, queued);
    if (!waits_for_promise(entry)) /* no memory: decided at once with what is known */
        detector_process(detector, entry);
    return 0;
}

void queue_resolve(struct queue *queue, struct detector *detector, uint64_t ticket,
                   enum csan_level level, const struct csan_access *accesses, size_t count)
{
    struct queued *queued;
    HASH_FIND(hh, queue->tickets, &ticket, sizeof(ticket), queued);
    if (!queued || !queued->entry.pending)
        return;
    const struct csan_access *copy = accesses_copy(accesses, count);
    if (copy) {
        free((void *)queued->entry.accesses);
        queued->entry.accesses = copy;
        queued->entry.access_count = count;
        queued->entry.level = level;
    }
    queued->entry.pending = false;
    if (queued->stalled_since)
        pass_until_stuck(queue, detector);
}

uint64_t queue_first_ticket(const struct queue *queue)
{
    return queue->tickets ? queue->tickets->ticket : 0; /* they are in the order of their coming */
}

void queue_drain(struct queue *queue, struct detector *detector)
{
    while (queue->entries)
        give_up(queue, detector, &detector->stats.pending_timeouts);
}
