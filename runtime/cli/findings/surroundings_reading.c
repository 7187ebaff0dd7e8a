/* The entries of a recording, as moments on lanes. See surroundings_reading.h. */
#include "runtime/cli/findings/surroundings_reading.h"
#include "csan/base/array.h"
#include "csan/recording/recording_finding.h"
#include "runtime/cli/findings/recorded_sites.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 1 << 26 };

/* ---- tables by number */

void *table_at(struct table *table, size_t item_bytes, uint64_t number)
{
    return array_reach(&table->items, number, &table->capacity, 16, NUMBER_MAX, item_bytes)
               ? (char *)table->items + number * item_bytes
               : NULL;
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

void neighbourhood_add(struct neighbourhood *neighbourhood, const struct moment *moment)
{
    if (neighbourhood->count && neighbourhood->moments[neighbourhood->count - 1].at >= moment->at)
        return;
    if (array_room(&neighbourhood->moments, neighbourhood->count, &neighbourhood->capacity, 64,
                   SIZE_MAX, sizeof *neighbourhood->moments))
        neighbourhood->moments[neighbourhood->count++] = *moment;
}

static void open_all_add(struct reading *reading, const struct moment *moment)
{
    for (size_t i = 0; i < reading->open_count; i++) {
        struct neighbourhood *neighbourhood = &reading->items[reading->open[i]];
        if (moment->place <= neighbourhood->until)
            neighbourhood_add(neighbourhood, moment);
        else
            reading->open[i--] = reading->open[--reading->open_count];
    }
}

/* Keep what is around the moment for that finding, and what comes. */
void reading_open(struct reading *reading, size_t finding, uint64_t place)
{
    struct neighbourhood *neighbourhood = &reading->items[finding];
    bool open = neighbourhood->until && neighbourhood->until >= place;
    uint64_t first = place > BEFORE ? place - BEFORE : 1;
    neighbourhood->until = place + AFTER;
    /* It may have been a while ago: then the oldest are gone from the ring. */
    if (first + RING <= reading->place)
        first = reading->place - RING + 1;
    for (; first <= reading->place && first <= neighbourhood->until; first++)
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
    reading_open(reading, sought->finding, moment->place);
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

void reading_moment(struct reading *reading, struct moment moment)
{
    if (!moment.at)
        moment.at = ++*reading->clock;
    moment.place = ++reading->place;
    if (!moment.time)
        moment.time = reading->time;
    moment.after = reading->op;
    reading->ring[moment.place % RING] = moment;
    uint64_t *newest =
        moment.lane >= 0 ? table_at(&reading->newest, sizeof *newest, (uint64_t)moment.lane) : NULL;
    if (newest)
        *newest = moment.at;
    open_all_add(reading, &moment);
    if (reading->whole)
        neighbourhood_add(&reading->all, &moment);
    if (moment.op)
        op_seek(reading, &moment);
}

/* ---- entries */

static void op_take(struct reading *reading, const struct recorded *recorded, uint64_t site)
{
    reading_moment(reading,
                   (struct moment){.kind = recorded->kind,
                                   .lane = reading_lane(reading, recorded->value[FIELD_LANE]),
                                   .from_lane = NO_LANE,
                                   .op = ++reading->op,
                                   .site = site});
}

static void wait_take(struct reading *reading, const struct recorded *recorded,
                      struct source source, uint64_t event)
{
    struct moment moment = {.kind = recorded->kind,
                            .lane = reading_lane(reading, recorded->value[FIELD_LANE]),
                            .from_lane = source.lane,
                            .from = source.at,
                            .event = event};
    if (reading->step.kind && reading->step.lane == moment.lane) {
        moment.step = reading->step.kind;
        moment.site = reading->step.site;
        moment.event = reading->step.event;
    }
    reading->step.kind = 0;
    reading_moment(reading, moment);
}

/* Held back: what the program called is in the step that follows. */
static void record_take(struct reading *reading, const struct recorded *recorded, int lane)
{
    reading->held = (struct moment){.at = ++*reading->clock,
                                    .time = reading->time,
                                    .kind = recorded->kind,
                                    .lane = lane,
                                    .from_lane = NO_LANE,
                                    .event = recorded->value[FIELD_EVENT]};
    source_set(&reading->events, recorded->value[FIELD_EVENT],
               (struct source){lane, reading->held.at});
}

static void held_take(struct reading *reading)
{
    if (reading->held.kind)
        reading_moment(reading, reading->held);
    reading->held.kind = RECORDED_NOTHING;
}

/* ---- steps: what the program called; of a record behind it, of a wait before it */

static bool makes_moment(int step)
{
    return step == CSAN_STEP_RECORD || step == CSAN_STEP_WAIT_UNRECORDED ||
           step == CSAN_STEP_STREAM_DESTROYED || step == CSAN_STEP_GRAPH_LAUNCH;
}

/* ---- the device's time between two records */

static uint64_t *record_of(struct reading *reading, uint64_t event)
{
    return reading->whole ? table_at(&reading->records, sizeof(uint64_t), event) : NULL;
}

static void elapsed_take(struct reading *reading, const struct recorded *recorded, int lane)
{
    struct surroundings *result = reading->result;
    const uint64_t *record = record_of(reading, recorded->value[FIELD_FIRST]);
    const uint64_t at = record ? *record : 0;
    if (recorded->value[FIELD_FLAGS] == CSAN_STEP_ELAPSED_FROM) {
        reading->since.lane = lane;
        reading->since.at = at;
        return;
    }
    if (at && reading->since.at && reading->since.lane == lane &&
        array_reserve(&result->elapsed, result->elapsed_count + 1, &result->elapsed_capacity, 16,
                      SIZE_MAX, sizeof *result->elapsed))
        result->elapsed[result->elapsed_count++] =
            (struct elapsed){reading->since.at, at, recorded->value[FIELD_LAST]};
    reading->since.at = 0;
}

static void step_take(struct reading *reading, const struct recorded *recorded)
{
    const int step = (int)recorded->value[FIELD_FLAGS];
    const int lane = reading_lane(reading, recorded->value[FIELD_LANE]);
    if (step == CSAN_STEP_ELAPSED_FROM || step == CSAN_STEP_ELAPSED) {
        held_take(reading);
        elapsed_take(reading, recorded, lane);
        return;
    }
    if (step >= CSAN_STEP_THREAD) /* of whoever counts waits */
        return;
    const uint64_t site = recorded->value[FIELD_SITE];
    const bool of_event = step == CSAN_STEP_RECORD || step == CSAN_STEP_WAIT_UNRECORDED;
    const bool is_held =
        step == CSAN_STEP_RECORD && reading->held.kind && reading->held.lane == lane;
    if (is_held) {
        reading->held.step = step;
        reading->held.site = site;
        reading->held.event = recorded->value[FIELD_FIRST];
        reading->held.time = reading->time;
        uint64_t *record = record_of(reading, recorded->value[FIELD_FIRST]);
        if (record)
            *record = reading->held.at;
    }
    held_take(reading);
    if (step == CSAN_STEP_WAIT) {
        reading->step.kind = step;
        reading->step.lane = lane;
        reading->step.site = site;
        reading->step.event = recorded->value[FIELD_FIRST];
    } else if (!is_held && makes_moment(step)) {
        reading_moment(reading,
                       (struct moment){.kind = RECORDED_STEP,
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
        source = newest_of(reading, reading_lane(reading, recorded->value[FIELD_LANE]));
    source_set(&reading->snapshots, recorded->value[FIELD_SNAPSHOT], source);
}

static void order_take(struct reading *reading, const struct recorded *recorded)
{
    uint64_t event = recorded->value[FIELD_EVENT], snapshot = recorded->value[FIELD_SNAPSHOT];
    switch (recorded->kind) {
    case RECORDED_JOIN_LANE:
        wait_take(reading, recorded,
                  newest_of(reading, reading_lane(reading, recorded->value[FIELD_OTHER])), 0);
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
        record_take(reading, recorded, reading_lane(reading, recorded->value[FIELD_LANE]));
        break;
    case RECORDED_RECORD_SNAPSHOT:
        source_set(&reading->events, event, source_get(&reading->snapshots, snapshot));
        break;
    default:
        snapshot_take(reading, recorded);
    }
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
    for (uint64_t at = reading->place; at && at + RING > reading->place; at--) {
        const struct moment *moment = &reading->ring[at % RING];
        if (moment->op && moment->lane == lane && moment->site == site)
            return moment;
    }
    return NULL;
}

static void finding_take(struct reading *reading, const struct recorded *recorded)
{
    const struct moment *moment = newest_op(
        reading, reading_lane(reading, recorded->value[FIELD_LANE]), recorded->value[FIELD_SITE]);
    for (size_t i = 0; moment && i < reading->result->count; i++) {
        struct neighbourhood *neighbourhood = &reading->result->items[i];
        if (neighbourhood->accesses[0] || reading->findings[i]->owner[0] != reading->process ||
            !is_meant(reading->findings[i], recorded))
            continue;
        neighbourhood->accesses[0] = moment->at;
        neighbourhood->lanes[0] = moment->lane;
        reading_open(reading, i, moment->place);
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

void reading_entry(struct reading *reading, const struct recorded *recorded)
{
    switch (recorded->kind) {
    case RECORDED_SITE:
    case RECORDED_LAUNCHED_SITE:
    case RECORDED_STACK:
    case RECORDED_MODULE:
    case RECORDED_SOURCE_LINE:
        recorded_sites_take(reading->result->groups[reading->group].sites, recorded);
        break;
    case RECORDED_TIME:
    case RECORDED_CLOCK:
        break;
    case RECORDED_AT:
        reading->time += recorded->value[FIELD_TENTHS];
        break;
    case RECORDED_STEP:
        step_take(reading, recorded);
        break;
    case RECORDED_LANE:
    case RECORDED_LANE_AS:
    case RECORDED_HOST_LANE:
    case RECORDED_UNPROMISED:
        held_take(reading);
        reading_lane_take(reading, recorded);
        break;
    case RECORDED_LANE_KIND:
    case RECORDED_LANE_NAME:
    case RECORDED_LANE_PART:
        held_take(reading);
        reading_lane_describe(reading, recorded);
        break;
    case RECORDED_FRAMEWORK:
        reading->framework = true;
        break;
    case RECORDED_FINDING:
        held_take(reading);
        finding_take(reading, recorded);
        break;
    case RECORDED_LINK:
        held_take(reading);
        if (reading->links)
            reading_link(reading, recorded);
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

void reading_end(struct reading *reading)
{
    held_take(reading);
}
