/* See surroundings.h. */
#include "runtime/cli/surroundings.h"
#include "csan/recording_read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* How far around an access it is looked, in moments of all lanes. */
enum { RING = 256, BEFORE = 192, AFTER = 64, NUMBER_MAX = 1 << 26 };

struct sought {
    uint64_t op;
    size_t finding;
    int side;
};

/* Where an event or a snapshot was taken. */
struct source {
    int lane;
    uint64_t at;
};

struct table {
    void *items;
    size_t capacity;
};

struct reading {
    struct surroundings *result;
    struct sought *sought; /* ascending by op */
    size_t sought_count;
    size_t *open; /* findings that take what comes */
    size_t open_count;
    struct moment ring[RING];
    uint64_t at, op;
    uint32_t context;
    bool whole;
    struct table events, snapshots; /* struct source by number */
    struct table lanes[2];          /* int, lane + 1, by number; of the whole, and of a branch */
    struct table newest;            /* uint64_t by lane: the newest moment on it */
};

/* ---- tables by number */

static void *table_at(struct table *table, size_t item_bytes, uint64_t number)
{
    if (number >= NUMBER_MAX)
        return NULL;
    if (number >= table->capacity) {
        size_t capacity = (size_t)number + (size_t)number / 2 + 16;
        char *grown = realloc(table->items, capacity * item_bytes);
        if (!grown)
            return NULL;
        memset(grown + table->capacity * item_bytes, 0, (capacity - table->capacity) * item_bytes);
        table->items = grown;
        table->capacity = capacity;
    }
    return (char *)table->items + number * item_bytes;
}

static int lane_add(struct surroundings *result, const char *name)
{
    char **grown = realloc(result->lanes, (result->lane_count + 1) * sizeof *grown);
    char *copy = grown && result->lane_count < INT_MAX ? strdup(name) : NULL;
    if (grown)
        result->lanes = grown;
    if (!copy)
        return NO_LANE;
    grown[result->lane_count] = copy;
    return (int)result->lane_count++;
}

/* Lanes of a branch are its own; no two branches are told apart, for they end before the next. */
static void lane_define(struct reading *reading, uint64_t number, const char *name)
{
    int *lane = table_at(&reading->lanes[reading->context != 0], sizeof *lane, number);
    if (lane)
        *lane = lane_add(reading->result, name) + 1;
}

static int lane_of(struct reading *reading, uint64_t number)
{
    const int *lane = table_at(&reading->lanes[reading->context != 0], sizeof *lane, number);
    if (number == CSAN_HOST)
        return 0;
    return lane && *lane > 0 ? *lane - 1 : NO_LANE;
}

static struct source newest_of(struct reading *reading, int lane)
{
    const uint64_t *newest =
        lane >= 0 ? table_at(&reading->newest, sizeof *newest, (uint64_t)lane) : NULL;
    return (struct source){lane, newest ? *newest : 0};
}

static void source_set(struct table *table, uint64_t number, struct source source)
{
    struct source *item = table_at(table, sizeof *item, number);
    if (item)
        *item = source;
}

static struct source source_get(struct table *table, uint64_t number)
{
    const struct source *item = table_at(table, sizeof *item, number);
    return item ? *item : (struct source){NO_LANE, 0};
}

/* ---- sites */

static void site_keep(struct surroundings *result, const struct recorded *recorded)
{
    struct table table = {result->sites, result->site_capacity};
    char **name = table_at(&table, sizeof *name, recorded->value[FIELD_SITE]);
    result->sites = table.items;
    result->site_capacity = table.capacity;
    if (name && !*name)
        *name = strdup(recorded->text);
}

static const char *site_name(const struct surroundings *result, uint64_t number)
{
    return number < result->site_capacity ? result->sites[number] : NULL;
}

/* ---- moments */

static void neighbourhood_add(struct neighbourhood *neighbourhood, const struct moment *moment)
{
    if (neighbourhood->count && neighbourhood->moments[neighbourhood->count - 1].at >= moment->at)
        return;
    if (neighbourhood->count == neighbourhood->capacity) {
        size_t capacity = neighbourhood->capacity * 2 + 64;
        struct moment *grown = realloc(neighbourhood->moments, capacity * sizeof *grown);
        if (!grown)
            return;
        neighbourhood->moments = grown;
        neighbourhood->capacity = capacity;
    }
    neighbourhood->moments[neighbourhood->count++] = *moment;
}

static void open_all_add(struct reading *reading, const struct moment *moment)
{
    for (size_t i = 0; i < reading->open_count; i++) {
        struct neighbourhood *neighbourhood = &reading->result->items[reading->open[i]];
        if (moment->at <= neighbourhood->until)
            neighbourhood_add(neighbourhood, moment);
        else
            reading->open[i--] = reading->open[--reading->open_count];
    }
}

