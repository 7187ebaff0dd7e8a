/* See report_graph.h. */
#include "runtime/cli/findings/report_graph.h"
#include "runtime/cli/findings/race_picture.h"

#include <inttypes.h>

struct graph {
    struct text *text;
    const struct surroundings *surroundings;
    const struct neighbourhood *neighbourhood;
    struct race_picture picture;
    size_t race; /* from 1: node names begin with it */
};

/* A quoted string of the DOT language; a backslash would begin an escape of a label. */
static void quoted_add(struct text *text, const char *string)
{
    text_add(text, "\"");
    for (; *string; string++) {
        if (*string == '"' || *string == '\\')
            text_add(text, "\\%c", *string);
        else if (*string == '\n')
            text_add(text, "\\n");
        else
            text_add(text, "%c", (unsigned char)*string < ' ' ? ' ' : *string);
    }
    text_add(text, "\"");
}

/* ---- nodes: in a cluster for each lane */

static void node_add(struct graph *graph, const struct moment *moment)
{
    struct text label = {0};
    char place[PLACE_BYTES];
    bool access = moment->at == graph->neighbourhood->accesses[0] ||
                  moment->at == graph->neighbourhood->accesses[1];
    const char *name = moment_name(graph->surroundings, moment);
    const struct stack_frame *frame =
        surroundings_place(graph->surroundings, moment->lane, moment->site);
    text_add(&label, "%s", name ? name : moment_deed(moment));
    if (moment->event)
        text_add(&label, " %" PRIu64, moment->event);
    if (frame && frame->file) {
        stack_frame_place(frame, place, sizeof place);
        text_add(&label, "\n%s", place);
    }
    text_add(graph->text, "      r%zu_%" PRIu64 " [label=", graph->race, moment->at);
    quoted_add(graph->text, label.data ? label.data : "");
    text_add(graph->text, "%s%s];\n", moment->op ? "" : ", style=rounded",
             access ? ", color=red, penwidth=2" : "");
    text_free(&label);
}

static uint32_t group_of(const struct graph *graph, int lane)
{
    return graph->surroundings->lanes[lane].group;
}

static void lane_add(struct graph *graph, int lane)
{
    const struct moment *last = NULL;
    for (size_t i = 0; i < graph->picture.count; i++) {
        const struct moment *moment = graph->picture.shown[i];
        if (moment->lane != lane)
            continue;
        if (!last) {
            text_add(graph->text, "    subgraph cluster_%zu_%d {\n      label=", graph->race, lane);
            quoted_add(graph->text, graph->surroundings->lanes[lane].name);
            text_add(graph->text, "; color=gray;\n");
        }
        node_add(graph, moment);
        if (last)
            text_add(graph->text, "      r%zu_%" PRIu64 " -> r%zu_%" PRIu64 " [color=gray];\n",
                     graph->race, last->at, graph->race, moment->at);
        last = moment;
    }
    if (last)
        text_add(graph->text, "    }\n");
}

/* Of several processes, in a cluster for each. */
static void group_add(struct graph *graph, uint32_t group)
{
    const struct surroundings *surroundings = graph->surroundings;
    const bool several = surroundings->group_count > 1;
    bool used = false;
    for (size_t i = 0; i < graph->picture.count; i++)
        used |= group_of(graph, graph->picture.shown[i]->lane) == group;
    if (!used)
        return;
    if (several) {
        text_add(graph->text, "    subgraph cluster_%zu_group_%u {\n    label=", graph->race,
                 group);
        quoted_add(graph->text, surroundings->groups[group].name);
        text_add(graph->text, ";\n");
    }
    for (size_t lane = 0; lane < surroundings->lane_count; lane++)
        if (surroundings->lanes[lane].group == group)
            lane_add(graph, (int)lane);
    if (several)
        text_add(graph->text, "    }\n");
}

/* ---- edges from lane to lane */

static void edge_add(struct graph *graph, uint64_t from, uint64_t to, const char *style)
{
    text_add(graph->text, "    r%zu_%" PRIu64 " -> r%zu_%" PRIu64 " [%s];\n", graph->race, from,
             graph->race, to, style);
}

/* The newest on that lane that is drawn, before the one at `end` and not after `at`. */
static const struct moment *newest_drawn(const struct graph *graph, int lane, size_t end,
                                         uint64_t at)
{
    while (end-- > 0) {
        const struct moment *moment = graph->picture.shown[end];
        if (moment->lane == lane && moment->at <= at)
            return moment;
    }
    return NULL;
}

static void waits_add(struct graph *graph, size_t index)
{
    const struct moment *moment = graph->picture.shown[index];
    int lane = moment->from_lane, last = moment->from_lane;
    uint64_t at = moment->from;
    if (lane == ALL_LANES) {
        lane = 0;
        last = (int)graph->surroundings->lane_count - 1;
        at = moment->at;
    }
    for (; lane >= 0 && lane <= last; lane++) {
        const struct moment *from = newest_drawn(graph, lane, index, at);
        if (from && lane != moment->lane && group_of(graph, lane) == group_of(graph, moment->lane))
            edge_add(graph, from->at, moment->at, "color=darkgreen");
    }
}

/* From who sends, or takes part in a collective call, to who learns of it. */
static void meets_add(struct graph *graph, const struct moment *moment)
{
    for (size_t i = 0; moment->meet && !moment->gives && i < graph->picture.count; i++) {
        const struct moment *from = graph->picture.shown[i];
        if (from->meet == moment->meet && from->gives && from->lane != moment->lane)
            edge_add(graph, from->at, moment->at, "color=blue");
    }
}

static void race_add(struct graph *graph, const struct finding *finding)
{
    const struct neighbourhood *neighbourhood = graph->neighbourhood;
    struct text label = {0};
    if (finding_is_error(finding))
        text_add(&label, "Finding %" PRIu64 ": %s", finding->number, finding->headline);
    else
        text_add(&label, "Race %" PRIu64 ": %s and %s", finding->number, finding->accesses[1].name,
                 finding->accesses[0].name);
    text_add(graph->text, "  subgraph cluster_%zu {\n    label=", graph->race);
    quoted_add(graph->text, label.data ? label.data : "");
    text_add(graph->text, ";\n");
    text_free(&label);
    for (size_t i = 0; i < graph->surroundings->group_count; i++)
        group_add(graph, (uint32_t)i);
    for (size_t i = 0; i < graph->picture.count; i++) {
        waits_add(graph, i);
        meets_add(graph, graph->picture.shown[i]);
    }
    if (graph->picture.count && !finding_is_error(finding))
        edge_add(graph, neighbourhood->accesses[1], neighbourhood->accesses[0],
                 "color=red, style=dashed, penwidth=2, label=\"missing\", constraint=false");
    text_add(graph->text, "  }\n");
}

void report_graph_add(struct text *text, struct finding *const *findings,
                      const struct surroundings *surroundings)
{
    text_add(text, "digraph races {\n  node [shape=box, fontname=monospace];\n"
                   "  graph [fontname=monospace];\n");
    for (size_t i = 0; i < surroundings->count; i++) {
        struct graph graph = {.text = text,
                              .surroundings = surroundings,
                              .neighbourhood = &surroundings->items[i],
                              .race = i + 1};
        if (race_picture_choose(&graph.picture, surroundings, graph.neighbourhood, findings[i]))
            race_add(&graph, findings[i]);
        else
            text->cut = true;
        race_picture_free(&graph.picture);
    }
    text_add(text, "}\n");
}
