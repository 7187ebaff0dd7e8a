/* A graph's nodes as the steps of a launch. See graph_steps.h. */
#include "runtime/hook/graph/graph_steps.h"
#include "runtime/hook/graph/graph_steps_set.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/session/counters.h"

#include <stdlib.h>

enum { SPECIAL_LIMIT = 64 };

/* ---- Steps --------------------------------------------------------------------------------- */

/* Of an entry: which nodes that are steps of their own come before it and after it. */
struct sides {
    uint64_t before, after;
    uint32_t step;
};

struct grouping {
    const struct graph_topology *shape;
    struct sides *sides;
    uint64_t *groups; /* pairs of masks, by step; a special entry's step has none */
    struct graph_steps *merged;
    bool links; /* calls that order processes have steps of their own */
};

static bool has_calls(const struct graph_topology_entry *entry)
{
    return entry->work && entry->work->calls && !entry->disabled;
}

static int special_kind(const struct grouping *grouping, const struct graph_topology_entry *entry)
{
    if (grouping->links && has_calls(entry))
        return GRAPH_STEP_LINKS;
    switch (entry->type) {
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return GRAPH_STEP_RECORD;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return GRAPH_STEP_WAIT;
    case CU_GRAPH_NODE_TYPE_HOST:
        return GRAPH_STEP_HOST;
    default:
        return graph_topology_is_memop(entry->type) ? GRAPH_STEP_MEMOPS : GRAPH_STEP_NODES;
    }
}

static size_t special_count(const struct grouping *grouping)
{
    size_t count = 0;
    for (size_t i = 0; i < grouping->shape->count; i++)
        count += special_kind(grouping, &grouping->shape->entries[i]) != GRAPH_STEP_NODES;
    return count;
}

/* Their steps are worth less than those that order the graph itself. */
static void choose_links(struct grouping *grouping)
{
    bool any = false;
    for (size_t i = 0; i < grouping->shape->count; i++)
        any |= has_calls(&grouping->shape->entries[i]);
    grouping->links = any;
    if (special_count(grouping) > SPECIAL_LIMIT)
        grouping->links = false;
    grouping->merged->unlinked = any && !grouping->links;
}

/* Entries come in an order that the edges allow. A record lets others behind it know what came
 * before it; a wait lets what comes behind know others; host functions, memory operations and calls
 * that order processes do both. */
static void find_sides(const struct grouping *grouping)
{
    const struct graph_topology *shape = grouping->shape;
    struct sides *sides = grouping->sides;
    uint64_t *bits = grouping->groups; /* free so far */
    unsigned next = 0;
    for (size_t i = 0; i < shape->count; i++)
        bits[i] = special_kind(grouping, &shape->entries[i]) != GRAPH_STEP_NODES
                      ? UINT64_C(1) << next++
                      : 0;
    for (size_t i = 0; i < shape->count; i++) {
        const struct graph_topology_entry *entry = &shape->entries[i];
        for (size_t k = 0; k < entry->dependency_count; k++) {
            uint32_t d = entry->dependencies[k];
            bool waits = special_kind(grouping, &shape->entries[d]) >= GRAPH_STEP_WAIT;
            sides[i].before |= sides[d].before | (waits ? bits[d] : 0);
        }
    }
    for (size_t i = shape->count; i-- > 0;) {
        const struct graph_topology_entry *entry = &shape->entries[i];
        int kind = special_kind(grouping, entry);
        uint64_t own = kind != GRAPH_STEP_NODES && kind != GRAPH_STEP_WAIT ? bits[i] : 0;
        for (size_t k = 0; k < entry->dependency_count; k++)
            sides[entry->dependencies[k]].after |= sides[i].after | own;
    }
}

static uint32_t step_add(struct graph_steps *merged, int kind)
{
    merged->steps[merged->count] = (struct graph_step){.kind = (uint8_t)kind};
    return (uint32_t)merged->count++;
}

