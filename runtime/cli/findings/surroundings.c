/* See surroundings.h. */
#include "runtime/cli/findings/surroundings.h"
#include "csan/detector/lane_text.h"
#include "csan/recording/recording_finding.h"
#include "csan/recording/recording_read.h"
#include "runtime/cli/findings/recorded_sites.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LANE_WORDS_BYTES = 256 };

/* How far around an access it is looked, in moments of all lanes. */
enum { RING = 256, BEFORE = 192, AFTER = 64, NUMBER_MAX = 1 << 26 };

enum sought_what { SOUGHT_ACCESS, SOUGHT_OTHER, SOUGHT_CALL };

struct sought {
    uint64_t op; /* of a call: the newest before it */
    size_t finding, index;
    enum sought_what what;
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
    struct finding *const *findings;
    struct sought *sought; /* ascending by op */
    size_t sought_count;
    size_t *open; /* findings that take what comes */
    size_t open_count;
    struct moment ring[RING];
    uint64_t at, op;
    struct moment held; /* a record whose step comes next; kind 0: none */
    struct {
        int kind, lane;
        uint64_t site, event;
    } step; /* of the wait that comes next; kind 0: none */
    uint32_t context;
    bool whole;
    struct table events, snapshots; /* struct source by number */
    struct table lanes[2];          /* int, lane + 1, by number; of the whole, and of a branch */
    struct table newest;            /* uint64_t by lane: the newest moment on it */
    struct table described;         /* struct lane by lane: what lane_words wants of it */
    uint32_t letters;
    bool framework;
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
    if (grown)
        result->lanes = grown;
    uint64_t *created = realloc(result->created, (result->lane_count + 1) * sizeof *created);
    if (created)
        result->created = created;
    char *copy = grown && created && result->lane_count < INT_MAX ? strdup(name) : NULL;
    if (!copy)
        return NO_LANE;
    grown[result->lane_count] = copy;
    created[result->lane_count] = 0;
    return (int)result->lane_count++;
}

/* Lanes of a branch are its own; branches need no number, for each ends before the next begins. */
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

/* Keep what is around the moment for that finding, and what comes. */
static void finding_open(struct reading *reading, size_t finding, uint64_t at)
{
    struct neighbourhood *neighbourhood = &reading->result->items[finding];
    bool open = neighbourhood->until && neighbourhood->until >= at;
    uint64_t first = at > BEFORE ? at - BEFORE : 1;
    neighbourhood->until = at + AFTER;
    /* It may have been a while ago: then the oldest are gone from the ring. */
    if (first + RING <= reading->at)
        first = reading->at - RING + 1;
    for (; first <= reading->at && first <= neighbourhood->until; first++)
        neighbourhood_add(neighbourhood, &reading->ring[first % RING]);
    if (!open)
        reading->open[reading->open_count++] = finding;
}

static void sought_found(struct reading *reading, const struct sought *sought,
                         const struct moment *moment)
{
    struct neighbourhood *neighbourhood = &reading->result->items[sought->finding];
    if (sought->what == SOUGHT_ACCESS) {
        neighbourhood->accesses[sought->index] = moment->at;
        neighbourhood->lanes[sought->index] = moment->lane;
    } else if (sought->what == SOUGHT_OTHER) {
        neighbourhood->others[sought->index] = moment->at;
    }
    finding_open(reading, sought->finding, moment->at);
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
        sought_found(reading, &reading->sought[low], moment);
}

static void moment_take(struct reading *reading, struct moment moment)
{
    moment.at = ++reading->at;
    moment.after = reading->op;
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
                                         .site = site});
}

static void wait_take(struct reading *reading, const struct recorded *recorded,
                      struct source source, uint64_t event)
{
    struct moment moment = {.kind = recorded->kind,
                            .lane = lane_of(reading, recorded->value[FIELD_LANE]),
                            .from_lane = source.lane,
                            .from = source.at,
                            .event = event};
    if (reading->step.kind && reading->step.lane == moment.lane) {
        moment.step = reading->step.kind;
        moment.site = reading->step.site;
        moment.event = reading->step.event;
    }
    reading->step.kind = 0;
    moment_take(reading, moment);
}

