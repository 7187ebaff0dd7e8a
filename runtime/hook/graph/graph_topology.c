/* Graphs as the driver reports them. See graph_topology.h. */
#include "runtime/hook/graph/graph_topology.h"
#include "csan/base/array.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/observe/learning_node.h"
#include "runtime/hook/graph/graph_bodies.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/session/counters.h"

#include <stdlib.h>

static struct {
    void *nodes, *edges2, *edges, *type, *child, *record_event, *wait_event;
} ask;

/* One graph's own nodes and edges; edges as places in `nodes`. */
struct level {
    CUgraphNode *nodes;
    size_t count;
    uint32_t *from, *to;
    size_t edge_count;
    size_t *first; /* edges of node i from first[i] to first[i + 1], when sorted by target */
};

struct place {
    CUgraphNode node;
    uint32_t place;
};

static int by_node(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return a->node < b->node ? -1 : a->node > b->node;
}

static bool place_of_node(const struct place *places, size_t count, CUgraphNode node,
                          uint32_t *place)
{
    struct place key = {.node = node};
    const struct place *found = bsearch(&key, places, count, sizeof *places, by_node);
    if (found)
        *place = found->place;
    return found != NULL;
}

static void level_free(struct level *level)
{
    free(level->nodes);
    free(level->from);
    free(level->to);
    free(level->first);
}

static bool read_nodes(CUgraph graph, struct level *level)
{
    PFN_cuGraphGetNodes_v10000 get =
        (PFN_cuGraphGetNodes_v10000)driver_function_cached(&ask.nodes, "cuGraphGetNodes");
    if (!get || get(graph, NULL, &level->count) != CUDA_SUCCESS)
        return false;
    level->nodes = calloc(level->count + 1, sizeof(CUgraphNode));
    return level->nodes &&
           (!level->count || get(graph, level->nodes, &level->count) == CUDA_SUCCESS);
}

/* An edge with data is less than a full dependency; it is taken for one, and that is said. */
static bool get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                      size_t *count)
{
    PFN_cuGraphGetEdges_v12030 get2 =
        (PFN_cuGraphGetEdges_v12030)driver_function_cached(&ask.edges2, "cuGraphGetEdges_v2");
    PFN_cuGraphGetEdges_v10000 get =
        (PFN_cuGraphGetEdges_v10000)driver_function_cached(&ask.edges, "cuGraphGetEdges");
    if (get2)
        return get2(graph, from, to, data, count) == CUDA_SUCCESS;
    return get && get(graph, from, to, count) == CUDA_SUCCESS;
}

static bool index_edges(struct level *level, CUgraphNode *from, CUgraphNode *to,
                        const CUgraphEdgeData *data)
{
    struct place *places = calloc(level->count + 1, sizeof *places);
    bool known = places != NULL;
    for (size_t i = 0; known && i < level->count; i++)
        places[i] = (struct place){level->nodes[i], (uint32_t)i};
    if (known)
        qsort(places, level->count, sizeof *places, by_node);
    for (size_t i = 0; known && i < level->edge_count; i++) {
        known = place_of_node(places, level->count, from[i], &level->from[i]) &&
                place_of_node(places, level->count, to[i], &level->to[i]);
        if (data[i].from_port || data[i].type)
            counters_unmodelled("edges of graphs that are no full dependencies");
    }
    free(places);
    return known;
}

static bool read_edges(CUgraph graph, struct level *level)
{
    if (!get_edges(graph, NULL, NULL, NULL, &level->edge_count))
        return false;
    size_t count = level->edge_count;
    CUgraphNode *from = calloc(count + 1, sizeof(CUgraphNode));
    CUgraphNode *to = calloc(count + 1, sizeof(CUgraphNode));
    CUgraphEdgeData *data = calloc(count + 1, sizeof *data);
    level->from = calloc(count + 1, sizeof *level->from);
    level->to = calloc(count + 1, sizeof *level->to);
    bool read = from && to && data && level->from && level->to &&
                (!count || get_edges(graph, from, to, data, &level->edge_count)) &&
                index_edges(level, from, to, data);
    free(from);
    free(to);
    free(data);
    return read;
}

/* ---- Entries ------------------------------------------------------------------------------- */

static struct graph_topology_entry *append(struct graph_topology *shape, CUgraphNode node,
                                           CUgraphNodeType type, size_t dependencies)
{
    if (!array_room(&shape->entries, shape->count, &shape->capacity, 16, SIZE_MAX,
                    sizeof *shape->entries))
        return NULL;
    struct graph_topology_entry *entry = &shape->entries[shape->count];
    *entry = (struct graph_topology_entry){.node = node, .type = type};
    entry->dependencies = calloc(dependencies + 1, sizeof(uint32_t));
    if (!entry->dependencies)
        return NULL;
    shape->count++;
    return entry;
}

static bool add_graph(struct graph_topology *shape, CUgraph graph, const uint32_t *begin);

/* Behind the begin of a node's graph, which is the last entry: its nodes, and an end behind all of
 * them. */
