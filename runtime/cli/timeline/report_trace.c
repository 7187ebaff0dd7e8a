/* See report_trace.h. */
#include "runtime/cli/timeline/report_trace.h"
#include "csan/base/json_text.h"
#include "runtime/cli/timeline/other_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tenths of a microsecond: the ticks of a recording without times, and the length of a call where
 * there is room. PROCESSES: beside another tool's, whose numbers are those of the system. */
enum { TICK = 100, TICK_LENGTH = 80, CALL_LENGTH = 20, PROCESSES = 1000000000 };

/* Where a moment is drawn: tenths of a microsecond since the trace's beginning. */
struct place {
    int64_t start;
    uint32_t length;
    bool wanted;
};

struct trace {
    struct text *text;
    const struct surroundings *surroundings;
    const struct trace_choice *choice;
    struct place *places; /* by moment of the whole */
    uint64_t *newest;     /* by lane: its newest moment so far */
    bool *drawn;          /* by lane: whether it has a moment that is wanted */
    uint64_t flows;
};

/* From 1: a viewer groups lanes by it. */
static uint64_t process_of(const struct trace *trace, int lane)
{
    return trace->surroundings->lanes[lane].group + UINT64_C(1) +
           (trace->choice->other ? PROCESSES : 0);
}

/* ---- when */

static uint64_t first_time(const struct surroundings *surroundings)
{
    uint64_t first = 0;
    for (size_t i = 0; i < surroundings->whole.count; i++) {
        const uint64_t time = surroundings->whole.moments[i].time;
        if (time && (!first || time < first))
            first = time;
    }
    return first;
}

bool report_trace_has_times(const struct surroundings *surroundings)
{
    return first_time(surroundings) != 0;
}

static bool lane_is_wanted(const struct trace *trace, int lane)
{
    const struct trace_choice *choice = trace->choice;
    const char *name = trace->surroundings->lanes[lane].name;
    bool wanted = !choice->stream_count;
    for (size_t i = 0; i < choice->stream_count && !wanted; i++)
        wanted = name && strstr(name, choice->streams[i]);
    return wanted;
}

/* `since`: tenths of a microsecond since the first moment. */
static bool is_wanted(const struct trace *trace, const struct moment *moment, uint64_t since,
                      const struct neighbourhood *race)
{
    const struct trace_choice *choice = trace->choice;
    const double seconds = (double)since * 1e-7;
    return lane_is_wanted(trace, moment->lane) && (!choice->has_from || seconds >= choice->from) &&
           (!choice->has_to || seconds <= choice->to) &&
           (!choice->race || (race && neighbourhood_find(race, moment->at)));
}

/* The race of that number; NULL: there is none. */
static const struct neighbourhood *race_of(const struct trace *trace,
                                           struct finding *const *findings)
{
    for (size_t i = 0; i < trace->surroundings->count; i++)
        if (findings[i]->number == trace->choice->race)
            return &trace->surroundings->items[i];
    return NULL;
}

/* Moments of a process stand one behind the other, at least a tenth apart. False: memory is short.
 */
static bool places_make(struct trace *trace, struct finding *const *findings)
{
    const struct surroundings *surroundings = trace->surroundings;
    const struct neighbourhood *race = race_of(trace, findings);
    const uint64_t first = first_time(surroundings);
    const uint64_t base = trace->choice->other ? trace->choice->other->base / 100 : first;
    size_t *before = calloc(surroundings->lane_count + 1, sizeof *before); /* + 1; 0: none */
    struct newest {
        int64_t start;
        bool any;
    } *newest = calloc(surroundings->group_count + 1, sizeof *newest);
    trace->places = calloc(surroundings->whole.count + 1, sizeof *trace->places);
    trace->drawn = calloc(surroundings->lane_count + 1, sizeof *trace->drawn);
    const bool made = before && newest && trace->places && trace->drawn;
    for (size_t i = 0; made && i < surroundings->whole.count; i++) {
        const struct moment *moment = &surroundings->whole.moments[i];
        struct place *place = &trace->places[i];
        const uint64_t time = moment->time ? moment->time : first;
        if (moment->lane < 0)
            continue;
        place->start = first ? (int64_t)(time - base) : (int64_t)(moment->at * TICK);
        place->length = first ? CALL_LENGTH : TICK_LENGTH;
        place->wanted = is_wanted(trace, moment, first ? time - first : moment->at * TICK, race);
        trace->drawn[moment->lane] |= place->wanted;
        struct newest *of_process = &newest[surroundings->lanes[moment->lane].group];
        if (of_process->any && place->start <= of_process->start)
            place->start = of_process->start + 1;
        *of_process = (struct newest){place->start, true};
        struct place *former =
            before[moment->lane] ? &trace->places[before[moment->lane] - 1] : NULL;
        if (former && place->start < former->start + former->length)
            former->length = (uint32_t)(place->start - former->start);
        before[moment->lane] = i + 1;
    }
    free(before);
    free(newest);
    return made;
}