static void access_found(struct reading *reading, const struct sought *sought,
                         const struct moment *moment)
{
    struct neighbourhood *neighbourhood = &reading->result->items[sought->finding];
    bool open = neighbourhood->until >= moment->at;
    uint64_t first = moment->at > BEFORE ? moment->at - BEFORE : 1;
    neighbourhood->accesses[sought->side] = moment->at;
    neighbourhood->lanes[sought->side] = moment->lane;
    neighbourhood->until = moment->at + AFTER;
    for (uint64_t at = first; at <= moment->at; at++)
        neighbourhood_add(neighbourhood, &reading->ring[at % RING]);
    if (!open)
        reading->open[reading->open_count++] = sought->finding;
}

static int compare_op(const void *a, const void *b)
{
    const struct sought *left = a, *right = b;
    return (left->op > right->op) - (left->op < right->op);
}

static void op_seek(struct reading *reading, const struct moment *moment)
{
    size_t low = 0, high = reading->sought_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reading->sought[middle].op < moment->op)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < reading->sought_count && reading->sought[low].op == moment->op; low++)
        access_found(reading, &reading->sought[low], moment);
}

static void moment_take(struct reading *reading, struct moment moment)
{
    moment.at = ++reading->at;
    reading->ring[moment.at % RING] = moment;
    uint64_t *newest =
        moment.lane >= 0 ? table_at(&reading->newest, sizeof *newest, (uint64_t)moment.lane) : NULL;
    if (newest)
        *newest = moment.at;
    open_all_add(reading, &moment);
    if (reading->whole)
        neighbourhood_add(&reading->result->whole, &moment);
    if (moment.op)
        op_seek(reading, &moment);
}

/* ---- entries */

static void op_take(struct reading *reading, const struct recorded *recorded, uint64_t site)
{
    moment_take(reading, (struct moment){.kind = recorded->kind,
                                         .lane = lane_of(reading, recorded->value[FIELD_LANE]),
                                         .from_lane = NO_LANE,
                                         .op = ++reading->op,
                                         .name = site_name(reading->result, site)});
}

static void wait_take(struct reading *reading, const struct recorded *recorded,
                      struct source source, uint64_t event)
{
    int lane = lane_of(reading, recorded->value[FIELD_LANE]);
    moment_take(reading, (struct moment){.kind = recorded->kind,
                                         .lane = lane,
                                         .from_lane = source.lane,
                                         .from = source.at,
                                         .event = event});
}

static void record_take(struct reading *reading, const struct recorded *recorded, int lane)
{
    uint64_t event = recorded->value[FIELD_EVENT];
    moment_take(reading,
                (struct moment){
                    .kind = recorded->kind, .lane = lane, .from_lane = NO_LANE, .event = event});
    source_set(&reading->events, event, (struct source){lane, reading->at});
}

static void snapshot_take(struct reading *reading, const struct recorded *recorded)
{
    struct source source = {NO_LANE, 0};
    if (recorded->kind == RECORDED_SNAPSHOT_ALL)
        source.lane = ALL_LANES;
    else if (recorded->kind == RECORDED_SNAPSHOT_EVENT)
        source = source_get(&reading->events, recorded->value[FIELD_EVENT]);
    else if (recorded->kind == RECORDED_SNAPSHOT)
        source = newest_of(reading, lane_of(reading, recorded->value[FIELD_LANE]));
    source_set(&reading->snapshots, recorded->value[FIELD_SNAPSHOT], source);
}

static void order_take(struct reading *reading, const struct recorded *recorded)
{
    uint64_t event = recorded->value[FIELD_EVENT], snapshot = recorded->value[FIELD_SNAPSHOT];
    switch (recorded->kind) {
    case RECORDED_JOIN_LANE:
        wait_take(reading, recorded,
                  newest_of(reading, lane_of(reading, recorded->value[FIELD_OTHER])), 0);
        break;
    case RECORDED_JOIN:
        wait_take(reading, recorded, source_get(&reading->snapshots, snapshot), 0);
        break;
    case RECORDED_WAIT:
        wait_take(reading, recorded, source_get(&reading->events, event), event);
        break;
    case RECORDED_EVENT:
        source_set(&reading->events, event, (struct source){NO_LANE, 0});
        break;
    case RECORDED_RECORD:
        record_take(reading, recorded, lane_of(reading, recorded->value[FIELD_LANE]));
        break;
    case RECORDED_RECORD_SNAPSHOT:
        source_set(&reading->events, event, source_get(&reading->snapshots, snapshot));
        break;
    default:
        snapshot_take(reading, recorded);
    }
}