/* What the entry does, of which a step of its own was made. */
static void describe_step(struct graph_step *step, const struct graph_topology_entry *entry)
{
    step->event = entry->event;
    step->host = entry->work ? entry->work->host : NULL;
    step->memops = entry->work && entry->work->memops ? entry->work : NULL;
    step->calls = has_calls(entry) && !entry->conditional ? entry->work->calls : NULL;
    step->node = entry->node;
}

static void find_steps(const struct grouping *grouping)
{
    struct graph_steps *merged = grouping->merged;
    for (size_t i = 0; i < grouping->shape->count; i++) {
        const struct graph_topology_entry *entry = &grouping->shape->entries[i];
        struct sides *sides = &grouping->sides[i];
        int kind = special_kind(grouping, entry);
        uint32_t step = (uint32_t)merged->count;
        for (uint32_t s = 0; kind == GRAPH_STEP_NODES && s < merged->count; s++)
            if (merged->steps[s].kind == GRAPH_STEP_NODES &&
                grouping->groups[2 * s] == sides->before &&
                grouping->groups[2 * s + 1] == sides->after) {
                step = s;
                break;
            }
        if (step == merged->count) {
            step_add(merged, kind);
            grouping->groups[2 * step] = sides->before;
            grouping->groups[2 * step + 1] = sides->after;
            describe_step(&merged->steps[step], entry);
        }
        sides->step = step;
    }
}

/* Which steps a step comes after: a matrix, since there are few steps. */
static bool link_steps(const struct grouping *grouping)
{
    struct graph_steps *merged = grouping->merged;
    size_t count = merged->count;
    uint8_t *edges = calloc(count * count + 1, 1);
    for (size_t i = 0; edges && i < grouping->shape->count; i++) {
        const struct graph_topology_entry *entry = &grouping->shape->entries[i];
        for (size_t k = 0; k < entry->dependency_count; k++)
            edges[grouping->sides[i].step * count + grouping->sides[entry->dependencies[k]].step] =
                1;
    }
    bool room = edges != NULL;
    for (size_t s = 0; room && s < count; s++) {
        struct graph_step *step = &merged->steps[s];
        room = (step->after = calloc(count, sizeof *step->after)) != NULL;
        for (size_t t = 0; room && t < count; t++)
            if (edges[s * count + t] && s != t)
                step->after[step->after_count++] = (uint32_t)t;
    }
    free(edges);
    return room;
}

static bool is_placed(const struct graph_step *step, const uint32_t *places)
{
    for (size_t k = 0; k < step->after_count; k++)
        if (places[step->after[k]] == UINT32_MAX)
            return false;
    return true;
}

/* Put the steps into an order in which each comes after those that it waits for. Along an edge of
 * the graph the nodes before only grow and those after only shrink, so no two groups wait for each
 * other. */
static bool order_steps(const struct grouping *grouping)
{
    struct graph_steps *merged = grouping->merged;
    uint32_t *places = malloc((merged->count + 1) * sizeof *places);
    struct graph_step *ordered = calloc(merged->count + 1, sizeof *ordered);
    size_t done = 0, before;
    for (size_t s = 0; places && s < merged->count; s++)
        places[s] = UINT32_MAX;
    if (!places || !ordered) {
        free(places);
        free(ordered);
        return false;
    }
    do {
        before = done;
        for (size_t s = 0; s < merged->count; s++)
            if (places[s] == UINT32_MAX && is_placed(&merged->steps[s], places)) {
                places[s] = (uint32_t)done;
                ordered[done++] = merged->steps[s];
            }
    } while (done > before);
    bool all = done == merged->count;
    for (size_t s = 0; all && s < done; s++)
        for (size_t k = 0; k < ordered[s].after_count; k++)
            ordered[s].after[k] = places[ordered[s].after[k]];
    for (size_t i = 0; all && i < grouping->shape->count; i++)
        grouping->sides[i].step = places[grouping->sides[i].step];
    if (all) {
        free(merged->steps);
        merged->steps = ordered;
    } else {
        free(ordered);
    }
    free(places);
    return all;
}