/* Of the moment with that `at`; NULL: it is not drawn. */
static const struct place *place_of(const struct trace *trace, uint64_t at)
{
    const struct neighbourhood *whole = &trace->surroundings->whole;
    const struct moment *moment = neighbourhood_find(whole, at);
    const struct place *place = moment ? &trace->places[moment - whole->moments] : NULL;
    return place && place->wanted ? place : NULL;
}

static void time_add(struct text *text, const char *key, int64_t tenths)
{
    const uint64_t magnitude = tenths < 0 ? 0 - (uint64_t)tenths : (uint64_t)tenths;
    text_add(text, "\"%s\": %s%" PRIu64 ".%" PRIu64 ", ", key, tenths < 0 ? "-" : "",
             magnitude / 10, magnitude % 10);
}

/* ---- events */

static void event_begin(struct trace *trace, const char *phase, int lane, const char *name)
{
    text_add(trace->text, ",\n  {");
    json_member_string(trace->text, "ph", phase);
    json_member_number(trace->text, "pid", process_of(trace, lane));
    json_member_number(trace->text, "tid", (uint64_t)lane);
    json_member_string(trace->text, "name", name);
}

static void event_end(struct trace *trace)
{
    json_comma_drop(trace->text);
    text_add(trace->text, "}");
}

/* How many drawn lanes of the process before it have its name: what an operator gives to its stream
 * is a lane beside it, which has the stream's name. */
static int namesakes_before(const struct trace *trace, size_t lane)
{
    const struct surrounding_lane *lanes = trace->surroundings->lanes;
    int count = 0;
    for (size_t i = 0; lanes[lane].name && i < lane; i++)
        count += trace->drawn[i] && lanes[i].group == lanes[lane].group && lanes[i].name &&
                 strcmp(lanes[i].name, lanes[lane].name) == 0;
    return count;
}

static void lane_name_add(struct trace *trace, size_t lane)
{
    const char *name = trace->surroundings->lanes[lane].name;
    const int namesakes = namesakes_before(trace, lane);
    struct text numbered = {0};
    text_add(&numbered, "%s (%d)", name ? name : "", namesakes + 1);
    trace->text->cut |= numbered.cut;
    json_member_string(trace->text, "name", namesakes && numbered.data ? numbered.data : name);
    text_free(&numbered);
}

static void lanes_add(struct trace *trace)
{
    for (size_t lane = 0; lane < trace->surroundings->lane_count; lane++) {
        if (!trace->drawn[lane])
            continue;
        event_begin(trace, "M", (int)lane, "thread_name");
        text_add(trace->text, "\"args\": {");
        lane_name_add(trace, lane);
        json_comma_drop(trace->text);
        text_add(trace->text, "}}");
        event_begin(trace, "M", (int)lane, "thread_sort_index");
        text_add(trace->text, "\"args\": {\"sort_index\": %zu}}", lane);
    }
}

static void place_add(struct trace *trace, const struct moment *moment)
{
    char place[PLACE_BYTES];
    const struct stack_frame *frame =
        surroundings_place(trace->surroundings, moment->lane, moment->site);
    if (!frame || !frame->file)
        return;
    stack_frame_place(frame, place, sizeof place);
    json_member_string(trace->text, "at", place);
}

/* "aten::mul" of "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", as PyTorch's profiler
 * calls it: NULL, if the name is no schema of an operator. To be freed. */
static char *operator_of_schema(const char *name)
{
    const char *end = name && strstr(name, ") -> ") ? strpbrk(name, ".(") : NULL;
    return end ? strndup(name, (size_t)(end - name)) : NULL;
}

