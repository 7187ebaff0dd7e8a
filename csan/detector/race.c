/* See race.h. */
#define HASH_NONFATAL_OOM 1
#include "csan/detector/race.h"
#include "csan/base/array.h"

#include <stdlib.h>
#include <uthash.h>

struct pair_key {
    uint32_t low, high; /* sites */
    uint32_t kind;
};

struct race_pair {
    struct pair_key key;
    struct race_record *record; /* the newest of the pair; NULL: there was no memory for it */
    bool certain;
    UT_hash_handle hh;
};

/* ---- de-duplication */

/* The pair of sites, the first time it races in this way; a certain race is news after a possible
 * one, but not the other way round. NULL: it is known. `none` when there is no memory to remember
 * it by: it may be reported again. */
static struct race_pair *pair_news(struct race_log *log, const struct conflict *conflict,
                                   struct race_pair *none)
{
    uint32_t a = conflict->current.site, b = conflict->earlier.site;
    struct pair_key key = {a < b ? a : b, a < b ? b : a, conflict->kind};
    struct race_pair *pair;
    HASH_FIND(hh, log->pairs, &key, sizeof(key), pair);
    if (pair) {
        if (pair->certain || conflict->possible) {
            if (pair->record)
                pair->record->occurrences++;
            return pair->record && pair->record->renews ? pair : NULL;
        }
        pair->certain = true;
        return pair;
    }
    pair = calloc(1, sizeof(*pair));
    if (!pair)
        return none;
    pair->key = key;
    pair->certain = !conflict->possible;
    HASH_ADD(hh, log->pairs, key, sizeof(pair->key), pair);
    if (pair->hh.tbl)
        return pair;
    free(pair);
    return none;
}

static void forget_pairs(struct race_log *log)
{
    struct race_pair *pair, *next;
    HASH_ITER(hh, log->pairs, pair, next)
    {
        HASH_DEL(log->pairs, pair);
        free(pair);
    }
}

/* ---- keeping */

static uint64_t *counter_of(struct race_log *log, const struct csan_race *race)
{
    if (csan_is_error(race))
        return &log->errors;
    return race->possible ? &log->possible : &log->certain;
}

/* False: there is no memory for it, and it is gone. */
static bool keep(struct race_log *log, struct race_record *record)
{
    if (!array_room(&log->races, log->count, &log->capacity, 16, SIZE_MAX,
                    sizeof(struct race_record *))) {
        free(record);
        return false;
    }
    log->races[log->count++] = record;
    record->race.number = record->race.group = log->count;
    record->race.group_previous = record->race.previous.sequence;
    record->race.group_current = record->race.current.sequence;
    ++*counter_of(log, &record->race);
    return true;
}

/* The conflicts that are reported with the first; what is a part of the same stream is nothing
 * else. */
static struct also_list also_take(struct conflict_list *list, size_t first,
                                  const struct order *order)
{
    const struct conflict *conflict = &list->items[first];
    struct also_list also = {.total = 0};
    for (size_t i = first + 1; i < list->count && !list->each; i++) {
        struct conflict *other = &list->items[i];
        if (other->reported || !conflict_same_sites(conflict, other) ||
            epoch_lane(other->earlier.epoch) == epoch_lane(conflict->earlier.epoch))
            continue;
        other->reported = true;
        if (order_same_stream(order, epoch_lane(conflict->earlier.epoch),
                              epoch_lane(other->earlier.epoch)))
            continue;
        also.total++;
        if (also.count < CSAN_ALSO_MAX)
            also.items[also.count++] = other;
    }
    return also;
}

static void commit_one(struct race_log *log, struct conflict_list *list, size_t index,
                       const struct race_scene *scene)
{
    struct race_pair none = {.record = NULL};
    struct race_pair *pair = list->each ? &none : pair_news(log, &list->items[index], &none);
    const struct also_list also = also_take(list, index, scene->order);
    if (!pair) {
        log->duplicates++;
        return;
    }
    struct race_record *record = race_record_create(&list->items[index], &also, scene);
    if (record && keep(log, record))
        pair->record = record;
}

/* What a fix has to come after is the newest of the earlier accesses: it is reported first. What a
 * copy may do at its call says less than what it does in its stream. */
static int by_newest(const void *left, const void *right)
{
    const struct conflict *a = left, *b = right;
    if (!a->at_call != !b->at_call)
        return a->at_call ? 1 : -1;
    if (a->earlier.op != b->earlier.op)
        return a->earlier.op < b->earlier.op ? 1 : -1;
    return a->start < b->start ? -1 : a->start > b->start;
}

void race_log_commit(struct race_log *log, struct conflict_list *list,
                     const struct race_scene *scene)
{
    if (!scene->framework)
        qsort(list->items, list->count, sizeof *list->items, by_newest);
    for (int possible = 0; possible <= 1; possible++)
        for (size_t i = 0; i < list->count; i++)
            if (list->items[i].possible == possible && !list->items[i].reported)
                commit_one(log, list, i, scene);
    list->count = 0;
}

/* ---- reading */

const struct csan_race *race_log_next(struct race_log *log)
{
    return log->delivered < log->count ? &log->races[log->delivered++]->race : NULL;
}

/* ---- groups */

