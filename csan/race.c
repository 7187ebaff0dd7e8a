#define HASH_NONFATAL_OOM 1
#include "race.h"
#include "lane_words.h"
#include "now.h"
#include "stack.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Which order is missing: from one lane to another, since the later one last learned of the earlier
 * one. */
struct missing_order {
    uint32_t from, to;
    uint64_t known;  /* of `from` by `to` */
    uint64_t born;   /* where that life of `to` began */
    csan_site later; /* of the access that lacks it */
    uint8_t kind;    /* enum csan_race_kind */
};

struct race_record {
    struct csan_race race;
    struct csan_race_order order;
    struct csan_error error;
    struct missing_order missing;
    uint64_t occurrences;
    uint64_t grouped_at; /* the group is right as of so many changes, from 1; 0: not yet */
    bool suppressed;
    struct csan_race_also also[]; /* then the text that the race points to: lanes, arguments */
};

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

/* Of one op: the same call did the earlier access. */
static bool same_sites(const struct conflict *a, const struct conflict *b)
{
    return a->earlier.site == b->earlier.site && a->kind == b->kind && a->possible == b->possible;
}

static bool same_run(const struct conflict_list *list, const struct conflict *a,
                     const struct conflict *b)
{
    if (!same_sites(a, b) || a->base != b->base ||
        epoch_lane(a->earlier.epoch) != epoch_lane(b->earlier.epoch))
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
        if (same_run(list, &list->items[i], conflict))
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
            return NULL;
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

/* The lane whose epoch it is. Of an earlier life with the same number nothing is kept. */
static const struct lane *lane_at(const struct race_scene *scene, epoch_t epoch)
{
    static const struct lane former = {.label = "an earlier stream"};
    const bool is_former = order_is_former(scene->order, epoch);
    return is_former ? &former : &scene->order->lanes[epoch_lane(epoch)];
}

static size_t lane_length(const struct race_scene *scene, epoch_t epoch)
{
    return lane_words(lane_at(scene, epoch), scene->framework, NULL, 0) + 1;
}

/* Room was counted by lane_length. */
static const char *lane_write(char **text, const struct race_scene *scene, epoch_t epoch)
{
    char *start = *text;
    *text +=
        lane_words(lane_at(scene, epoch), scene->framework, start, lane_length(scene, epoch)) + 1;
    return start;
}

/* Step over a copy of it. */
static const char *text_write(char **text, const char *from)
{
    char *start = *text;
    *text = stpcpy(*text, from) + 1;
    return start;
}

static void fill_created(struct csan_race_access *access, const struct lane *lane,
                         const struct race_scene *scene)
{
    const struct site *created = site_table_get(scene->sites, lane->created);
    if (created)
        stack_depot_get(scene->stacks, created->stack, &access->created_frames,
                        &access->created_frame_count);
}

static void fill_access(struct csan_race_access *access, const struct mark *mark,
                        const struct argument_set *set, char **text, const struct race_scene *scene)
{
    const struct lane *lane = lane_at(scene, mark->epoch);
    const struct site *site = site_table_get(scene->sites, mark->site);
    *access = (struct csan_race_access){
        .stream = lane->handle,
        .lane_kind = lane->role == CSAN_LANE_FUNCTION ? CSAN_LANE_HOST_FUNCTION : (int)lane->kind,
        .host = lane->host,
        .name = site ? site->name : "",
        .kind = mark->kind,
        .bound = mark->bound,
        .site = mark->site,
        .level = mark->level,
        .sequence = mark->op,
    };
    access->lane = lane_write(text, scene, mark->epoch);
    fill_created(access, lane, scene);
    access->arguments = arguments_write(text, site, set);
    access->ranges = text_write(text, range_history_find(scene->ranges, mark->op));
    if (site) {
        access->defined = site_table_definition(scene->sites, site->name);
        stack_depot_get(scene->stacks, site->stack, &access->frames, &access->frame_count);
    }
    if (site && site->launched)
        stack_depot_get(scene->stacks, site->launched, &access->launch_frames,
                        &access->launch_frame_count);
}

/* ---- the calls that explain it */

enum { EXPLAINED_CALLS = 4 };

static void fill_call(struct csan_race_call *call, const struct step *step, char **text,
                      const struct race_scene *scene)
{
    const struct site *site = site_table_get(scene->sites, step->site);
    if (!step->kind)
        return;
    call->lane = lane_write(text, scene, step->epoch);
    call->name = site ? site->name : "";
    call->after = step->after;
    const struct site *event =
        step_is_of_event(step) ? site_table_get(scene->sites, (csan_site)step->detail) : NULL;
    call->event = event ? event->name : NULL;
    if (site)
        stack_depot_get(scene->stacks, site->stack, &call->frames, &call->frame_count);
}

static void fill_order(struct csan_race_order *order, const struct explanation *found, char **text,
                       const struct race_scene *scene)
{
    order->cause = found->cause;
    fill_call(&order->record, &found->record, text, scene);
    fill_call(&order->again, &found->again, text, scene);
    fill_call(&order->wait, &found->wait, text, scene);
    fill_call(&order->usable, &found->usable, text, scene);
}

static size_t calls_length(const struct explanation *found, const struct race_scene *scene)
{
    const struct step *steps[EXPLAINED_CALLS] = {&found->record, &found->again, &found->wait,
                                                 &found->usable};
    size_t length = 0;
    for (int i = 0; i < EXPLAINED_CALLS; i++)
        if (steps[i]->kind)
            length += lane_length(scene, steps[i]->epoch);
    return length;
}

static struct missing_order missing_of(const struct conflict *conflict, const struct order *order)
{
    const uint32_t from = epoch_lane(conflict->earlier.epoch),
                   to = epoch_lane(conflict->current.epoch);
    return (struct missing_order){.from = from,
                                  .to = to,
                                  .known = clock_known(order->lanes[to].clock, from),
                                  .born = order->lanes[to].born,
                                  .later = conflict->current.site,
                                  .kind = conflict->kind == CSAN_RACE_ATOMIC ? CSAN_RACE_DATA
                                                                             : conflict->kind};
}

/* Conflicts of the same op in which the same call did the earlier access, on other lanes. */
struct also_list {
    const struct conflict *items[CSAN_ALSO_MAX];
    size_t count, total;
};

/* They are reported with the first; what is a part of the same stream is nothing else. */
static struct also_list also_take(struct conflict_list *list, size_t first,
                                  const struct order *order)
{
    const struct conflict *conflict = &list->items[first];
    struct also_list also = {.total = 0};
    for (size_t i = first + 1; i < list->count && !list->each; i++) {
        struct conflict *other = &list->items[i];
        if (other->reported || !same_sites(conflict, other) ||
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

static void fill_also(struct race_record *record, const struct also_list *also, char **text,
                      const struct race_scene *scene)
{
    for (size_t i = 0; i < also->count; i++) {
        const struct conflict *other = also->items[i];
        const struct lane *lane = lane_at(scene, other->earlier.epoch);
        record->also[i] =
            (struct csan_race_also){.lane = lane_write(text, scene, other->earlier.epoch),
                                    .stream = lane->handle,
                                    .sequence = other->earlier.op,
                                    .address = other->start,
                                    .bytes = other->end - other->start};
    }
    record->race.also = record->also;
    record->race.also_count = also->count;
    record->race.also_total = also->total;
}

/* Strings of the caller's are copied; frames are the depot's. */
static void fill_error(struct race_record *record, const struct csan_error *from, char **text)
{
    struct csan_error *error = &record->error;
    const char **const strings[] = {&error->exception, &error->code,  &error->detail,
                                    &error->function,  &error->place, &error->reported_by};
    if (!from)
        return;
    *error = *from;
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (*strings[i])
            *strings[i] = text_write(text, *strings[i]);
    record->race.error = error;
}

static size_t error_length(const struct csan_error *error)
{
    const char *const strings[] = {error->exception, error->code,  error->detail,
                                   error->function,  error->place, error->reported_by};
    size_t length = 0;
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        length += strings[i] ? strlen(strings[i]) + 1 : 0;
    return length;
}

static struct race_record *record_create(const struct conflict *conflict,
                                         const struct also_list *also,
                                         const struct race_scene *scene)
{
    const struct mark *marks[2] = {&conflict->current, &conflict->earlier};
    const struct argument_set *sets[2] = {&conflict->current_arguments,
                                          &conflict->earlier_arguments};
    struct explanation found = {.cause = CSAN_CAUSE_NONE};
    if (!conflict->error)
        found = explain(scene->steps, scene->order, &conflict->current, &conflict->earlier);
    size_t length = calls_length(&found, scene);
    if (conflict->error)
        length += error_length(conflict->error);
    for (size_t i = 0; i < also->count; i++)
        length += lane_length(scene, also->items[i]->earlier.epoch);
    for (int i = 0; i < 2; i++)
        length += lane_length(scene, marks[i]->epoch) +
                  strlen(range_history_find(scene->ranges, marks[i]->op)) + 1 +
                  arguments_length(site_table_get(scene->sites, marks[i]->site), sets[i]);
    struct race_record *record =
        calloc(1, sizeof(*record) + also->count * sizeof(*record->also) + length);
    if (!record)
        return NULL;
    char *text = (char *)(record->also + also->count);
    struct csan_race *race = &record->race;
    race->kind = conflict->kind;
    race->possible = conflict->possible;
    race->address = conflict->start;
    race->bytes = conflict->end - conflict->start;
    race->allocation = conflict->base;
    race->allocation_bytes = conflict->bytes;
    race->pointer = conflict->pointer;
    race->unpromised = conflict->unpromised;
    race->in_graph = scene->in_graph;
    race->framework = scene->framework;
    race->time = scene->wall ? scene->wall : now_wall();
    record->missing = missing_of(conflict, scene->order);
    record->occurrences = 1;
    race->order = &record->order;
    fill_access(&race->current, marks[0], sets[0], &text, scene);
    fill_access(&race->previous, marks[1], sets[1], &text, scene);
    race->current.at_call = conflict->at_call & 1;
    race->previous.at_call = conflict->at_call >> 1;
    fill_order(&record->order, &found, &text, scene);
    fill_also(record, also, &text, scene);
    fill_error(record, conflict->error, &text);
    const struct site *birth = site_table_get(scene->sites, conflict->birth_site);
    if (birth)
        stack_depot_get(scene->stacks, birth->stack, &race->allocation_frames,
                        &race->allocation_frame_count);
    if (birth && site_is_variable(birth)) {
        race->variable = birth->name;
        race->variable_module = birth->arguments[0];
    }
    return record;
}

/* An order made once, between the same lanes, before the first race's later access: it covers a
 * race whose earlier access was made by then, if the later lane learned nothing of the kind in
 * between. Or it is missing at the same place again. */
static bool same_missing(const struct race_record *first, const struct race_record *next)
{
    const struct missing_order *a = &first->missing, *b = &next->missing;
    const bool once = a->known == b->known && a->born == b->born &&
                      next->race.previous.sequence < first->race.current.sequence;
    return a->from == b->from && a->to == b->to && a->kind == b->kind &&
           (once || a->later == b->later);
}

static uint64_t *counter_of(struct race_log *log, const struct csan_race *race)
{
    if (csan_is_error(race))
        return &log->errors;
    return race->possible ? &log->possible : &log->certain;
}

/* False: there is no memory for it, and it is gone. */
static bool keep(struct race_log *log, struct race_record *record)
{
    if (log->count == log->capacity) {
        size_t capacity = log->capacity ? log->capacity * 2 : 16;
        struct race_record **races = realloc(log->races, capacity * sizeof(struct race_record *));
        if (!races) {
            free(record);
            return false;
        }
        log->races = races;
        log->capacity = capacity;
    }
    log->races[log->count++] = record;
    record->race.number = record->race.group = log->count;
    record->race.group_previous = record->race.previous.sequence;
    record->race.group_current = record->race.current.sequence;
    ++*counter_of(log, &record->race);
    return true;
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
    struct race_record *record = record_create(&list->items[index], &also, scene);
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

/* Is that one reported in full, and explained by the same missing order? One that is certain
 * belongs to none that is only possible. */
static bool explains(const struct race_record *earlier, const struct race_record *record)
{
    return earlier->race.group == earlier->race.number && !earlier->suppressed &&
           !csan_is_error(&earlier->race) && !csan_is_error(&record->race) &&
           earlier->race.possible == record->race.possible &&
           earlier->race.in_graph == record->race.in_graph && same_missing(earlier, record);
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

void race_log_suppress(struct race_log *log, const struct csan_race *race)
{
    struct race_record *record = log->races[race->number - 1];
    leave_group(log, record);
    record->suppressed = true;
    log->suppressed++;
    log->changes++;
    if (!is_counted(log, record))
        return;
    --*counter_of(log, race);
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