static void slice_add(struct trace *trace, const struct moment *moment, const struct place *place)
{
    const char *name = moment_name(trace->surroundings, moment);
    char *brief = operator_of_schema(name);
    event_begin(trace, "X", moment->lane, brief ? brief : name ? name : moment_deed(moment));
    json_member_string(trace->text, "cat", moment->op ? "op" : "order");
    time_add(trace->text, "ts", place->start);
    time_add(trace->text, "dur", place->length);
    text_add(trace->text, "\"args\": {");
    if (moment->op)
        json_member_number(trace->text, "op", moment->op);
    if (moment->event)
        json_member_number(trace->text, "event", moment->event);
    if (brief)
        json_member_string(trace->text, "operator", name);
    free(brief);
    place_add(trace, moment);
    json_comma_drop(trace->text);
    text_add(trace->text, "}}");
}

/* Viewers order processes by this number. A profiler's are those of the system, and less. */
static void below_the_others(struct trace *trace)
{
    for (size_t i = 0; i < trace->surroundings->group_count; i++)
        text_add(trace->text,
                 ",\n  {\"ph\": \"M\", \"pid\": %zu, \"name\": \"process_sort_index\", "
                 "\"args\": {\"sort_index\": %zu}}",
                 i + 1 + PROCESSES, i + 1 + PROCESSES);
}

/* Of several, the name that reports have for each. */
static void processes_add(struct trace *trace)
{
    const struct surroundings *surroundings = trace->surroundings;
    if (trace->choice->other)
        below_the_others(trace);
    for (size_t i = 0; surroundings->group_count > 1 && i < surroundings->group_count; i++) {
        text_add(trace->text,
                 ",\n  {\"ph\": \"M\", \"pid\": %zu, \"name\": \"process_name\", "
                 "\"args\": {",
                 i + 1 + (trace->choice->other ? PROCESSES : 0));
        json_member_string(trace->text, "name", surroundings->groups[i].name);
        json_comma_drop(trace->text);
        text_add(trace->text, "}}");
    }
}

/* An arrow ends in the slice that its end lies in, "bp": "e". */
static void flow_add(struct trace *trace, const char *name, int from_lane, uint64_t from, int lane,
                     uint64_t at)
{
    const struct place *first = place_of(trace, from), *second = place_of(trace, at);
    const struct {
        const char *phase;
        int lane;
        const struct place *place;
    } ends[] = {{"s", from_lane, first}, {"f", lane, second}};
    if (!first || !second)
        return;
    trace->flows++;
    for (int i = 0; i < 2; i++) {
        event_begin(trace, ends[i].phase, ends[i].lane, name);
        json_member_string(trace->text, "cat", name);
        json_member_number(trace->text, "id", trace->flows);
        json_member_string(trace->text, "bp", "e");
        time_add(trace->text, "ts", ends[i].place->start);
        event_end(trace);
    }
}

static void waits_add(struct trace *trace, const struct moment *moment)
{
    if (moment->from_lane >= 0 && moment->from && moment->from_lane != moment->lane)
        flow_add(trace, "order", moment->from_lane, moment->from, moment->lane, moment->at);
    if (moment->from_lane != ALL_LANES)
        return;
    for (size_t lane = 0; lane < trace->surroundings->lane_count; lane++)
        if (trace->newest[lane] && (int)lane != moment->lane &&
            process_of(trace, (int)lane) == process_of(trace, moment->lane))
            flow_add(trace, "order", (int)lane, trace->newest[lane], moment->lane, moment->at);
}

/* ---- messages and collective calls */

static int compare_meet(const void *left, const void *right)
{
    const struct moment *const *a = left, *const *b = right;
    if ((*a)->meet != (*b)->meet)
        return (*a)->meet < (*b)->meet ? -1 : 1;
    return (*b)->gives - (*a)->gives;
}

/* How long the device worked between two records of events, as the program asked for it. Only the
 * difference is known: it is drawn from the call of the first record, before which it cannot have
 * begun. Such spans may overlap: they are asynchronous events, which a viewer draws in rows. */
