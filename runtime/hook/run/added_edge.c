/* See added_edge.h. */
#include "runtime/hook/run/added_edge.h"
#include "csan/stack/code_place.h"
#include "csan/detector/context.h"
#include "runtime/hook/run/added_order.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/graph/graph_topology.h"
#include "runtime/hook/session/session.h"

#include <stdlib.h>
#include <string.h>

/* A graph's entries with where each was made, and which come before it. */
struct linking {
    CUgraph graph;
    struct graph_topology shape;
    uint64_t *places;    /* 0: not known */
    size_t *begin, *end; /* the entries of the child graph's node that each is within, or itself */
    uint64_t *before;    /* a set of entries for each entry, `words` long */
    size_t words;
};

static struct {
    void *add_dependencies, *child_graph;
} ask;

static uint64_t *before_of(const struct linking *linking, size_t entry)
{
    return linking->before + entry * linking->words;
}

static bool comes_before(const struct linking *linking, size_t one, size_t other)
{
    return before_of(linking, other)[one / 64] >> one % 64 & 1;
}

/* `one`, and all before it, come before `other`. */
static void set_before(const struct linking *linking, size_t one, size_t other)
{
    uint64_t *to = before_of(linking, other);
    const uint64_t *from = before_of(linking, one);
    for (size_t i = 0; i < linking->words; i++)
        to[i] |= from[i];
    to[one / 64] |= UINT64_C(1) << one % 64;
}

static uint64_t place_of_node(CUgraphNode node)
{
    struct graph_node_work *work = graph_node_find(node);
    const void *const *frames = NULL;
    size_t count = 0;
    if (!work)
        return 0;
    context_site_stack(session_context(), work->site, &frames, &count);
    graph_node_work_release(work);
    return code_place(NULL, frames, count);
}

/* Nodes of one graph, or of a child graph and what is around it. */
static bool add_edge(const struct linking *linking, size_t from, size_t to)
{
    PFN_cuGraphAddDependencies_v10000 add =
        (PFN_cuGraphAddDependencies_v10000)driver_function_cached(&ask.add_dependencies,
                                                                  "cuGraphAddDependencies");
    CUgraphNode one = linking->shape.entries[from].node, other = linking->shape.entries[to].node;
    return add && add(linking->graph, &one, &other, 1) == CUDA_SUCCESS;
}

/* The entry is to come after all that were made at `from` and stand before it. The nearest first:
 * what comes before that needs no edge of its own. */
static void link_entry(struct linking *linking, struct added *order, size_t entry)
{
    for (size_t i = entry; i-- > 0;) {
        const size_t from = linking->end[i], to = linking->begin[entry];
        if (linking->places[i] != order->from || comes_before(linking, i, entry) || from >= to)
            continue;
        if (add_edge(linking, from, to)) {
            set_before(linking, from, to);
            set_before(linking, from, entry);
            __atomic_fetch_add(&order->edges, 1, __ATOMIC_RELAXED);
        } else {
            __atomic_fetch_add(&order->failed, 1, __ATOMIC_RELAXED);
        }
    }
}

static void link_all(struct linking *linking)
{
    size_t count;
    struct added *orders = added_orders(&count);
    for (size_t i = 0; i < linking->shape.count; i++) {
        const struct graph_topology_entry *entry = &linking->shape.entries[i];
        for (size_t k = 0; k < entry->dependency_count; k++)
            set_before(linking, entry->dependencies[k], i);
        for (size_t k = 0; k < count; k++)
            if (orders[k].kind == ADDED_ORDER && linking->places[i] == orders[k].to &&
                linking->places[i])
                link_entry(linking, &orders[k], i);
    }
}

/* The graph within a node; NULL: it is no such node. */
static CUgraph child_of(CUgraphNode node)
{
    CUgraph child = NULL;
    PFN_cuGraphChildGraphNodeGetGraph_v10000 get =
        (PFN_cuGraphChildGraphNodeGetGraph_v10000)driver_function_cached(
            &ask.child_graph, "cuGraphChildGraphNodeGetGraph");
    return get && get(node, &child) == CUDA_SUCCESS ? child : NULL;
}

static void link_graph(CUgraph graph);

/* The entries of a child graph lie between two of its node, in whose name they are linked with what
 * is around it; with each other they are linked by themselves. */
static void find_places(struct linking *linking)
{
    size_t around = 0; /* the beginning of a child graph, and one more */
    for (size_t i = 0; i < linking->shape.count; i++) {
        const struct graph_topology_entry *entry = &linking->shape.entries[i];
        const bool empty = entry->type == CU_GRAPH_NODE_TYPE_EMPTY;
        CUgraph child = empty && !around ? child_of(entry->node) : NULL;
        linking->begin[i] = around ? around - 1 : i;
        linking->end[i] = i;
        if (!empty)
            linking->places[i] = place_of_node(entry->node);
        if (child) {
            around = i + 1;
            link_graph(child);
        } else if (around && entry->node == linking->shape.entries[around - 1].node) {
            for (size_t k = around - 1; k < i; k++)
                linking->end[k] = i;
            around = 0;
        }
    }
}

static void link_graph(CUgraph graph)
{
    struct linking linking = {.graph = graph};
    const bool read = graph_topology_read(graph, &linking.shape);
    const size_t count = read ? linking.shape.count : 0;
    linking.words = (count + 63) / 64;
    linking.places = calloc(count + 1, sizeof *linking.places);
    linking.begin = calloc(count + 1, sizeof *linking.begin);
    linking.end = calloc(count + 1, sizeof *linking.end);
    linking.before = calloc(count + 1, (linking.words + 1) * sizeof *linking.before);
    if (count && linking.places && linking.begin && linking.end && linking.before) {
        find_places(&linking);
        link_all(&linking);
    }
    free(linking.places);
    free(linking.begin);
    free(linking.end);
    free(linking.before);
    graph_topology_free(&linking.shape);
}

void added_edges(CUgraph graph)
{
    if (graph)
        link_graph(graph);
}