/* An order made once, between the same lanes, before the first race's later access: it covers a
 * race whose earlier access was made by then, if the later lane learned nothing of the kind in
 * between. Or it is missing at the same place again. */
static bool same_missing(const struct race_record *first, const struct race_record *next)
{
    const struct missing_order *a = &first->missing, *b = &next->missing;
    const bool once = a->known == b->known && a->born == b->born &&
                      next->race.previous.sequence < first->race.current.sequence;
    return a->from == b->from && a->to == b->to && (once || a->later == b->later);
}

/* The first race's later access lacks an order after that lane's access, or after a newer one. */
static bool comes_after(const struct race_record *first, const struct race_record *next)
{
    return first->missing.from == next->missing.from && first->race.previous.kind != CSAN_FREE &&
           next->race.previous.sequence <= first->race.previous.sequence;
}

/* Whoever comes after a lane's use of memory comes after that lane's allocation of it. */
static bool covers_birth(const struct race_record *first, const struct race_record *next)
{
    return next->missing.kind == CSAN_RACE_BIRTH &&
           (first->missing.kind == CSAN_RACE_DATA || first->missing.kind == CSAN_RACE_FREE) &&
           comes_after(first, next) && same_missing(first, next);
}

/* Memory that is freed after its use is given out again after it. */
static bool covers_reuse(const struct race_record *first, const struct race_record *next)
{
    const struct csan_race *freed = &first->race, *reused = &next->race;
    return next->missing.kind == CSAN_RACE_REUSE && first->missing.kind == CSAN_RACE_FREE &&
           comes_after(first, next) && freed->current.sequence < reused->current.sequence &&
           reused->address - freed->allocation < freed->allocation_bytes;
}

static bool is_explained(const struct race_record *first, const struct race_record *next)
{
    if (first->missing.kind == next->missing.kind)
        return same_missing(first, next);
    return covers_birth(first, next) || covers_reuse(first, next);
}

/* Is that one reported in full, and explained by the same missing order? One that is certain
 * belongs to none that is only possible. */
static bool explains(const struct race_record *earlier, const struct race_record *record)
{
    return earlier->race.group == earlier->race.number && !earlier->suppressed &&
           !csan_is_error(&earlier->race) && !csan_is_error(&record->race) &&
           earlier->race.possible == record->race.possible &&
           earlier->race.in_graph == record->race.in_graph && is_explained(earlier, record);
}

/* It was found since the last clear. */
static bool is_counted(const struct race_log *log, const struct race_record *record)
{
    return record->race.number > log->cleared;
}

static void leave_group(struct race_log *log, struct race_record *record)
{
    struct csan_race *race = &record->race;
    log->grouped -= race->group != race->number && is_counted(log, record);
    race->group = race->number;
    race->group_previous = race->previous.sequence;
    race->group_current = race->current.sequence;
}

void race_log_group(struct race_log *log, const struct csan_race *race)
{
    struct race_record *record = log->races[race->number - 1], *first = NULL;
    if (record->grouped_at == log->changes + 1)
        return;
    record->grouped_at = log->changes + 1;
    for (size_t i = log->cleared; i + 1 < race->number && !first; i++)
        if (explains(log->races[i], record))
            first = log->races[i];
    const bool same = first && record->race.group == first->race.number;
    if (same)
        return;
    leave_group(log, record);
    if (!first)
        return;
    log->grouped += is_counted(log, record);
    record->race.group = first->race.number;
    record->race.group_previous = first->race.previous.sequence;
    record->race.group_current = first->race.current.sequence;
}

void race_log_withdraw(struct race_log *log, const struct csan_race *race)
{
    struct race_record *record = log->races[race->number - 1];
    leave_group(log, record);
    record->suppressed = true;
    record->renews = false;
    log->changes++;
    if (!is_counted(log, record))
        return;
    --*counter_of(log, race);
}

void race_log_suppress(struct race_log *log, const struct csan_race *race)
{
    race_log_withdraw(log, race);
    log->suppressed++;
}

void race_log_renew(struct race_log *log, const struct csan_race *race)
{
    log->races[race->number - 1]->renews = true;
}

uint64_t race_log_occurrences(const struct race_log *log, uint64_t number)
{
    return number && number <= log->count ? log->races[number - 1]->occurrences : 0;
}

uint64_t race_log_mark(const struct race_log *log)
{
    return log->count;
}

size_t race_log_since(const struct race_log *log, uint64_t mark, struct csan_race *races,
                      size_t capacity, bool errors_too)
{
    size_t first = mark > log->cleared ? mark : log->cleared;
    size_t count = 0;
    for (size_t i = first; i < log->count; i++) {
        if (log->races[i]->suppressed || (csan_is_error(&log->races[i]->race) && !errors_too))
            continue;
        if (count < capacity)
            races[count] = log->races[i]->race;
        count++;
    }
    return count;
}

void race_log_forget(struct race_log *log)
{
    log->cleared = log->count;
    log->changes++;
    log->certain = log->possible = log->errors = log->grouped = 0;
    forget_pairs(log);
}

void race_log_clear_all(struct race_log *log)
{
    forget_pairs(log);
    for (size_t i = 0; i < log->count; i++)
        free(log->races[i]);
    free(log->races);
    *log = (struct race_log){0};
}
