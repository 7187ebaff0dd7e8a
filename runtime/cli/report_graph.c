/* See report_graph.h. */
#include "runtime/cli/report_graph.h"

#include <inttypes.h>
#include <stdlib.h>

enum { AROUND = 8 }; /* moments of use that are drawn on each side of an access */

struct graph {
    struct text *text;
    const struct surroundings *surroundings;
    const struct neighbourhood *neighbourhood;
    bool *drawn; /* by moment */
    size_t race; /* from 1: node names begin with it */
};

/* A quoted string of the DOT language; a backslash would begin an escape of a label. */
static void quoted_add(struct text *text, const char *string)
{
    text_add(text, "\"");
    for (; *string; string++) {
        if (*string == '"' || *string == '\\')
            text_add(text, "\\%c", *string);
        else
            text_add(text, "%c", (unsigned char)*string < ' ' ? ' ' : *string);
    }
    text_add(text, "\"");
}

/* ---- which moments are drawn */

static void around_mark(struct graph *graph, size_t access)
{
    const struct neighbourhood *neighbourhood = graph->neighbourhood;
    size_t left = AROUND + 1;
    for (size_t i = access + 1; i-- > 0 && left; left -= neighbourhood->moments[i].concerns)
        graph->drawn[i] |= neighbourhood->moments[i].concerns;
    left = AROUND;
    for (size_t i = access + 1; i < neighbourhood->count && left;
         left -= neighbourhood->moments[i++].concerns)
        graph->drawn[i] |= neighbourhood->moments[i].concerns;
}

static void drawn_mark(struct graph *graph)
{
    const struct neighbourhood *neighbourhood = graph->neighbourhood;
    for (size_t i = 0; i < neighbourhood->count; i++)
        if (neighbourhood->moments[i].at == neighbourhood->accesses[0] ||
            neighbourhood->moments[i].at == neighbourhood->accesses[1])
            around_mark(graph, i);
    /* What is waited for, too; it comes before who waits. */
    for (size_t i = neighbourhood->count; i-- > 0;)
        for (size_t k = 0; k < i && graph->drawn[i] && neighbourhood->moments[i].from; k++)
            graph->drawn[k] |= neighbourhood->moments[k].at == neighbourhood->moments[i].from;
}

/* ---- nodes: in a cluster for each lane */

static void node_add(struct graph *graph, const struct moment *moment)
{
    struct text label = {0};
    bool access = moment->at == graph->neighbourhood->accesses[0] ||
                  moment->at == graph->neighbourhood->accesses[1];
    if (moment->name)
        text_add(&label, "%s", moment->name);
    else
        text_add(&label, "%s", moment->kind == RECORDED_RECORD ? "record" : "wait");
    if (moment->event)
        text_add(&label, " event %" PRIu64, moment->event);
    text_add(graph->text, "      r%zu_%" PRIu64 " [label=", graph->race, moment->at);
    quoted_add(graph->text, label.data ? label.data : "");
    text_add(graph->text, "%s%s];\n", moment->name ? "" : ", style=rounded",
             access ? ", color=red, penwidth=2" : "");
    text_free(&label);
}

static void lane_add(struct graph *graph, int lane)
{
    const struct neighbourhood *neighbourhood = graph->neighbourhood;
    const struct moment *last = NULL;
    for (size_t i = 0; i < neighbourhood->count; i++) {
        const struct moment *moment = &neighbourhood->moments[i];
        if (moment->lane != lane || !graph->drawn[i])
            continue;
        if (!last) {
            text_add(graph->text, "    subgraph cluster_%zu_%d {\n      label=", graph->race, lane);
            quoted_add(graph->text, graph->surroundings->lanes[lane]);
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

/* ---- edges from lane to lane */

static void edge_add(struct graph *graph, uint64_t from, uint64_t to, const char *style)
{
    text_add(graph->text, "    r%zu_%" PRIu64 " -> r%zu_%" PRIu64 " [%s];\n", graph->race, from,
             graph->race, to, style);
}

/* The newest on that lane that is drawn, before `end` and not after `at`. */
static const struct moment *newest_drawn(const struct graph *graph, int lane, size_t end,
                                         uint64_t at)
{
    while (end-- > 0) {
        const struct moment *moment = &graph->neighbourhood->moments[end];
        if (graph->drawn[end] && moment->lane == lane && moment->at <= at)
            return moment;
    }
    return NULL;
}

static void waits_add(struct graph *graph, size_t index)
{
    const struct moment *moment = &graph->neighbourhood->moments[index];
    int lane = moment->from_lane, last = moment->from_lane;
    uint64_t at = moment->from;
    if (lane == ALL_LANES) {
        lane = 0;
        last = (int)graph->surroundings->lane_count - 1;
        at = moment->at;
    }
    for (; lane >= 0 && lane <= last; lane++) {
        const struct moment *from = newest_drawn(graph, lane, index, at);
        if (from && lane != moment->lane)
            edge_add(graph, from->at, moment->at, "color=darkgreen");
    }
}

static void race_add(struct graph *graph, const struct finding *finding)
{
    const struct neighbourhood *neighbourhood = graph->neighbourhood;
    struct text label = {0};
    text_add(&label, "Race %" PRIu64 ": %s and %s", finding->number, finding->accesses[1].name,
             finding->accesses[0].name);
    text_add(graph->text, "  subgraph cluster_%zu {\n    label=", graph->race);
    quoted_add(graph->text, label.data ? label.data : "");
    text_add(graph->text, ";\n");
    text_free(&label);
    for (size_t lane = 0; lane < graph->surroundings->lane_count; lane++)
        lane_add(graph, (int)lane);
    for (size_t i = 0; i < neighbourhood->count; i++)
        if (graph->drawn[i])
            waits_add(graph, i);
    if (neighbourhood->accesses[0] && neighbourhood->accesses[1])
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
                              .drawn = calloc(surroundings->items[i].count + 1, sizeof(bool)),
                              .race = i + 1};
        if (!graph.drawn) {
            text->cut = true;
            return;
        }
        drawn_mark(&graph);
        race_add(&graph, findings[i]);
        free(graph.drawn);
    }
    text_add(text, "}\n");
}
