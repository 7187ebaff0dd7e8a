/* The access history of some bytes (an interval or a strided pattern): the past accesses that csan
 * remembers.
 *
 *   write     the last exact plain write
 *   others    per kind and lane the newest reads, atomics and bounded writes that no later
 *             access made superfluous
 *
 * A new access removes past accesses that it covers and is ordered after, if it is exact. A write
 * removes all kinds, a read only reads, an atomic only atomics of its width. Whatever races with a
 * removed access also races with the one that stays.
 *
 * The shadow's cells and strided records each have one. Not thread-safe: the context's lock covers
 * every user. */
#ifndef CSAN_SHADOW_ACCESS_HISTORY_H
#define CSAN_SHADOW_ACCESS_HISTORY_H

#include "csan/shadow/lmad.h"
#include "csan/order/order.h"

/* One access as the shadow remembers it. */
struct past_access {
    epoch_t epoch;
    uint64_t op; /* number of the op, from 1 */
    uint32_t site;
    uint32_t generation; /* the generation of memory that it accessed; see memory.h */
    uint16_t argument;
    uint8_t kind;          /* enum csan_access_kind; 0: none */
    uint8_t bound;         /* enum csan_bound */
    uint8_t element_bytes; /* of an atomic */
    uint8_t level;         /* enum csan_level, of the op */
};

/* Reads, then bounded writes, then atomics, sorted by past_access_key. Each kind has at most one
 * exact and one bounded access per lane (and width, for atomics). */
struct past_access_list {
    uint32_t count, capacity;
    struct past_access accesses[];
};

/* An emptied list keeps its memory for the next read, unless it is one of the rare large ones. */
enum { PAST_ACCESS_LIST_KEPT = 4 };

struct access_history {
    struct past_access write;        /* the last exact plain write */
    struct past_access_list *others; /* or NULL */
};

/* Called for each past access that conflicts with the access and is not ordered before it, with one
 * run of common bytes. `undecided`: whether the strided patterns overlap was too costly to decide.
 */
typedef void shadow_conflict(void *user, const struct past_access *earlier, uint64_t start,
                             uint64_t end, bool undecided);

/* An access that is checked against past accesses and then remembered. */
struct shadow_access {
    const struct lmad *lmad;
    struct past_access self;
    struct knowledge knowledge; /* the lane's */
    const struct order *order;
    uint32_t strided_cap;      /* records kept at most */
    uint64_t *strided_dropped; /* counts those lost to the cap */
    shadow_conflict *conflict;
    void *user;
};

void access_history_release(struct access_history *history); /* frees what it points to */
/* A copy of `from`. When memory is short, it may lack accesses. */
struct access_history access_history_copy(const struct access_history *from);
bool access_history_equal(const struct access_history *a, const struct access_history *b);

/* Whether `lane` knows that all accesses in it have finished. */
bool access_history_known(const struct access_history *history, const struct order *order,
                          uint32_t lane);
/* Whether access_history_check would report anything. */
bool access_history_race(const struct access_history *history, const struct shadow_access *access);
/* Removes what an access to at least the same bytes makes superfluous. */
void access_history_forget(struct access_history *history, const struct shadow_access *access);
/* Removes what the host knows to have finished. */
void access_history_forget_finished(struct access_history *history, const struct order *order);
void access_history_filter(struct access_history *history,
                           bool (*keep)(void *user, const struct past_access *past), void *user);

static inline bool access_history_has_others(const struct access_history *history)
{
    return history->others && history->others->count;
}

static inline bool access_history_empty(const struct access_history *history)
{
    return !history->write.kind && !access_history_has_others(history);
}

static inline bool access_history_is_one_write(const struct access_history *history)
{
    return history->write.kind && !access_history_has_others(history);
}

/* ---- every access goes through these */

static inline uint64_t past_access_key(const struct past_access *past)
{
    uint64_t width = past->kind == CSAN_ATOMIC ? past->element_bytes : 0;
    return (uint64_t)past->kind << 32 | (uint64_t)epoch_lane(past->epoch) << 9 | width << 1 |
           (past->bound != CSAN_EXACT);
}

/* Whether two kinds of access to the same bytes need an order. Atomics of one width never do.
 * Atomics of different widths overlap in part, which PTX leaves undefined (PTX ISA, "Memory
 * Consistency Model": morally strong operations must overlap completely). */