/* Held back: what the program called is in the step that follows. */
static void record_take(struct reading *reading, const struct recorded *recorded, int lane)
{
    reading->held = (struct moment){.kind = recorded->kind,
                                    .lane = lane,
                                    .from_lane = NO_LANE,
                                    .event = recorded->value[FIELD_EVENT]};
    source_set(&reading->events, recorded->value[FIELD_EVENT],
               (struct source){lane, reading->at + 1});
}

static void held_take(struct reading *reading)
{
    if (reading->held.kind)
        moment_take(reading, reading->held);
    reading->held.kind = RECORDED_NOTHING;
}

/* ---- steps: what the program called; of a record behind it, of a wait before it */

static bool makes_moment(int step)
{
    return step == CSAN_STEP_RECORD || step == CSAN_STEP_WAIT_UNRECORDED ||
           step == CSAN_STEP_STREAM_DESTROYED || step == CSAN_STEP_GRAPH_LAUNCH;
}

static void step_take(struct reading *reading, const struct recorded *recorded)
{
    const int step = (int)recorded->value[FIELD_FLAGS];
    const int lane = lane_of(reading, recorded->value[FIELD_LANE]);
    const uint64_t site = recorded->value[FIELD_SITE];
    const bool of_event = step == CSAN_STEP_RECORD || step == CSAN_STEP_WAIT_UNRECORDED;
    const bool is_held =
        step == CSAN_STEP_RECORD && reading->held.kind && reading->held.lane == lane;
    if (is_held) {
        reading->held.step = step;
        reading->held.site = site;
        reading->held.event = recorded->value[FIELD_FIRST];
    }
    held_take(reading);
    if (step == CSAN_STEP_WAIT) {
        reading->step.kind = step;
        reading->step.lane = lane;
        reading->step.site = site;
        reading->step.event = recorded->value[FIELD_FIRST];
    } else if (!is_held && makes_moment(step)) {
        moment_take(reading, (struct moment){.kind = RECORDED_STEP,
                                             .step = step,
                                             .lane = lane,
                                             .from_lane = NO_LANE,
                                             .event = of_event ? recorded->value[FIELD_FIRST] : 0,
                                             .site = site});
    }
}

/* ---- order */

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

static void lane_take(struct reading *reading, const struct recorded *recorded)
{
    lane_define(reading, recorded->value[FIELD_LANE], recorded->text);
}

static struct lane *described(struct reading *reading, uint64_t number)
{
    const int lane = lane_of(reading, number);
    return lane >= 0 ? table_at(&reading->described, sizeof(struct lane), (uint64_t)lane) : NULL;
}

static uint64_t created_of(struct reading *reading, uint64_t number)
{
    const int lane = lane_of(reading, number);
    return lane >= 0 ? reading->result->created[lane] : 0;
}

static void created_set(struct reading *reading, uint64_t number, uint64_t site)
{
    const int lane = lane_of(reading, number);
    if (lane >= 0)
        reading->result->created[lane] = site;
}

/* Reports name it by the same words. */
static void lane_rename(struct reading *reading, uint64_t number)
{
    char words[LANE_WORDS_BYTES];
    const struct lane *of = described(reading, number);
    const int lane = lane_of(reading, number);
    struct lane whole = of ? *of : (struct lane){0};
    whole.label = lane >= 0 ? reading->result->lanes[lane] : NULL;
    if (!of || !whole.label || reading->framework)
        return;
    lane_words(&whole, false, words, sizeof words);
    char *copy = strdup(words);
    if (!copy)
        return;
    free(reading->result->lanes[lane]);
    reading->result->lanes[lane] = copy;
}

static void lane_describe(struct reading *reading, const struct recorded *recorded)
{
    const uint64_t number = recorded->value[FIELD_LANE];
    struct lane *lane = described(reading, number);
    if (!lane)
        return;
    if (recorded->kind == RECORDED_LANE_NAME) {
        free(lane->name);
        lane->name = recorded->text[0] ? strdup(recorded->text) : NULL;
    } else if (recorded->kind == RECORDED_LANE_PART) {
        const struct lane *of = described(reading, recorded->value[FIELD_OTHER]);
        lane = described(reading, number); /* the table may have moved */
        if (!of || !lane)
            return;
        lane->kind = of->kind;
        lane->letter = of->letter;
        created_set(reading, number, created_of(reading, recorded->value[FIELD_OTHER]));
        free(lane->name);
        lane->name = of->name ? strdup(of->name) : NULL;
    } else {
        lane->kind = (uint8_t)recorded->value[FIELD_FLAGS];
        created_set(reading, number, recorded->value[FIELD_SITE]);
        if (lane->kind == CSAN_LANE_BLOCKING || lane->kind == CSAN_LANE_NON_BLOCKING)
            lane->letter = ++reading->letters;
    }
    lane_rename(reading, number);
}