static bool add_inner(struct graph_topology *shape, CUgraphNode node, CUgraph child)
{
    uint32_t begin = (uint32_t)shape->count - 1;
    if (!add_graph(shape, child, &begin))
        return false;
    size_t inner = shape->count - begin;
    struct graph_topology_entry *end = append(shape, node, CU_GRAPH_NODE_TYPE_EMPTY, inner);
    if (!end)
        return false;
    for (size_t i = 0; i < inner; i++) /* more edges than needed, and the same order */
        end->dependencies[end->dependency_count++] = begin + (uint32_t)i;
    return true;
}

static bool add_child(struct graph_topology *shape, CUgraphNode node)
{
    CUgraph child = NULL;
    PFN_cuGraphChildGraphNodeGetGraph_v10000 get =
        (PFN_cuGraphChildGraphNodeGetGraph_v10000)driver_function_cached(
            &ask.child, "cuGraphChildGraphNodeGetGraph");
    return get && get(node, &child) == CUDA_SUCCESS && add_inner(shape, node, child);
}

/* One of the bodies runs, or none, or one again and again: never two at the same time. So they come
 * one after the other, and each may not run at all. */
static bool add_bodies(struct graph_topology *shape, CUgraphNode node, const CUgraph *bodies,
                       unsigned count)
{
    const size_t first = shape->count;
    bool added = true;
    for (unsigned i = 0; added && i < count; i++)
        added = add_inner(shape, node, bodies[i]);
    for (size_t i = first; i < shape->count; i++)
        shape->entries[i].conditional = true;
    return added;
}

static CUevent event_of_node(CUgraphNode node, CUgraphNodeType type)
{
    CUevent event = NULL;
    PFN_cuGraphEventRecordNodeGetEvent_v11010 get =
        (PFN_cuGraphEventRecordNodeGetEvent_v11010)(type == CU_GRAPH_NODE_TYPE_EVENT_RECORD
                                                        ? driver_function_cached(
                                                              &ask.record_event,
                                                              "cuGraphEventRecordNodeGetEvent")
                                                        : driver_function_cached(
                                                              &ask.wait_event,
                                                              "cuGraphEventWaitNodeGetEvent"));
    return get && get(node, &event) == CUDA_SUCCESS ? event : NULL;
}

static void say_unmodelled(struct graph_topology *shape, CUgraphNodeType type)
{
    if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        counters_unmodelled("conditional nodes of graphs not seen made");
    else
        return;
    shape->partial = true;
}

/* The node at `place` of the level; `entries` says what those before it became. */
static bool add_node(struct graph_topology *shape, const struct level *level, size_t place,
                     uint32_t *entries, const uint32_t *begin)
{
    CUgraphNode node = level->nodes[place];
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    PFN_cuGraphNodeGetType_v10000 get =
        (PFN_cuGraphNodeGetType_v10000)driver_function_cached(&ask.type, "cuGraphNodeGetType");
    size_t count = level->first[place + 1] - level->first[place];
    if (!get || get(node, &type) != CUDA_SUCCESS)
        return false;
    bool is_child = type == CU_GRAPH_NODE_TYPE_GRAPH;
    unsigned body_count = 0;
    CUgraph *bodies =
        type == CU_GRAPH_NODE_TYPE_CONDITIONAL ? graph_bodies_find(node, &body_count) : NULL;
    struct graph_topology_entry *entry =
        append(shape, node, is_child || bodies ? CU_GRAPH_NODE_TYPE_EMPTY : type, count + 1);
    if (!entry) {
        free(bodies);
        return false;
    }
    for (size_t i = level->first[place]; i < level->first[place + 1]; i++)
        entry->dependencies[entry->dependency_count++] = entries[level->from[i]];
    if (!count && begin)
        entry->dependencies[entry->dependency_count++] = *begin;
    if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD || type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        entry->event = event_of_node(node, type);
    shape->hides_kernels |= type == CU_GRAPH_NODE_TYPE_CONDITIONAL; /* or runs them again */
    bool added = true;
    if (bodies)
        added = add_bodies(shape, node, bodies, body_count);
    else if (is_child)
        added = add_child(shape, node);
    else
        say_unmodelled(shape, type);
    free(bodies);
    if (!added)
        return false;
    entries[place] = (uint32_t)shape->count - 1;
    return true;
}

/* Edges by target, each target's in their order. */
static bool sort_edges(struct level *level)
{
    size_t *next = calloc(level->count + 2, sizeof *next);
    uint32_t *from = calloc(level->edge_count + 1, sizeof *from);
    uint32_t *to = calloc(level->edge_count + 1, sizeof *to);
    level->first = calloc(level->count + 2, sizeof *level->first);
    bool room = next && from && to && level->first;
    for (size_t i = 0; room && i < level->edge_count; i++)
        level->first[level->to[i] + 1]++;
    for (size_t i = 0; room && i < level->count; i++)
        next[i + 1] = level->first[i + 1] += level->first[i];
    for (size_t i = 0; room && i < level->edge_count; i++) {
        size_t at = next[level->to[i]]++;
        from[at] = level->from[i];
        to[at] = level->to[i];
    }
    free(next);
    if (!room) {
        free(from);
        free(to);
        return false;
    }
    free(level->from);
    free(level->to);
    level->from = from;
    level->to = to;
    return true;
}

