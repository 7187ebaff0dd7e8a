/* Races inside one graph. See graph_races.h.
 *
 * The nodes are enqueued in a branch of the detector: nodes that follow one another are a lane, and
 * edges between lanes are joins, so that the rules are those of streams. A node that waits for a
 * word comes after the node that writes it, as if an edge said so (graph_memop_edges.h). */
#define HASH_NONFATAL_OOM 1
#include "runtime/hook/graph/graph_races.h"
#include "runtime/hook/graph/graph_memop_edges.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/session/counters.h"
#include "runtime/hook/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <uthash.h>

struct checking {
    const struct graph_topology *shape;
    csan_context *branch;
    uint32_t *lane_of; /* entry -> lane */
    uint32_t *last;    /* lane -> its last entry so far */
    bool *awaited;     /* by an entry of another lane */
    csan_lane *lanes;
    size_t lane_count;
    csan_snapshot **snapshots; /* of awaited entries */
    uint64_t *numbers;         /* of the entries' ops in the branch */
    uint32_t *before;          /* the entry before it of the same outermost operator, or itself */
};

/* An entry goes on the lane of one that it waits for and that is the last there so far. */
static void choose_lanes(struct checking *checking)
{
    for (size_t i = 0; i < checking->shape->count; i++) {
        const struct graph_topology_entry *entry = &checking->shape->entries[i];
        uint32_t lane = (uint32_t)checking->lane_count;
        for (size_t k = 0; k < entry->dependency_count; k++) {
            uint32_t before = entry->dependencies[k];
            if (checking->last[checking->lane_of[before]] == before) {
                lane = checking->lane_of[before];
                break;
            }
        }
        checking->lane_count += lane == checking->lane_count;
        checking->lane_of[i] = lane;
        checking->last[lane] = (uint32_t)i;
        for (size_t k = 0; k < entry->dependency_count; k++)
            checking->awaited[entry->dependencies[k]] |=
                checking->lane_of[entry->dependencies[k]] != lane;
    }
}

static void make_lanes(struct checking *checking)
{
    for (size_t i = 0; i < checking->lane_count; i++) {
        char label[64];
        snprintf(label, sizeof label, "branch %zu of a graph", i + 1);
        checking->lanes[i] = csan_lane_create(checking->branch, 0, label);
    }
}

/* An operator's newest entry. */
struct newest {
    uint64_t operation;
    uint32_t entry;
    UT_hash_handle hh;
};

static bool is_part(const struct graph_topology_entry *entry)
{
    return entry->work && !entry->disabled && entry->work->kind == GRAPH_NODE_OP &&
           entry->work->part.outermost;
}

/* False: memory is short. */
static bool find_same_operator(struct checking *checking)
{
    struct newest *table = NULL, *newest, *next;
    bool room = true;
    for (uint32_t i = 0; room && i < checking->shape->count; i++) {
        const struct graph_topology_entry *entry = &checking->shape->entries[i];
        checking->before[i] = i;
        if (!is_part(entry))
            continue;
        HASH_FIND(hh, table, &entry->work->part.outermost, sizeof(uint64_t), newest);
        if (newest) {
            checking->before[i] = newest->entry;
        } else if ((newest = calloc(1, sizeof *newest))) {
            newest->operation = entry->work->part.outermost;
            HASH_ADD(hh, table, operation, sizeof newest->operation, newest);
            if (!newest->hh.tbl) {
                free(newest);
                newest = NULL;
            }
        }
        room = newest != NULL;
        if (room)
            newest->entry = i;
    }
    HASH_ITER(hh, table, newest, next)
    {
        HASH_DEL(table, newest);
        free(newest);
    }
    return room;
}

/* Declared by an operator that also captured the other. */
static bool declares_for(const struct operator_part *part, const struct operator_part *other)
{
    return part->declared &&
           (part->innermost == other->innermost || part->innermost == other->outermost);
}

static void declare_same_operator(const struct checking *checking, uint32_t number)
{
    const struct operator_part *part = &checking->shape->entries[number].work->part;
    const uint32_t lane = checking->lane_of[number];
    for (uint32_t i = number, before; (before = checking->before[i]) != i; i = before) {
        const struct operator_part *other = &checking->shape->entries[before].work->part;
        if (checking->lane_of[before] != lane &&
            (declares_for(part, other) || declares_for(other, part)))
            csan_op_same_operator(checking->branch, checking->lanes[lane],
                                  checking->lanes[checking->lane_of[before]],
                                  checking->numbers[before], checking->numbers[before]);
    }
}

