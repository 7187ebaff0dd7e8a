/* See graph_bodies.h. */
#include "runtime/hook/graph/graph_bodies.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/handle_table.h"

#include <stdlib.h>
#include <string.h>

struct bodies {
    CUgraphNode node;
    unsigned count;
    UT_hash_handle hh;
    CUgraph graphs[];
};

static struct {
    struct bodies *nodes;
} table;

static struct bodies *find(CUgraphNode node)
{
    struct bodies *bodies = NULL;
    HASH_FIND_PTR(table.nodes, &node, bodies);
    return bodies;
}

static void drop(CUgraphNode node)
{
    struct bodies *bodies = find(node);
    if (!bodies)
        return;
    HASH_DEL(table.nodes, bodies);
    free(bodies);
}

static struct bodies *create(CUgraphNode node, const CUDA_CONDITIONAL_NODE_PARAMS *params)
{
    struct bodies *bodies = calloc(1, sizeof *bodies + params->size * sizeof(CUgraph));
    if (!bodies)
        return NULL;
    bodies->node = node;
    bodies->count = params->size;
    memcpy(bodies->graphs, params->phGraph_out, params->size * sizeof(CUgraph));
    return bodies;
}

void graph_bodies_note(CUgraphNode node, const CUgraphNodeParams *params)
{
    if (params->type != CU_GRAPH_NODE_TYPE_CONDITIONAL || !params->conditional.phGraph_out)
        return;
    struct bodies *bodies = create(node, &params->conditional);
    guard_lock();
    drop(node);
    if (bodies)
        HASH_ADD_PTR(table.nodes, node, bodies);
    if (bodies && !bodies->hh.tbl)
        free(bodies);
    guard_unlock();
}

void graph_bodies_forget(CUgraphNode node)
{
    guard_lock();
    drop(node);
    guard_unlock();
}

CUgraph *graph_bodies_find(CUgraphNode node, unsigned *count)
{
    CUgraph *graphs = NULL;
    guard_lock();
    const struct bodies *bodies = find(node);
    if (bodies && (graphs = calloc(bodies->count + 1, sizeof *graphs))) {
        memcpy(graphs, bodies->graphs, bodies->count * sizeof *graphs);
        *count = bodies->count;
    }
    guard_unlock();
    return graphs;
}
