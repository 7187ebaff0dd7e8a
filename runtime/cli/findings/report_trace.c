/* See report_trace.h. */
#include "runtime/cli/findings/report_trace.h"
#include "csan/base/json_text.h"
#include "runtime/cli/findings/recorded_sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TICK = 10, LENGTH = 8, PROCESS = 1 }; /* microseconds */

struct trace {
    struct text *text;
    const struct surroundings *surroundings;
    uint64_t *newest; /* by lane: its newest moment so far */
    uint64_t flows;
};

static void event_begin(struct trace *trace, const char *phase, int lane, const char *name)
{
    text_add(trace->text, ",\n  {");
    json_member_string(trace->text, "ph", phase);
    json_member_number(trace->text, "pid", PROCESS);
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
        json_member_string(trace->text, "name", trace->surroundings->lanes[lane]);
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
        recorded_sites_place(trace->surroundings->sites, moment->site);
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
        if (trace->newest[lane] && (int)lane != moment->lane)
            flow_add(trace, "order", (int)lane, trace->newest[lane], moment->lane, moment->at);
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
             "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n  {\"ph\": \"M\", \"pid\": %d, "
             "\"name\": \"process_name\", \"args\": {\"name\": \"csan: order, not time\"}}",
             PROCESS);
    lanes_add(&trace);
    for (size_t i = 0; i < surroundings->whole.count; i++) {
        const struct moment *moment = &surroundings->whole.moments[i];
        if (moment->lane < 0)
            continue;
        slice_add(&trace, moment);
        waits_add(&trace, moment);
        trace.newest[moment->lane] = moment->at;
    }
    races_add(&trace, findings);
    text_add(text, "\n]}\n");
    free(trace.newest);
}