static void check_op(struct checking *checking, uint32_t number)
{
    const struct graph_node_work *work = checking->shape->entries[number].work;
    declare_same_operator(checking, number);
    checking->numbers[number] =
        csan_op(checking->branch, checking->lanes[checking->lane_of[number]], work->site,
                work->level, work->accesses, work->count);
}

static void check_memory(csan_context *branch, csan_lane lane, const struct graph_node_work *work)
{
    switch (work->kind) {
    case GRAPH_NODE_BIRTH:
        csan_memory_create(branch, CSAN_MEMORY_STREAM, work->base, work->bytes, lane, work->site);
        break;
    case GRAPH_NODE_DEATH:
        csan_memory_free_end(branch,
                             csan_memory_free_begin(branch, work->base, lane, 1, work->site), 0, 0);
        break;
    default:
        break;
    }
}

static void check_entries(struct checking *checking)
{
    for (uint32_t i = 0; i < checking->shape->count; i++) {
        const struct graph_topology_entry *entry = &checking->shape->entries[i];
        csan_lane lane = checking->lanes[checking->lane_of[i]];
        for (size_t k = 0; k < entry->dependency_count; k++)
            if (checking->lane_of[entry->dependencies[k]] != checking->lane_of[i])
                csan_snapshot_join(checking->branch, lane,
                                   checking->snapshots[entry->dependencies[k]]);
        if (entry->work && !entry->disabled &&
            (entry->work->kind == GRAPH_NODE_OP || entry->work->kind == GRAPH_NODE_MEMOPS))
            check_op(checking, i);
        else if (entry->work && !entry->disabled)
            check_memory(checking->branch, lane, entry->work);
        if (checking->awaited[i])
            checking->snapshots[i] = csan_snapshot_take(checking->branch, lane);
    }
    for (size_t i = 0; i < checking->shape->count; i++)
        if (checking->snapshots[i])
            csan_snapshot_release(checking->branch, checking->snapshots[i]);
}

/* Nothing can race in a graph whose nodes are all in a row, but memory can be used after its end.
 */
static bool is_worth_it(const struct checking *checking)
{
    bool memory = false;
    for (size_t i = 0; i < checking->shape->count; i++)
        memory |= checking->shape->entries[i].work &&
                  checking->shape->entries[i].work->kind == GRAPH_NODE_DEATH;
    return checking->lane_count > 1 || memory;
}

static void find(const struct graph_topology *shape)
{
    size_t count = shape->count + 1;
    struct checking checking = {.shape = shape,
                                .lane_of = calloc(count, sizeof(uint32_t)),
                                .last = calloc(count, sizeof(uint32_t)),
                                .awaited = calloc(count, sizeof(bool)),
                                .lanes = calloc(count, sizeof(csan_lane)),
                                .snapshots = calloc(count, sizeof(csan_snapshot *)),
                                .numbers = calloc(count, sizeof(uint64_t)),
                                .before = calloc(count, sizeof(uint32_t))};
    bool room = checking.lane_of && checking.last && checking.awaited && checking.lanes &&
                checking.snapshots && checking.numbers && checking.before;
    if (room)
        choose_lanes(&checking);
    if (room && is_worth_it(&checking) && find_same_operator(&checking) &&
        (checking.branch = csan_context_branch(session_context())) != NULL) {
        make_lanes(&checking);
        check_entries(&checking);
        csan_context_destroy(checking.branch);
    }
    free(checking.lane_of);
    free(checking.last);
    free(checking.awaited);
    free(checking.lanes);
    free(checking.snapshots);
    free(checking.numbers);
    free(checking.before);
}

void graph_races_find(const struct graph_topology *shape)
{
    struct graph_topology ordered;
    switch (graph_memop_edges_add(shape, &ordered)) {
    case GRAPH_MEMOP_EDGES_NONE:
        find(shape);
        break;
    case GRAPH_MEMOP_EDGES_ADDED:
        find(&ordered);
        graph_memop_edges_free(&ordered);
        break;
    default: /* without them it would find too much */
        counters_unmodelled("races among the nodes of a graph with too many memory operations");
    }
}