static inline bool past_access_kinds_conflict(const struct past_access *a,
                                              const struct past_access *b)
{
    if (a->kind == CSAN_READ && b->kind == CSAN_READ)
        return false;
    if (a->kind == CSAN_ATOMIC && b->kind == CSAN_ATOMIC)
        return a->element_bytes && b->element_bytes && a->element_bytes != b->element_bytes;
    return true;
}

static inline bool past_access_races(const struct past_access *earlier,
                                     const struct shadow_access *access)
{
    return !knowledge_has(access->knowledge, earlier->epoch) && earlier->kind &&
           past_access_kinds_conflict(&access->self, earlier);
}

/* The first past access of the list whose key is at least `key`. */
static inline uint32_t past_access_list_position(const struct past_access_list *list, uint64_t key)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (past_access_key(&list->accesses[middle]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first past access that may race with the access: for a read, it skips the reads. */
static inline uint32_t past_access_list_first(const struct past_access_list *list,
                                              const struct shadow_access *access)
{
    if (access->self.kind != CSAN_READ)
        return 0;
    if (list->accesses[list->count - 1].kind == CSAN_READ)
        return list->count;
    return past_access_list_position(list, (uint64_t)(CSAN_READ + 1) << 32);
}

/* Reports each past access that races with the access, on the common bytes [start, end). */
static inline void access_history_check(const struct access_history *history,
                                        const struct shadow_access *access, uint64_t start,
                                        uint64_t end, bool undecided)
{
    const struct past_access_list *list = history->others;
    if (past_access_races(&history->write, access))
        access->conflict(access->user, &history->write, start, end, undecided);
    if (!access_history_has_others(history))
        return;
    for (uint32_t i = past_access_list_first(list, access); i < list->count; i++)
        if (past_access_races(&list->accesses[i], access))
            access->conflict(access->user, &list->accesses[i], start, end, undecided);
}

/* The slow part of access_history_put: a lane's first past access of its class here. */
void access_history_insert_slow(struct access_history *history, const struct shadow_access *access);

/* Remembers an access to exactly these bytes, and forgets what it makes superfluous. */
static inline void access_history_put(struct access_history *history,
                                      const struct shadow_access *access)
{
    const struct past_access *past = &access->self;
    if (past->kind == CSAN_WRITE && past->bound == CSAN_EXACT) {
        if (access_history_has_others(history))
            access_history_forget(history, access);
        history->write = *past;
        return;
    }
    struct past_access_list *list = history->others;
    if (list) {
        uint32_t place = past_access_list_position(list, past_access_key(past));
        if (place < list->count &&
            past_access_key(&list->accesses[place]) == past_access_key(past)) {
            list->accesses[place] = *past;
            return;
        }
    }
    access_history_insert_slow(history, access);
}

/* ---- and most are done with by these */

static inline bool past_access_list_known(const struct past_access_list *list,
                                          struct knowledge knowledge)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!knowledge_has(knowledge, list->accesses[i].epoch))
            return false;
    return true;
}

/* access_history_check and access_history_put of an exact read, for the usual case: no write races
 * with it, and it makes the one remembered read superfluous. Else false, and nothing was done. */
static inline bool access_history_read_again(struct access_history *history,
                                             const struct past_access *past,
                                             struct knowledge knowledge)
{
    struct past_access_list *list = history->others;
    if (!list || list->count > 1 || !knowledge_has(knowledge, history->write.epoch))
        return false;
    /* Whether there is one at all cannot be predicted, so there is no branch. */
    bool superfluous =
        (list->accesses[0].kind == CSAN_READ) & knowledge_has(knowledge, list->accesses[0].epoch);
    if (!(superfluous | (list->count == 0)))
        return false;
    list->count = 1;
    list->accesses[0] = *past;
    return true;
}

/* The same for an exact write that knows all past accesses. */
static inline bool access_history_write_again(struct access_history *history,
                                              const struct past_access *past,
                                              struct knowledge knowledge)
{
    struct past_access_list *list = history->others;
    if (!knowledge_has(knowledge, history->write.epoch))
        return false;
    if (list) {
        bool superfluous = (list->count == 0) | knowledge_has(knowledge, list->accesses[0].epoch);
        if (!superfluous || list->capacity > PAST_ACCESS_LIST_KEPT ||
            (list->count > 1 && !past_access_list_known(list, knowledge)))
            return false;
        list->count = 0;
    }
    history->write = *past;
    return true;
}

#endif