/* Rounds over the nodes in the driver's order, each taking what waits for nothing any more; nearly
 * always one, since that is the order of creation. */
static bool add_level(struct graph_topology *shape, const struct level *level,
                      const uint32_t *begin)
{
    enum { NOT_YET = 0xffffffffu };
    uint32_t *entries = malloc((level->count + 1) * sizeof *entries);
    size_t done = 0, before = 0;
    bool valid = entries != NULL;
    for (size_t i = 0; valid && i < level->count; i++)
        entries[i] = NOT_YET;
    do {
        before = done;
        for (size_t i = 0; valid && i < level->count; i++) {
            bool ready = entries[i] == NOT_YET;
            for (size_t k = level->first[i]; ready && k < level->first[i + 1]; k++)
                ready = entries[level->from[k]] != NOT_YET;
            if (ready) {
                valid = add_node(shape, level, i, entries, begin);
                done++;
            }
        }
    } while (valid && done < level->count && done > before);
    free(entries);
    return valid && done == level->count;
}

static bool add_graph(struct graph_topology *shape, CUgraph graph, const uint32_t *begin)
{
    struct level level = {0};
    bool read = read_nodes(graph, &level) && read_edges(graph, &level) && sort_edges(&level) &&
                add_level(shape, &level, begin);
    level_free(&level);
    return read;
}

bool graph_topology_read(CUgraph graph, struct graph_topology *shape)
{
    *shape = (struct graph_topology){0};
    return add_graph(shape, graph, NULL);
}

struct learning_node *graph_topology_entry_learning(const struct graph_topology_entry *entry)
{
    struct learning_node *node = entry->work ? entry->work->learning : NULL;
    return node && !learning_node_is_over(node) ? node : NULL;
}

void graph_topology_ask_code(struct graph_topology *shape)
{
    for (size_t i = 0; i < shape->count; i++)
        if (shape->entries[i].type == CU_GRAPH_NODE_TYPE_KERNEL)
            shape->entries[i].code = graph_node_ask_code(shape->entries[i].node);
}

struct kernel_place {
    CUfunction function;
    size_t place;
};

static int by_kernel(const void *left, const void *right)
{
    const struct kernel_place *a = left, *b = right;
    return a->function < b->function ? -1 : a->function > b->function;
}

void graph_topology_find_alone(struct graph_topology *shape)
{
    struct kernel_place *places = calloc(shape->count + 1, sizeof *places);
    for (size_t i = 0; i < shape->count; i++) {
        shape->entries[i].alone = false;
        if (places)
            places[i] = (struct kernel_place){shape->entries[i].code.function, i};
    }
    if (places)
        qsort(places, shape->count, sizeof *places, by_kernel);
    for (size_t i = 0; places && i < shape->count; i++)
        shape->entries[places[i].place].alone =
            !shape->hides_kernels && places[i].function &&
            (i == 0 || places[i - 1].function != places[i].function) &&
            (i + 1 == shape->count || places[i + 1].function != places[i].function);
    free(places);
}

void graph_topology_equip(struct graph_topology *shape, const struct callsite_stack *stack)
{
    if (trace_source_changes_code())
        graph_topology_ask_code(shape);
    for (size_t i = 0; i < shape->count; i++) {
        struct graph_topology_entry *entry = &shape->entries[i];
        if (entry->type == CU_GRAPH_NODE_TYPE_EMPTY)
            continue;
        entry->work = graph_node_find(entry->node);
        if (!entry->work)
            entry->work = graph_node_ask(entry->node, entry->type, stack);
        if (graph_topology_is_memop(entry->type) && !entry->work) {
            counters_unmodelled(
                "memory operation nodes of graphs that the driver does not describe");
            shape->partial = true;
        }
        if (entry->conditional)
            entry->work = graph_node_work_maybe(entry->work);
        if (entry->work && entry->work->learning && graph_node_is_of_groups(entry->node))
            learning_node_give_up(entry->work->learning);
    }
}

void graph_topology_free(struct graph_topology *shape)
{
    for (size_t i = 0; i < shape->count; i++) {
        graph_node_work_release(shape->entries[i].work);
        free(shape->entries[i].dependencies);
    }
    free(shape->entries);
    *shape = (struct graph_topology){0};
}

void graph_topology_copy_notes(CUgraph from, CUgraph to)
{
    struct graph_topology original, copy;
    bool both = graph_topology_read(from, &original);
    both &= graph_topology_read(to, &copy);
    for (size_t i = 0; both && i < original.count && original.count == copy.count; i++)
        if (original.entries[i].type == copy.entries[i].type) {
            struct graph_node_work *work = graph_node_find(original.entries[i].node);
            if (work)
                graph_node_note(copy.entries[i].node, work);
        }
    graph_topology_free(&original);
    graph_topology_free(&copy);
}

void graph_topology_forget(const struct graph_topology *shape)
{
    for (size_t i = 0; i < shape->count; i++)
        graph_bodies_forget(shape->entries[i].node);
    for (size_t i = 0; i < shape->count; i++)
        graph_node_forget(shape->entries[i].node);
}
