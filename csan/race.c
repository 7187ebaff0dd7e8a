#define HASH_NONFATAL_OOM 1
#include "race.h"
#include "stack.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct race_record {
    struct csan_race race;
    bool suppressed;
    char text[]; /* lane labels and argument lists that the race points to */
};

struct pair_key {
    uint32_t low, high; /* sites */
    uint32_t kind;
};

struct race_pair {
    struct pair_key key;
    bool certain;
    UT_hash_handle hh;
};

/* ---- collecting */

static void argument_set_add(struct argument_set *set, uint16_t index)
{
    if (index == CSAN_NO_ARGUMENT || set->count == CONFLICT_ARGUMENTS)
        return;
    uint8_t place = set->count;
    for (uint8_t i = 0; i < set->count; i++)
        if (set->indices[i] == index)
            return;
    while (place > 0 && set->indices[place - 1] > index) {
        set->indices[place] = set->indices[place - 1];
        place--;
    }
    set->indices[place] = index;
    set->count++;
}

/* A write says more than an atomic, an atomic more than a read. */
static int kind_strength(uint8_t kind)
{
    static const int strength[] = {
        [CSAN_READ] = 1, [CSAN_ATOMIC] = 2, [CSAN_WRITE] = 3, [CSAN_ALLOCATE] = 4, [CSAN_FREE] = 4};
    return strength[kind];
}

static void strengthen(uint8_t *kind, uint8_t other)
{
    if (kind_strength(other) > kind_strength(*kind))
        *kind = other;
}

static bool same_group(const struct conflict_list *list, const struct conflict *a,
                       const struct conflict *b)
{
    if (a->earlier.site != b->earlier.site || a->kind != b->kind || a->possible != b->possible ||
        a->base != b->base)
        return false;
    return !list->each ||
           (a->earlier.op == b->earlier.op && a->start == b->start && a->end == b->end &&
            a->earlier.kind == b->earlier.kind && a->current.kind == b->current.kind);
}

/* The conflict would be one whatever the call did before it returned. */
static void certain_take(struct conflict *into, const struct conflict *conflict)
{
    const struct conflict before = *into;
    *into = *conflict;
    into->current_arguments = before.current_arguments;
    into->earlier_arguments = before.earlier_arguments;
    strengthen(&into->current.kind, before.current.kind);
    strengthen(&into->earlier.kind, before.earlier.kind);
}

void conflict_list_add(struct conflict_list *list, const struct conflict *conflict)
{
    struct conflict *into = NULL;
    for (size_t i = 0; i < list->count && !into; i++)
        if (same_group(list, &list->items[i], conflict))
            into = &list->items[i];
    if (!into) {
        if (list->count == list->capacity) {
            size_t capacity = list->capacity ? list->capacity * 2 : 8;
            struct conflict *items = realloc(list->items, capacity * sizeof(*items));
            if (!items)
                return;
            list->items = items;
            list->capacity = capacity;
        }
        into = &list->items[list->count++];
        *into = *conflict;
        into->current_arguments.count = into->earlier_arguments.count = 0;
    }
    if (into->at_call && !conflict->at_call)
        certain_take(into, conflict);
    if (conflict->start == into->end) /* the run goes on, in memory of another history */
        into->end = conflict->end;
    strengthen(&into->current.kind, conflict->current.kind);
    strengthen(&into->earlier.kind, conflict->earlier.kind);
    argument_set_add(&into->current_arguments, conflict->current.argument);
    argument_set_add(&into->earlier_arguments, conflict->earlier.argument);
}

void conflict_list_clear(struct conflict_list *list)
{
    free(list->items);
    *list = (struct conflict_list){.each = list->each};
}

/* ---- de-duplication */

/* True the first time this pair of sites races in this way; a certain race is news after a possible
 * one, but not the other way round. */