static bool comes_after(struct graph_steps *merged, uint32_t step, uint32_t first, uint32_t end)
{
    struct graph_step *late = &merged->steps[step];
    late->after = calloc(end - first + 1, sizeof *late->after);
    for (uint32_t s = first; late->after && s < end; s++)
        late->after[late->after_count++] = s;
    return late->after != NULL;
}

/* More of them than a mask holds: all waits come first, then all nodes, then the rest. */
static bool flatten(const struct grouping *grouping)
{
    struct graph_steps *merged = grouping->merged;
    const struct graph_topology *shape = grouping->shape;
    counters_unmodelled("the event, host and memory-operation nodes of graphs with more than 64");
    for (size_t i = 0; i < shape->count; i++) {
        const int kind = special_kind(grouping, &shape->entries[i]);
        if (kind != GRAPH_STEP_WAIT && kind != GRAPH_STEP_MEMOPS)
            continue;
        grouping->sides[i].step = step_add(merged, kind);
        describe_step(&merged->steps[grouping->sides[i].step], &shape->entries[i]);
        merged->steps[grouping->sides[i].step].part = GRAPH_STEP_WAITS;
    }
    uint32_t nodes = step_add(merged, GRAPH_STEP_NODES);
    bool room = comes_after(merged, nodes, 0, nodes);
    for (size_t i = 0; room && i < shape->count; i++) {
        int kind = special_kind(grouping, &shape->entries[i]);
        uint32_t step = kind == GRAPH_STEP_NODES ? nodes : grouping->sides[i].step;
        if (kind != GRAPH_STEP_NODES && kind != GRAPH_STEP_WAIT) {
            step = step_add(merged, kind);
            describe_step(&merged->steps[step], &shape->entries[i]);
            merged->steps[step].part = GRAPH_STEP_WRITES;
            room = comes_after(merged, step, nodes, nodes + 1);
        }
        grouping->sides[i].step = step;
    }
    return room;
}

static bool make_steps(const struct grouping *grouping)
{
    if (special_count(grouping) > SPECIAL_LIMIT)
        return flatten(grouping);
    find_sides(grouping);
    find_steps(grouping);
    return link_steps(grouping) && order_steps(grouping);
}

/* ---- The whole ----------------------------------------------------------------------------- */

static bool fill_memory(const struct grouping *grouping, uint32_t number)
{
    struct graph_step *step = &grouping->merged->steps[number];
    size_t room = grouping->shape->count + 1;
    bool any = false;
    for (size_t i = 0; i < grouping->shape->count; i++) {
        struct graph_node_work *work = grouping->shape->entries[i].work;
        any |= work && grouping->sides[i].step == number &&
               (work->kind == GRAPH_NODE_BIRTH || work->kind == GRAPH_NODE_DEATH);
    }
    if (!any)
        return true;
    step->births = calloc(room, sizeof(*step->births));
    step->deaths = calloc(room, sizeof(*step->deaths));
    for (size_t i = 0; step->births && step->deaths && i < grouping->shape->count; i++) {
        struct graph_node_work *work = grouping->shape->entries[i].work;
        if (!work || grouping->sides[i].step != number)
            continue;
        if (work->kind == GRAPH_NODE_BIRTH)
            step->births[step->birth_count++] = work;
        else if (work->kind == GRAPH_NODE_DEATH)
            step->deaths[step->death_count++] = work;
    }
    return step->births && step->deaths;
}