static void entry_take(struct reading *reading, const struct recorded *recorded)
{
    switch (recorded->kind) {
    case RECORDED_OP:
    case RECORDED_OP_PENDING:
        op_take(reading, recorded, recorded->set->site);
        break;
    case RECORDED_BIRTH:
    case RECORDED_FREE_BEGIN:
        op_take(reading, recorded, recorded->value[FIELD_SITE]);
        break;
    case RECORDED_SITE:
        site_keep(reading->result, recorded);
        break;
    case RECORDED_LANE:
    case RECORDED_HOST_LANE:
    case RECORDED_LANE_AS:
    case RECORDED_UNPROMISED:
        lane_define(reading, recorded->value[FIELD_LANE], recorded->text);
        break;
    case RECORDED_CONTEXT:
        reading->context = (uint32_t)recorded->value[FIELD_CONTEXT];
        break;
    case RECORDED_JOIN_LANE:
    case RECORDED_JOIN:
    case RECORDED_WAIT:
    case RECORDED_EVENT:
    case RECORDED_RECORD:
    case RECORDED_RECORD_SNAPSHOT:
    case RECORDED_SNAPSHOT:
    case RECORDED_SNAPSHOT_ALL:
    case RECORDED_SNAPSHOT_EVENT:
    case RECORDED_PROMISE:
        order_take(reading, recorded);
        break;
    default:
        break;
    }
}

/* ---- which of them are of use */

static bool is_access_lane(const struct neighbourhood *neighbourhood, int lane)
{
    return (neighbourhood->accesses[0] && lane == neighbourhood->lanes[0]) ||
           (neighbourhood->accesses[1] && lane == neighbourhood->lanes[1]);
}

static int compare_at(const void *key, const void *item)
{
    const uint64_t *at = key;
    const struct moment *moment = item;
    return (*at > moment->at) - (*at < moment->at);
}

static void concerns_mark(struct neighbourhood *neighbourhood)
{
    for (size_t i = 0; i < neighbourhood->count; i++) {
        struct moment *moment = &neighbourhood->moments[i], *source;
        if (!is_access_lane(neighbourhood, moment->lane) &&
            !is_access_lane(neighbourhood, moment->from_lane) && moment->from_lane != ALL_LANES)
            continue;
        moment->concerns = true;
        source = bsearch(&moment->from, neighbourhood->moments, neighbourhood->count,
                         sizeof *source, compare_at);
        if (source)
            source->concerns = true;
    }
}

/* ---- all of it */

static bool reading_begin(struct reading *reading, struct surroundings *result,
                          struct finding *const *findings, size_t count)
{
    reading->result = result;
    result->items = calloc(count + 1, sizeof *result->items);
    reading->sought = calloc(count * 2 + 1, sizeof *reading->sought);
    /* One that is open is found twice at most: its other access comes once. */
    reading->open = calloc(count * 2 + 1, sizeof *reading->open);
    if (!result->items || !reading->sought || !reading->open || lane_add(result, "the host") != 0)
        return false;
    result->count = count;
    for (size_t i = 0; i < count; i++)
        for (int side = 0; side < 2; side++)
            reading->sought[reading->sought_count++] =
                (struct sought){findings[i]->accesses[side].number, i, side};
    qsort(reading->sought, reading->sought_count, sizeof *reading->sought, compare_op);
    return true;
}

void surroundings_read(struct surroundings *surroundings, const char *path,
                       struct finding *const *findings, size_t count, bool whole)
{
    char message[PATH_MAX + 256];
    struct recorded recorded;
    struct reading *reading = calloc(1, sizeof *reading);
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    *surroundings = (struct surroundings){0};
    if (reading && reader && reading_begin(reading, surroundings, findings, count))
        for (reading->whole = whole; recording_reader_next(reader, &recorded) == RECORDED_ENTRY;)
            entry_take(reading, &recorded);
    for (size_t i = 0; i < surroundings->count; i++)
        concerns_mark(&surroundings->items[i]);
    if (reader)
        recording_reader_close(reader);
    if (!reading)
        return;
    free(reading->sought);
    free(reading->open);
    free(reading->events.items);
    free(reading->snapshots.items);
    free(reading->lanes[0].items);
    free(reading->lanes[1].items);
    free(reading->newest.items);
    free(reading);
}

void surroundings_free(struct surroundings *surroundings)
{
    for (size_t i = 0; i < surroundings->count; i++)
        free(surroundings->items[i].moments);
    for (size_t i = 0; i < surroundings->lane_count; i++)
        free(surroundings->lanes[i]);
    for (size_t i = 0; i < surroundings->site_capacity; i++)
        free(surroundings->sites[i]);
    free(surroundings->whole.moments);
    free(surroundings->items);
    free(surroundings->lanes);
    free(surroundings->sites);
    *surroundings = (struct surroundings){0};
}