/* ---- findings that came from outside: of what the newest op of that place on the lane did */

static bool is_meant(const struct finding *finding, const struct recorded *recorded)
{
    const char *kind = recording_finding_text(recorded->texts, recorded->count, "kind");
    return finding->error && !finding->accesses[0].number && kind &&
           finding->kind == finding_kind_of(kind) &&
           finding->address == recorded->value[FIELD_ADDRESS] &&
           finding->bytes == recorded->value[FIELD_BYTES];
}

static const struct moment *newest_op(const struct reading *reading, int lane, uint64_t site)
{
    for (uint64_t at = reading->at; at && at + RING > reading->at; at--) {
        const struct moment *moment = &reading->ring[at % RING];
        if (moment->op && moment->lane == lane && moment->site == site)
            return moment;
    }
    return NULL;
}

static void finding_take(struct reading *reading, const struct recorded *recorded)
{
    const struct moment *moment = newest_op(reading, lane_of(reading, recorded->value[FIELD_LANE]),
                                            recorded->value[FIELD_SITE]);
    for (size_t i = 0; moment && i < reading->result->count; i++) {
        struct neighbourhood *neighbourhood = &reading->result->items[i];
        if (neighbourhood->accesses[0] || !is_meant(reading->findings[i], recorded))
            continue;
        neighbourhood->accesses[0] = moment->at;
        neighbourhood->lanes[0] = moment->lane;
        finding_open(reading, i, moment->at);
        return;
    }
}

/* An op, or what makes order. */
static void event_take(struct reading *reading, const struct recorded *recorded)
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

static void entry_take(struct reading *reading, const struct recorded *recorded)
{
    switch (recorded->kind) {
    case RECORDED_SITE:
    case RECORDED_LAUNCHED_SITE:
    case RECORDED_STACK:
    case RECORDED_MODULE:
    case RECORDED_SOURCE_LINE:
        recorded_sites_take(reading->result->sites, recorded);
        break;
    case RECORDED_TIME:
    case RECORDED_CLOCK:
        break;
    case RECORDED_STEP:
        step_take(reading, recorded);
        break;
    case RECORDED_LANE:
    case RECORDED_LANE_AS:
    case RECORDED_HOST_LANE:
    case RECORDED_UNPROMISED:
        held_take(reading);
        lane_take(reading, recorded);
        break;
    case RECORDED_LANE_KIND:
    case RECORDED_LANE_NAME:
    case RECORDED_LANE_PART:
        held_take(reading);
        lane_describe(reading, recorded);
        break;
    case RECORDED_FRAMEWORK:
        reading->framework = true;
        break;
    case RECORDED_FINDING:
        held_take(reading);
        finding_take(reading, recorded);
        break;
    case RECORDED_CONTEXT:
        held_take(reading);
        reading->context = (uint32_t)recorded->value[FIELD_CONTEXT];
        break;
    default:
        held_take(reading);
        event_take(reading, recorded);
    }
}

/* ---- all of it */

static bool neighbourhood_begin(struct neighbourhood *neighbourhood, const struct finding *finding)
{
    neighbourhood->others = calloc(finding->other_count + 1, sizeof *neighbourhood->others);
    return neighbourhood->others != NULL;
}

static void seek(struct reading *reading, uint64_t op, enum sought_what what, size_t finding,
                 size_t index)
{
    reading->sought[reading->sought_count++] = (struct sought){op, finding, index, what};
    if (op == 0) /* a call before the first op */
        finding_open(reading, finding, 0);
}

static void finding_seek(struct reading *reading, const struct finding *finding, size_t at)
{
    for (size_t i = 0; i < 2; i++)
        if (finding->accesses[i].number)
            seek(reading, finding->accesses[i].number, SOUGHT_ACCESS, at, i);
    for (size_t i = 0; i < finding->other_count; i++)
        if (finding->others[i].number)
            seek(reading, finding->others[i].number, SOUGHT_OTHER, at, i);
    for (size_t i = 0; i < finding->call_count; i++)
        seek(reading, finding->calls[i].after, SOUGHT_CALL, at, i);
}