static bool fill_ops(const struct grouping *grouping, uint32_t number)
{
    const struct graph_topology *shape = grouping->shape;
    struct graph_step *step = &grouping->merged->steps[number];
    size_t total = 0;
    for (size_t i = 0; i < shape->count; i++)
        if (grouping->sides[i].step == number && shape->entries[i].work)
            total += shape->entries[i].work->count;
    struct graph_steps_set *set = graph_steps_set_create(total);
    for (size_t i = 0; set && i < shape->count; i++) {
        const struct graph_topology_entry *entry = &shape->entries[i];
        if (grouping->sides[i].step != number || !entry->work || entry->disabled)
            continue;
        for (size_t k = 0; k < entry->work->count; k++)
            graph_steps_set_add(set, entry->work, &entry->work->accesses[k]);
    }
    bool done = set && graph_steps_set_ops(set, &step->ops, &step->op_count);
    graph_steps_set_free(set);
    return done;
}

/* Its one op gives it a site; the accesses stay the work's. */
static bool fill_memops(struct graph_step *step)
{
    step->ops = calloc(1, sizeof *step->ops);
    if (!step->ops)
        return false;
    step->ops[0] = (struct graph_step_op){.site = step->memops->site, .level = step->memops->level};
    step->op_count = 1;
    return true;
}

static void count_nodes(const struct graph_topology *shape, struct graph_steps *merged)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct graph_topology_entry *entry = &shape->entries[i];
        if (entry->type == CU_GRAPH_NODE_TYPE_EMPTY || entry->disabled)
            continue;
        merged->nodes++;
        merged->learning += entry->work && entry->work->learning;
        merged->unknown_kernels += entry->type == CU_GRAPH_NODE_TYPE_KERNEL &&
                                   (!entry->work || entry->work->level == CSAN_LEVEL_UNKNOWN);
    }
}

static void number_sites(struct graph_steps *merged)
{
    merged->identity = 1;
    for (size_t s = 0; s < merged->count; s++) {
        struct graph_step *step = &merged->steps[s];
        step->first = merged->site_count;
        merged->site_count += step->birth_count + step->op_count + step->death_count;
        for (size_t i = 0; i < step->op_count; i++)
            merged->identity = merged->identity * 31 + step->ops[i].site;
    }
}

bool graph_steps_make(const struct graph_topology *shape, struct graph_steps *merged)
{
    *merged = (struct graph_steps){0};
    struct grouping grouping = {.shape = shape,
                                .sides = calloc(shape->count + 1, sizeof(struct sides)),
                                .groups = calloc(2 * shape->count + 2, sizeof(uint64_t)),
                                .merged = merged};
    merged->steps = calloc(2 * shape->count + 2, sizeof *merged->steps);
    choose_links(&grouping);
    bool done = grouping.sides && grouping.groups && merged->steps && make_steps(&grouping);
    for (uint32_t s = 0; done && s < merged->count; s++)
        if (merged->steps[s].kind == GRAPH_STEP_NODES || merged->steps[s].kind == GRAPH_STEP_LINKS)
            done = fill_memory(&grouping, s) && fill_ops(&grouping, s);
        else if (merged->steps[s].memops)
            done = fill_memops(&merged->steps[s]);
    if (merged->steps)
        number_sites(merged);
    count_nodes(shape, merged);
    merged->step_of = calloc(shape->count + 1, sizeof *merged->step_of);
    for (size_t i = 0; done && merged->step_of && i < shape->count; i++)
        merged->step_of[i] = grouping.sides[i].step;
    done = done && merged->step_of;
    free(grouping.sides);
    free(grouping.groups);
    return done;
}

void graph_steps_free(struct graph_steps *merged)
{
    for (size_t s = 0; s < merged->count; s++) {
        struct graph_step *step = &merged->steps[s];
        for (size_t i = 0; i < step->op_count; i++)
            free(step->ops[i].accesses);
        free(step->ops);
        free(step->after);
        free(step->births);
        free(step->deaths);
    }
    for (size_t i = 0; i < GRAPH_STEP_CALLS; i++)
        free(merged->calls[i].sites);
    free(merged->steps);
    free(merged->step_of);
    *merged = (struct graph_steps){0};
}