static void elapsed_add(struct trace *trace, const struct elapsed *elapsed, size_t number)
{
    const struct moment *from = neighbourhood_find(&trace->surroundings->whole, elapsed->from);
    const struct moment *to = neighbourhood_find(&trace->surroundings->whole, elapsed->to);
    const struct place *place = place_of(trace, elapsed->from);
    char name[96];
    if (!from || !to || !place || !report_trace_has_times(trace->surroundings))
        return;
    snprintf(name, sizeof name, "event %" PRIu64 " to event %" PRIu64 ", by the device's clock",
             from->event, to->event);
    for (int end = 0; end < 2; end++) {
        event_begin(trace, end ? "e" : "b", from->lane, name);
        json_member_string(trace->text, "cat", "device");
        json_member_number(trace->text, "id", number + 1);
        time_add(trace->text, "ts",
                 place->start + (end ? (int64_t)(elapsed->nanoseconds / 100) : 0));
        text_add(trace->text, "\"args\": {\"milliseconds\": %.6f}",
                 (double)elapsed->nanoseconds * 1e-6);
        text_add(trace->text, "}");
    }
}

/* Who gives comes before who learns of it; a rank of a collective call may do both. */
static void meets_add(struct trace *trace)
{
    const struct neighbourhood *whole = &trace->surroundings->whole;
    const struct moment **meets = calloc(whole->count + 1, sizeof *meets);
    size_t count = 0;
    trace->text->cut |= !meets;
    for (size_t i = 0; meets && i < whole->count; i++)
        if (whole->moments[i].meet && whole->moments[i].lane >= 0)
            meets[count++] = &whole->moments[i];
    if (count)
        qsort(meets, count, sizeof *meets, compare_meet);
    for (size_t i = 0, first = 0; i < count; i++) {
        first = meets[i]->meet == meets[first]->meet ? first : i;
        for (size_t k = first; !meets[i]->gives && k < i && meets[k]->gives; k++)
            if (meets[k]->lane != meets[i]->lane && meets[k]->at < meets[i]->at)
                flow_add(trace, "message", meets[k]->lane, meets[k]->at, meets[i]->lane,
                         meets[i]->at);
    }
    free(meets);
}

static void races_add(struct trace *trace, struct finding *const *findings)
{
    for (size_t i = 0; i < trace->surroundings->count; i++) {
        const struct neighbourhood *place = &trace->surroundings->items[i];
        char name[32];
        snprintf(name, sizeof name, "race %" PRIu64, findings[i]->number);
        if (!finding_is_error(findings[i]) && place->accesses[0] && place->accesses[1] &&
            place->lanes[0] >= 0 && place->lanes[1] >= 0)
            flow_add(trace, name, place->lanes[1], place->accesses[1], place->lanes[0],
                     place->accesses[0]);
    }
}

static void heading_add(const struct trace *trace)
{
    const struct other_trace *other = trace->choice->other;
    const uint64_t first = first_time(trace->surroundings);
    text_add(trace->text, "{\"displayTimeUnit\": \"ns\", ");
    if (first)
        json_member_number(trace->text, "baseTimeNanoseconds", other ? other->base : first * 100);
    text_add(trace->text,
             "\"traceEvents\": [\n  {\"ph\": \"M\", \"pid\": %d, \"name\": \"process_name\", "
             "\"args\": {\"name\": \"csan: %s\"}}",
             1 + (other ? PROCESSES : 0), first ? "calls by the host's clock" : "order, not time");
}

void report_trace_add(struct text *text, struct finding *const *findings,
                      const struct surroundings *surroundings, const struct trace_choice *choice)
{
    struct trace trace = {.text = text,
                          .surroundings = surroundings,
                          .choice = choice,
                          .newest = calloc(surroundings->lane_count + 1, sizeof(uint64_t))};
    if (!places_make(&trace, findings) || !trace.newest) {
        text->cut = true;
    } else {
        heading_add(&trace);
        processes_add(&trace);
        lanes_add(&trace);
        for (size_t i = 0; i < surroundings->whole.count; i++) {
            const struct moment *moment = &surroundings->whole.moments[i];
            if (!trace.places[i].wanted)
                continue;
            slice_add(&trace, moment, &trace.places[i]);
            waits_add(&trace, moment);
            trace.newest[moment->lane] = moment->at;
        }
        for (size_t i = 0; i < surroundings->elapsed_count; i++)
            elapsed_add(&trace, &surroundings->elapsed[i], i);
        meets_add(&trace);
        races_add(&trace, findings);
        if (choice->other)
            text_add_text(text, &choice->other->events);
        text_add(text, "\n]}\n");
    }
    free(trace.drawn);
    free(trace.newest);
    free(trace.places);
}