static bool reading_begin(struct reading *reading, struct finding *const *findings, size_t count)
{
    struct surroundings *result = reading->result;
    size_t sought = 0;
    reading->findings = findings;
    for (size_t i = 0; i < count; i++)
        sought += 2 + findings[i]->call_count + findings[i]->other_count;
    result->items = calloc(count + 1, sizeof *result->items);
    reading->sought = calloc(sought + 1, sizeof *reading->sought);
    reading->open = calloc(count + 1, sizeof *reading->open);
    if (!result->items || !reading->sought || !reading->open || lane_add(result, "the host") != 0)
        return false;
    for (; result->count < count; result->count++)
        if (!neighbourhood_begin(&result->items[result->count], findings[result->count]))
            return false;
    for (size_t i = 0; i < count; i++)
        finding_seek(reading, findings[i], i);
    qsort(reading->sought, reading->sought_count, sizeof *reading->sought, compare_op);
    return true;
}

static void reading_clear(struct reading *reading)
{
    free(reading->sought);
    free(reading->open);
    free(reading->events.items);
    free(reading->snapshots.items);
    free(reading->lanes[0].items);
    free(reading->lanes[1].items);
    free(reading->newest.items);
    for (size_t i = 0; i < reading->described.capacity; i++)
        free(((struct lane *)reading->described.items)[i].name);
    free(reading->described.items);
}

static bool sites_open(struct surroundings *surroundings, const struct recording_reader *reader,
                       const struct options *options)
{
    char directory[PATH_MAX];
    recording_reader_fact(reader, "directory", NULL, directory, sizeof directory);
    surroundings->sites = recorded_sites_create(options, directory);
    return surroundings->sites != NULL;
}

void surroundings_read(struct surroundings *surroundings, const char *path,
                       const struct options *options, struct finding *const *findings, size_t count,
                       bool whole)
{
    char message[PATH_MAX + 256];
    struct recorded recorded;
    struct reading *reading = calloc(1, sizeof *reading);
    struct recording_reader *reader = recording_reader_open(path, message, sizeof message);
    *surroundings = (struct surroundings){0};
    if (reading && reader && sites_open(surroundings, reader, options)) {
        reading->result = surroundings;
        reading->whole = whole;
        if (reading_begin(reading, findings, count))
            while (recording_reader_next(reader, &recorded) == RECORDED_ENTRY)
                entry_take(reading, &recorded);
        held_take(reading);
    }
    if (reader)
        recording_reader_close(reader);
    if (reading)
        reading_clear(reading);
    free(reading);
}

void surroundings_free(struct surroundings *surroundings)
{
    for (size_t i = 0; i < surroundings->count; i++) {
        free(surroundings->items[i].moments);
        free(surroundings->items[i].others);
    }
    for (size_t i = 0; i < surroundings->lane_count; i++)
        free(surroundings->lanes[i]);
    free(surroundings->whole.moments);
    free(surroundings->items);
    free(surroundings->lanes);
    free(surroundings->created);
    recorded_sites_destroy(surroundings->sites);
    *surroundings = (struct surroundings){0};
}

/* ---- looked at */

static int compare_at(const void *key, const void *item)
{
    const uint64_t *at = key;
    const struct moment *moment = item;
    return (*at > moment->at) - (*at < moment->at);
}

const struct moment *neighbourhood_find(const struct neighbourhood *neighbourhood, uint64_t at)
{
    return neighbourhood->count ? bsearch(&at, neighbourhood->moments, neighbourhood->count,
                                          sizeof *neighbourhood->moments, compare_at)
                                : NULL;
}

const char *moment_name(const struct surroundings *surroundings, const struct moment *moment)
{
    return moment->op ? recorded_sites_name(surroundings->sites, moment->site) : NULL;
}

const char *moment_deed(const struct moment *moment)
{
    if (moment->kind == RECORDED_RECORD || moment->step == CSAN_STEP_RECORD)
        return "record event";
    if (moment->kind == RECORDED_WAIT || moment->step == CSAN_STEP_WAIT ||
        moment->step == CSAN_STEP_WAIT_UNRECORDED)
        return "wait for event";
    if (moment->step == CSAN_STEP_GRAPH_LAUNCH)
        return "launch graph";
    return moment->step == CSAN_STEP_STREAM_DESTROYED ? "destroy stream" : "wait";
}
