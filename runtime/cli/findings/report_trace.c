/* See report_trace.h. */
#include "runtime/cli/findings/report_trace.h"
#include "csan/base/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TICK = 10, LENGTH = 8 }; /* microseconds */

struct trace {
    struct text *text;
    const struct surroundings *surroundings;
    uint64_t *newest; /* by lane: its newest moment so far */
    uint64_t flows;
};

/* From 1: a viewer groups lanes by it. */
static uint64_t process_of(const struct trace *trace, int lane)
{
    return trace->surroundings->lanes[lane].group + UINT64_C(1);
}

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

static void lanes_add(struct trace *trace)
{
    for (size_t lane = 0; lane < trace->surroundings->lane_count; lane++) {
        event_begin(trace, "M", (int)lane, "thread_name");
        text_add(trace->text, "\"args\": {");
        json_member_string(trace->text, "name", trace->surroundings->lanes[lane].name);
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

static void slice_add(struct trace *trace, const struct moment *moment)
{
    const char *name = moment_name(trace->surroundings, moment);
    event_begin(trace, "X", moment->lane, name ? name : moment_deed(moment));
    json_member_string(trace->text, "cat", moment->op ? "op" : "order");
    json_member_number(trace->text, "ts", moment->at * TICK);
    json_member_number(trace->text, "dur", LENGTH);
    text_add(trace->text, "\"args\": {");
    if (moment->op)
        json_member_number(trace->text, "op", moment->op);
    if (moment->event)
        json_member_number(trace->text, "event", moment->event);
    place_add(trace, moment);
    json_comma_drop(trace->text);
    text_add(trace->text, "}}");
}

/* Of several, the name that reports have for each. */
static void processes_add(struct trace *trace)
{
    const struct surroundings *surroundings = trace->surroundings;
    for (size_t i = 0; surroundings->group_count > 1 && i < surroundings->group_count; i++) {
        text_add(trace->text,
                 ",\n  {\"ph\": \"M\", \"pid\": %zu, \"name\": \"process_name\", "
                 "\"args\": {",
                 i + 1);
        json_member_string(trace->text, "name", surroundings->groups[i].name);
        json_comma_drop(trace->text);
        text_add(trace->text, "}}");
    }
}

/* An arrow ends in the slice that its end lies in, "bp": "e". */
static void flow_add(struct trace *trace, const char *name, int from_lane, uint64_t from, int lane,
                     uint64_t at)
{
    const struct {
        const char *phase;
        int lane;
        uint64_t at;
    } ends[] = {{"s", from_lane, from}, {"f", lane, at}};
    trace->flows++;
    for (int i = 0; i < 2; i++) {
        event_begin(trace, ends[i].phase, ends[i].lane, name);
        json_member_string(trace->text, "cat", name);
        json_member_number(trace->text, "id", trace->flows);
        json_member_string(trace->text, "bp", "e");
        json_member_number(trace->text, "ts", ends[i].at * TICK + LENGTH / 2);
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

void report_trace_add(struct text *text, struct finding *const *findings,
                      const struct surroundings *surroundings)
{
    struct trace trace = {.text = text,
                          .surroundings = surroundings,
                          .newest = calloc(surroundings->lane_count + 1, sizeof(uint64_t))};
    if (!trace.newest) {
        text->cut = true;
        return;
    }
    text_add(text,
             "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n  {\"ph\": \"M\", \"pid\": 1, "
             "\"name\": \"process_name\", \"args\": {\"name\": \"csan: order, not time\"}}");
    processes_add(&trace);
    lanes_add(&trace);
    for (size_t i = 0; i < surroundings->whole.count; i++) {
        const struct moment *moment = &surroundings->whole.moments[i];
        if (moment->lane < 0)
            continue;
        slice_add(&trace, moment);
        waits_add(&trace, moment);
        trace.newest[moment->lane] = moment->at;
    }
    meets_add(&trace);
    races_add(&trace, findings);
    text_add(text, "\n]}\n");
    free(trace.newest);
}
