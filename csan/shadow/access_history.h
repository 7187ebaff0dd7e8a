/* Marks: what is remembered of accesses to the same bytes, be they an interval or a strided
 * pattern.
 *
 *   marks    the last exact plain write, and beside it, per kind and lane, the newest reads,
 * atomics and bounded writes that no later access made superfluous
 *
 * What a new access lets them forget: only what it covers, is ordered after, and only if it is
 * exact. A write forgets everything, a read only reads, an atomic only atomics of its width.
 * Whatever races with the forgotten access also races with the one that stays.
 *
 * The shadow's cells and strided records use them. Not thread-safe: the context's lock covers every
 * user. */
#ifndef CSAN_SHADOW_ACCESS_HISTORY_H
#define CSAN_SHADOW_ACCESS_HISTORY_H

#include "csan/shadow/lmad.h"
#include "csan/order/order.h"

/* One access as the shadow remembers it. */
struct mark {
    epoch_t epoch;
    uint64_t op; /* number of the op, from 1 */
    uint32_t site;
    uint32_t generation; /* which owner of the memory it belonged to; see memory.h */
    uint16_t argument;
    uint8_t kind;          /* enum csan_access_kind; 0: no mark */
    uint8_t bound;         /* enum csan_bound */
    uint8_t element_bytes; /* of an atomic */
    uint8_t level;         /* enum csan_level, of the op */
};

/* Reads, then bounded writes, then atomics: of each kind at most one exact and one bounded a lane
 * (and width, for atomics), sorted by mark_key. */
struct mark_list {
    uint32_t count, capacity;
    struct mark marks[];
};

/* An emptied list is kept for the next read, unless it is one of the rare large ones. */
enum { MARK_LIST_KEPT = 4 };

struct marks {
    struct mark write;        /* the last exact plain write */
    struct mark_list *others; /* or NULL */
};

/* What the access meets: called for each earlier mark it conflicts with and is not ordered after,
 * with one run of common bytes. `undecided`: whether the strided patterns meet was too costly to
 * decide. */
typedef void shadow_conflict(void *user, const struct mark *earlier, uint64_t start, uint64_t end,
                             bool undecided);

/* An access to be checked against earlier marks and then remembered. */
struct shadow_access {
    const struct lmad *lmad;
    struct mark mark;
    struct knowledge knowledge; /* the lane's */
    const struct order *order;
    uint32_t strided_cap;      /* records kept at most */
    uint64_t *strided_dropped; /* counts those lost to the cap */
    shadow_conflict *conflict;
    void *user;
};

void marks_release(struct marks *marks); /* frees what it points to */
/* A copy of `from`, which may lose marks when memory is short. */
struct marks marks_copy(const struct marks *from);
bool marks_equal(const struct marks *a, const struct marks *b);

/* Does `lane` know all of it to have finished? */
bool marks_known(const struct marks *marks, const struct order *order, uint32_t lane);
/* Would marks_check report anything? */
bool marks_race(const struct marks *marks, const struct shadow_access *access);
/* Forget what an access to at least the same bytes makes superfluous. */
void marks_forget(struct marks *marks, const struct shadow_access *access);
/* Forget what the host knows to have finished. */
void marks_forget_finished(struct marks *marks, const struct order *order);
void marks_filter(struct marks *marks, bool (*keep)(void *user, const struct mark *mark),
                  void *user);

static inline bool marks_have_others(const struct marks *marks)
{
    return marks->others && marks->others->count;
}

static inline bool marks_empty(const struct marks *marks)
{
    return !marks->write.kind && !marks_have_others(marks);
}

static inline bool marks_are_one_write(const struct marks *marks)
{
    return marks->write.kind && !marks_have_others(marks);
}

/* ---- every access goes through these */

static inline uint64_t mark_key(const struct mark *mark)
{
    uint64_t width = mark->kind == CSAN_ATOMIC ? mark->element_bytes : 0;
    return (uint64_t)mark->kind << 32 | (uint64_t)epoch_lane(mark->epoch) << 9 | width << 1 |
           (mark->bound != CSAN_EXACT);
}

/* Do two kinds of access to the same bytes need an order? Atomics of one width never do; atomics of
 * different widths overlap in part, which PTX leaves undefined (PTX ISA, "Memory Consistency
 * Model": morally strong operations must overlap completely). */