static bool is_news(struct race_log *log, const struct conflict *conflict)
{
    uint32_t a = conflict->current.site, b = conflict->earlier.site;
    struct pair_key key = {a < b ? a : b, a < b ? b : a, conflict->kind};
    struct race_pair *pair;
    HASH_FIND(hh, log->pairs, &key, sizeof(key), pair);
    if (pair) {
        if (pair->certain || conflict->possible)
            return false;
        pair->certain = true;
        return true;
    }
    pair = calloc(1, sizeof(*pair));
    if (!pair)
        return true;
    pair->key = key;
    pair->certain = !conflict->possible;
    HASH_ADD(hh, log->pairs, key, sizeof(pair->key), pair);
    if (!pair->hh.tbl) /* no memory to remember it: it may be reported again */
        free(pair);
    return true;
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

static size_t arguments_length(const struct site *site, const struct argument_set *set)
{
    size_t length = 1;
    for (uint8_t i = 0; site && i < set->count; i++)
        if (set->indices[i] < site->argument_count)
            length += strlen(site->arguments[set->indices[i]]) + 2;
    return length;
}

/* Write "p, out" at *text and step over it. */
static const char *arguments_write(char **text, const struct site *site,
                                   const struct argument_set *set)
{
    char *start = *text;
    for (uint8_t i = 0; site && i < set->count; i++) {
        if (set->indices[i] >= site->argument_count)
            continue;
        if (*text != start)
            *text = stpcpy(*text, ", ");
        *text = stpcpy(*text, site->arguments[set->indices[i]]);
    }
    *(*text)++ = '\0';
    return start;
}

static void fill_access(struct csan_race_access *access, const struct mark *mark,
                        const struct argument_set *set, char **text, const struct order *order,
                        struct site_table *sites, struct stack_depot *stacks)
{
    const struct lane *lane = &order->lanes[epoch_lane(mark->epoch)];
    const struct site *site = site_table_get(sites, mark->site);
    *access = (struct csan_race_access){
        .stream = lane->handle,
        .host = lane->host,
        .name = site ? site->name : "",
        .kind = mark->kind,
        .bound = mark->bound,
        .site = mark->site,
        .level = mark->level,
        .sequence = mark->op,
    };
    access->lane = *text;
    *text = stpcpy(*text, lane->label) + 1;
    access->arguments = arguments_write(text, site, set);
    if (site)
        stack_depot_get(stacks, site->stack, &access->frames, &access->frame_count);
}

static struct race_record *record_create(const struct conflict *conflict, const struct order *order,
                                         struct site_table *sites, struct stack_depot *stacks)
{
    const struct mark *marks[2] = {&conflict->current, &conflict->earlier};
    const struct argument_set *sets[2] = {&conflict->current_arguments,
                                          &conflict->earlier_arguments};
    size_t length = 0;
    for (int i = 0; i < 2; i++)
        length += strlen(order->lanes[epoch_lane(marks[i]->epoch)].label) + 1 +
                  arguments_length(site_table_get(sites, marks[i]->site), sets[i]);
    struct race_record *record = calloc(1, sizeof(*record) + length);
    if (!record)
        return NULL;
    char *text = record->text;
    struct csan_race *race = &record->race;
    race->kind = conflict->kind;
    race->possible = conflict->possible;
    race->address = conflict->start;
    race->bytes = conflict->end - conflict->start;
    race->allocation = conflict->base;
    race->allocation_bytes = conflict->bytes;
    race->pointer = conflict->pointer;
    race->unpromised = conflict->unpromised;
    fill_access(&race->current, marks[0], sets[0], &text, order, sites, stacks);
    fill_access(&race->previous, marks[1], sets[1], &text, order, sites, stacks);
    race->current.at_call = conflict->at_call & 1;
    race->previous.at_call = conflict->at_call >> 1;
    const struct site *birth = site_table_get(sites, conflict->birth_site);
    if (birth)
        stack_depot_get(stacks, birth->stack, &race->allocation_frames,
                        &race->allocation_frame_count);
    return record;
}

static void keep(struct race_log *log, struct race_record *record)
{
    if (log->count == log->capacity) {
        size_t capacity = log->capacity ? log->capacity * 2 : 16;
        struct race_record **races = realloc(log->races, capacity * sizeof(struct race_record *));
        if (!races) {
            free(record);
            return;
        }
        log->races = races;
        log->capacity = capacity;
    }
    log->races[log->count++] = record;
    record->race.number = log->count;
    if (record->race.possible)
        log->possible++;
    else
        log->certain++;
}

void race_log_commit(struct race_log *log, struct conflict_list *list, const struct order *order,
                     struct site_table *sites, struct stack_depot *stacks)
{
    for (int possible = 0; possible <= 1; possible++) {
        for (size_t i = 0; i < list->count; i++) {
            const struct conflict *conflict = &list->items[i];
            if (conflict->possible != possible)
                continue;
            if (!list->each && !is_news(log, conflict)) {
                log->duplicates++;
                continue;
            }
            struct race_record *record = record_create(conflict, order, sites, stacks);
            if (record)
                keep(log, record);
        }
    }
    list->count = 0;
}

/* ---- reading */

const struct csan_race *race_log_next(struct race_log *log)
{
    return log->delivered < log->count ? &log->races[log->delivered++]->race : NULL;
}

void race_log_suppress(struct race_log *log, const struct csan_race *race)
{
    size_t index = race->number - 1;
    log->races[index]->suppressed = true;
    log->suppressed++;
    if (index < log->cleared)
        return;
    if (race->possible)
        log->possible--;
    else
        log->certain--;
}

uint64_t race_log_mark(const struct race_log *log)
{
    return log->count;
}

size_t race_log_since(const struct race_log *log, uint64_t mark, struct csan_race *races,
                      size_t capacity)
{
    size_t first = mark > log->cleared ? mark : log->cleared;
    size_t count = 0;
    for (size_t i = first; i < log->count; i++) {
        if (log->races[i]->suppressed)
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
    log->certain = log->possible = 0;
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