static inline bool mark_kinds_conflict(const struct mark *a, const struct mark *b)
{
    if (a->kind == CSAN_READ && b->kind == CSAN_READ)
        return false;
    if (a->kind == CSAN_ATOMIC && b->kind == CSAN_ATOMIC)
        return a->element_bytes && b->element_bytes && a->element_bytes != b->element_bytes;
    return true;
}

static inline bool mark_races(const struct mark *earlier, const struct shadow_access *access)
{
    return !knowledge_has(access->knowledge, earlier->epoch) && earlier->kind &&
           mark_kinds_conflict(&access->mark, earlier);
}

/* The first mark of the list whose key is at least `key`. */
static inline uint32_t mark_list_place(const struct mark_list *list, uint64_t key)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (mark_key(&list->marks[middle]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the marks begin that the access may race with: a read passes over the reads. */
static inline uint32_t mark_list_first(const struct mark_list *list,
                                       const struct shadow_access *access)
{
    if (access->mark.kind != CSAN_READ)
        return 0;
    if (list->marks[list->count - 1].kind == CSAN_READ)
        return list->count;
    return mark_list_place(list, (uint64_t)(CSAN_READ + 1) << 32);
}

/* Report each mark that the access races with, on the common bytes [start, end). */
static inline void marks_check(const struct marks *marks, const struct shadow_access *access,
                               uint64_t start, uint64_t end, bool undecided)
{
    const struct mark_list *list = marks->others;
    if (mark_races(&marks->write, access))
        access->conflict(access->user, &marks->write, start, end, undecided);
    if (!marks_have_others(marks))
        return;
    for (uint32_t i = mark_list_first(list, access); i < list->count; i++)
        if (mark_races(&list->marks[i], access))
            access->conflict(access->user, &list->marks[i], start, end, undecided);
}

/* The slow half of marks_put: a lane's first mark of its class here. */
void marks_insert_slow(struct marks *marks, const struct shadow_access *access);

/* Remember an access to exactly these bytes, and forget what it makes superfluous. */
static inline void marks_put(struct marks *marks, const struct shadow_access *access)
{
    const struct mark *mark = &access->mark;
    if (mark->kind == CSAN_WRITE && mark->bound == CSAN_EXACT) {
        if (marks_have_others(marks))
            marks_forget(marks, access);
        marks->write = *mark;
        return;
    }
    struct mark_list *list = marks->others;
    if (list) {
        uint32_t place = mark_list_place(list, mark_key(mark));
        if (place < list->count && mark_key(&list->marks[place]) == mark_key(mark)) {
            list->marks[place] = *mark;
            return;
        }
    }
    marks_insert_slow(marks, access);
}

/* ---- and most are done with by these */

static inline bool mark_list_known(const struct mark_list *list, struct knowledge knowledge)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!knowledge_has(knowledge, list->marks[i].epoch))
            return false;
    return true;
}

/* marks_check and marks_put of an exact read, where no write races with it and the one read that is
 * remembered is superfluous. Else false, and nothing was done. */
static inline bool marks_read_again(struct marks *marks, const struct mark *mark,
                                    struct knowledge knowledge)
{
    struct mark_list *list = marks->others;
    if (!list || list->count > 1 || !knowledge_has(knowledge, marks->write.epoch))
        return false;
    /* Whether there is one at all is nothing to guess: not a branch. */
    bool superfluous =
        (list->marks[0].kind == CSAN_READ) & knowledge_has(knowledge, list->marks[0].epoch);
    if (!(superfluous | (list->count == 0)))
        return false;
    list->count = 1;
    list->marks[0] = *mark;
    return true;
}

/* The same of an exact write that knows of all that was done. */
static inline bool marks_write_again(struct marks *marks, const struct mark *mark,
                                     struct knowledge knowledge)
{
    struct mark_list *list = marks->others;
    if (!knowledge_has(knowledge, marks->write.epoch))
        return false;
    if (list) {
        bool superfluous = (list->count == 0) | knowledge_has(knowledge, list->marks[0].epoch);
        if (!superfluous || list->capacity > MARK_LIST_KEPT ||
            (list->count > 1 && !mark_list_known(list, knowledge)))
            return false;
        list->count = 0;
    }
    marks->write = *mark;
    return true;
}

#endif
