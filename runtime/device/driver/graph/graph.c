/* Graphs as the program builds them: nodes, edges, clones, and queries about them. graph_node.c has
 * what the nodes do, graph_exec.c how they run. */
#include "runtime/device/driver/graph/graph_conditional.h"
#include "csan/base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lists --------------------------------------------------------------------------------- */

bool node_list_add(struct node_list *list, struct CUgraphNode_st *node)
{
    if (!array_room(&list->nodes, list->count, &list->capacity, 4, SIZE_MAX, sizeof *list->nodes))
        return false;
    list->nodes[list->count++] = node;
    return true;
}

bool node_list_has(const struct node_list *list, const struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->nodes[i] == node)
            return true;
    return false;
}

void node_list_clear(struct node_list *list)
{
    free(list->nodes);
    *list = (struct node_list){0};
}

static void node_list_remove(struct node_list *list, const struct CUgraphNode_st *node)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->nodes[i] != node)
            list->nodes[kept++] = list->nodes[i];
    list->count = kept;
}

/* ---- Nodes and edges ------------------------------------------------------------------------- */

static void node_link(struct CUgraphNode_st *node)
{
    struct CUgraph_st *graph = node->graph;
    node->previous = graph->last;
    if (graph->last)
        graph->last->next = node;
    else
        graph->first = node;
    graph->last = node;
    graph->count++;
}

static void node_unlink(struct CUgraphNode_st *node)
{
    struct CUgraph_st *graph = node->graph;
    if (node->previous)
        node->previous->next = node->next;
    else
        graph->first = node->next;
    if (node->next)
        node->next->previous = node->previous;
    else
        graph->last = node->previous;
    graph->count--;
}

CUresult node_depend(struct CUgraphNode_st *from, struct CUgraphNode_st *to)
{
    if (!node_list_add(&to->dependencies, from))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!node_list_add(&from->dependents, to)) {
        to->dependencies.count--;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult node_create(struct CUgraph_st *graph, CUgraphNodeType type,
                     struct CUgraphNode_st *const *dependencies, size_t count,
                     struct CUgraphNode_st **made)
{
    for (size_t i = 0; i < count; i++) {
        const struct CUgraphNode_st *other = object_find(dependencies[i], OBJECT_NODE);
        if (!other || other->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    }
    struct CUgraphNode_st *node = calloc(1, sizeof *node);
    if (!node)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->graph = graph;
    node->type = type;
    node_link(node);
    object_add(&node->object, OBJECT_NODE);
    for (size_t i = 0; i < count; i++) {
        /* "dependencies may not have any duplicate entries" */
        CUresult result = node_list_has(&node->dependencies, dependencies[i])
                              ? CUDA_ERROR_INVALID_VALUE
                              : node_depend(dependencies[i], node);
        if (result != CUDA_SUCCESS) {
            node_destroy(node);
            return result;
        }
    }
    *made = node;
    return CUDA_SUCCESS;
}

/* Without looking at its neighbours. */
static void node_free(struct CUgraphNode_st *node)
{
    struct graph_block *block =
        node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ? graph_block_at(node->memory.dptr) : NULL;
    if (block)
        graph_block_release(block);
    if (node->work)
        queue_drop(node->work);
    if (node->child)
        graph_destroy(node->child);
    conditional_free(node->conditional);
    object_remove(&node->object);
    node_list_clear(&node->dependencies);
    node_list_clear(&node->dependents);
    free(node);
}

void node_destroy(struct CUgraphNode_st *node)
{
    for (size_t i = 0; i < node->dependencies.count; i++)
        node_list_remove(&node->dependencies.nodes[i]->dependents, node);
    for (size_t i = 0; i < node->dependents.count; i++)
        node_list_remove(&node->dependents.nodes[i]->dependencies, node);
    node_unlink(node);
    node_free(node);
}

/* ---- Graphs -------------------------------------------------------------------------------- */

struct CUgraph_st *graph_create_empty(void)
{
    struct CUgraph_st *graph = calloc(1, sizeof *graph);
    if (graph)
        object_add(&graph->object, OBJECT_GRAPH);
    return graph;
}

void graph_destroy(struct CUgraph_st *graph)
{
    object_remove(&graph->object);
    while (graph->first) {
        struct CUgraphNode_st *node = graph->first;
        node_unlink(node);
        node_free(node);
    }
    while (graph->users) {
        struct user_reference *reference = graph->users;
        graph->users = reference->next;
        user_object_release(reference->user, reference->count);
        free(reference);
    }
    free(graph);
}

static bool copy_node(struct CUgraphNode_st *to, const struct CUgraphNode_st *from, bool of_exec)
{
    to->original = from;
    to->event = from->event;
    to->disabled = from->disabled;
    memcpy(to->attributes, from->attributes, sizeof to->attributes);
    if (from->work && !(to->work = from->work->again(from->work)))
        return false;
    if (from->child) {
        to->child = graph_clone(from->child, of_exec);
        if (!to->child)
            return false;
        to->child->owner = to;
    }
    if (!conditional_copy(to, from, of_exec))
        return false;
    struct graph_block *block =
        from->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ? graph_block_at(from->memory.dptr) : NULL;
    if (block)
        block->references++;
    to->memory = from->memory;
    return true;
}

static bool copy_nodes(struct CUgraph_st *to, const struct CUgraph_st *from, bool of_exec)
{
    struct CUgraphNode_st *copy;
    size_t place = 0;
    struct CUgraphNode_st **copies = calloc(from->count + 1, sizeof(*copies));
    if (!copies)
        return false;
    for (struct CUgraphNode_st *node = from->first; node; node = node->next) {
        node->place = place;
        if (node_create(to, node->type, NULL, 0, &copy) != CUDA_SUCCESS ||
            !copy_node(copy, node, of_exec)) {
            free(copies);
            return false;
        }
        copies[place++] = copy;
    }
    bool done = true;
    for (struct CUgraphNode_st *node = from->first; node && done; node = node->next)
        for (size_t i = 0; i < node->dependencies.count && done; i++)
            done = node_depend(copies[node->dependencies.nodes[i]->place], copies[node->place]) ==
                   CUDA_SUCCESS;
    free(copies);
    return done;
}

struct CUgraph_st *graph_clone(const struct CUgraph_st *graph, bool of_exec)
{
    struct CUgraph_st *copy = graph_create_empty();
    if (!copy)
        return NULL;
    copy->original = graph;
    copy->of_exec = of_exec;
    bool done = copy_nodes(copy, graph, of_exec);
    for (const struct user_reference *held = graph->users; held && done; held = held->next) {
        done = user_object_hold(copy, held->user, 1);
        held->user->references += done;
    }
    if (done)
        return copy;
    graph_destroy(copy);
    return NULL;
}

bool graph_has(const struct CUgraph_st *graph, CUgraphNodeType type)
{
    for (const struct CUgraphNode_st *node = graph->first; node; node = node->next)
        if (node->type == type || (node->child && graph_has(node->child, type)))
            return true;
    return false;
}

bool graph_has_memory(const struct CUgraph_st *graph)
{
    return graph_has(graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC) ||
           graph_has(graph, CU_GRAPH_NODE_TYPE_MEM_FREE);
}

/* ---- Entry points: graphs -------------------------------------------------------------------- */

/* Enter for a call on a graph. A handle that names none is an invalid value, as seen on drivers;
 * nodes of execs are nobody's. */
static CUresult enter_graph(CUgraph handle, struct CUgraph_st **graph)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    *graph = object_find(handle, OBJECT_GRAPH);
    return *graph && !(*graph)->of_exec ? CUDA_SUCCESS : device_leave(CUDA_ERROR_INVALID_VALUE);
}

static CUresult enter_node(CUgraphNode handle, struct CUgraphNode_st **node)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    *node = object_find(handle, OBJECT_NODE);
    return *node && !(*node)->graph->of_exec ? CUDA_SUCCESS
                                             : device_leave(CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!phGraph || flags)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *phGraph = graph_create_empty();
    return device_leave(*phGraph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult CUDAAPI cuGraphDestroy(CUgraph hGraph)
{
    struct CUgraph_st *graph;
    CUresult result = enter_graph(hGraph, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    /* A child graph belongs to its node, a captured one to the capture until that ends. */
    if (graph->owner || graph->capturing)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    graph_destroy(graph);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    struct CUgraph_st *graph;
    CUresult result = enter_graph(originalGraph, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (!phGraphClone)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    /* "Graphs which contain memory allocation nodes cannot be cloned" (CUDA Driver API,
     * cuGraphAddMemAllocNode) */
    if (graph_has_memory(graph))
        return device_leave(CUDA_ERROR_NOT_SUPPORTED);
    *phGraphClone = graph_clone(graph, false);
    return device_leave(*phGraphClone ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult CUDAAPI cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
                                        CUgraph hClonedGraph)
{
    struct CUgraph_st *graph;
    CUresult result = enter_graph(hClonedGraph, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraphNode_st *node = graph->first;
    while (node && (node->original != hOriginalNode || !hOriginalNode))
        node = node->next;
    if (!phNode || !node)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *phNode = node;
    return device_leave(CUDA_SUCCESS);
}

/* ---- Entry points: what a graph has ------------------------------------------------------------
 */

/* "numNodes is set to the number of nodes actually obtained", or to how many there are when there
 * is no array; entries beyond those that exist become NULL. */
struct listing {
    CUgraphNode *nodes;
    size_t room, found;
};

static void list(struct listing *listing, struct CUgraphNode_st *node)
{
    if (listing->nodes && listing->found < listing->room)
        listing->nodes[listing->found] = node;
    listing->found++;
}

static CUresult listed(struct listing *listing, size_t *count)
{
    for (size_t i = listing->found; listing->nodes && i < listing->room; i++)
        listing->nodes[i] = NULL;
    *count = listing->nodes && listing->found > listing->room ? listing->room : listing->found;
    return device_leave(CUDA_SUCCESS);
}

static CUresult list_graph(CUgraph handle, CUgraphNode *nodes, size_t *count, bool roots)
{
    struct CUgraph_st *graph;
    CUresult result = enter_graph(handle, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct listing listing = {nodes, *count, 0};
    for (struct CUgraphNode_st *node = graph->first; node; node = node->next)
        if (!roots || !node->dependencies.count)
            list(&listing, node);
    return listed(&listing, count);
}

CUresult CUDAAPI cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    return list_graph(hGraph, nodes, numNodes, false);
}

CUresult CUDAAPI cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    return list_graph(hGraph, rootNodes, numRootNodes, true);
}

static CUresult list_neighbours(CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *data,
                                size_t *count, bool dependents)
{
    struct CUgraphNode_st *node;
    CUresult result = enter_node(handle, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct listing listing = {nodes, *count, 0};
    const struct node_list *neighbours = dependents ? &node->dependents : &node->dependencies;
    for (size_t i = 0; i < neighbours->count; i++)
        list(&listing, neighbours->nodes[i]);
    if (data && nodes)
        memset(data, 0, listing.room * sizeof *data);
    return listed(&listing, count);
}

CUresult CUDAAPI cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies,
                                            size_t *numDependencies)
{
    return list_neighbours(hNode, dependencies, NULL, numDependencies, false);
}

CUresult CUDAAPI cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode *dependencies,
                                               CUgraphEdgeData *edgeData, size_t *numDependencies)
{
    return list_neighbours(hNode, dependencies, edgeData, numDependencies, false);
}

CUresult CUDAAPI cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                              size_t *numDependentNodes)
{
    return list_neighbours(hNode, dependentNodes, NULL, numDependentNodes, true);
}

CUresult CUDAAPI cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode *dependentNodes,
                                                 CUgraphEdgeData *edgeData,
                                                 size_t *numDependentNodes)
{
    return list_neighbours(hNode, dependentNodes, edgeData, numDependentNodes, true);
}

CUresult CUDAAPI cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                                    CUgraphEdgeData *edgeData, size_t *numEdges)
{
    struct CUgraph_st *graph;
    CUresult result = enter_graph(hGraph, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    /* "If from and to are both NULL, the number of edges" */
    if (!numEdges || !from != !to)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    struct listing sources = {from, *numEdges, 0}, targets = {to, *numEdges, 0};
    for (struct CUgraphNode_st *node = graph->first; node; node = node->next)
        for (size_t i = 0; i < node->dependencies.count; i++) {
            list(&sources, node->dependencies.nodes[i]);
            list(&targets, node);
        }
    if (edgeData && from)
        memset(edgeData, 0, sources.room * sizeof *edgeData);
    for (size_t i = targets.found; to && i < targets.room; i++)
        to[i] = NULL;
    return listed(&sources, numEdges);
}

CUresult CUDAAPI cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                                 size_t *numEdges)
{
    return cuGraphGetEdges_v2(hGraph, from, to, NULL, numEdges);
}

CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    struct CUgraphNode_st *node;
    CUresult result = enter_node(hNode, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (!type)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *type = node->type;
    return device_leave(CUDA_SUCCESS);
}

/* ---- Entry points: changing edges and nodes ----------------------------------------------------
 */

bool graph_edges_are_plain(const CUgraphEdgeData *data, size_t count)
{
    static const CUgraphEdgeData plain;
    for (size_t i = 0; data && i < count; i++)
        if (memcmp(&data[i], &plain, sizeof plain) != 0)
            return false;
    return true;
}

/* An edge that closes a longer cycle is found when the graph is instantiated. */
static CUresult add_edge(struct CUgraph_st *graph, CUgraphNode from, CUgraphNode to)
{
    struct CUgraphNode_st *source = object_find(from, OBJECT_NODE);
    struct CUgraphNode_st *target = object_find(to, OBJECT_NODE);
    if (!source || !target || source == target || source->graph != graph ||
        target->graph != graph || node_list_has(&target->dependencies, source))
        return CUDA_ERROR_INVALID_VALUE;
    return node_depend(source, target);
}

CUresult CUDAAPI cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
                                           const CUgraphNode *to, const CUgraphEdgeData *edgeData,
                                           size_t numDependencies)
{
    struct CUgraph_st *graph;
    CUresult result = enter_graph(hGraph, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if (numDependencies && (!from || !to))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (!graph_edges_are_plain(edgeData, numDependencies))
        return device_leave(device_lacks("an edge that is no full dependency"));
    for (size_t i = 0; i < numDependencies && result == CUDA_SUCCESS; i++)
        result = add_edge(graph, from[i], to[i]);
    return device_leave(result);
}

CUresult CUDAAPI cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from,
                                        const CUgraphNode *to, size_t numDependencies)
{
    return cuGraphAddDependencies_v2(hGraph, from, to, NULL, numDependencies);
}

/* "Specifying a non-existing dependency will return an error." Graphs that allocate memory keep
 * theirs: "edges and nodes cannot be deleted". */
static CUresult remove_edge(const struct CUgraph_st *graph, CUgraphNode from, CUgraphNode to)
{
    struct CUgraphNode_st *source = object_find(from, OBJECT_NODE);
    struct CUgraphNode_st *target = object_find(to, OBJECT_NODE);
    if (!source || !target || source->graph != graph || target->graph != graph ||
        !node_list_has(&target->dependencies, source))
        return CUDA_ERROR_INVALID_VALUE;
    node_list_remove(&target->dependencies, source);
    node_list_remove(&source->dependents, target);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode *from,
                                              const CUgraphNode *to,
                                              const CUgraphEdgeData *edgeData,
                                              size_t numDependencies)
{
    struct CUgraph_st *graph;
    CUresult result = enter_graph(hGraph, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    if ((numDependencies && (!from || !to)) || !graph_edges_are_plain(edgeData, numDependencies))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (numDependencies && graph_has_memory(graph))
        return device_leave(CUDA_ERROR_NOT_SUPPORTED);
    for (size_t i = 0; i < numDependencies && result == CUDA_SUCCESS; i++)
        result = remove_edge(graph, from[i], to[i]);
    return device_leave(result);
}

CUresult CUDAAPI cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode *from,
                                           const CUgraphNode *to, size_t numDependencies)
{
    return cuGraphRemoveDependencies_v2(hGraph, from, to, NULL, numDependencies);
}

CUresult CUDAAPI cuGraphDestroyNode(CUgraphNode hNode)
{
    struct CUgraphNode_st *node;
    CUresult result = enter_node(hNode, &node);
    if (result != CUDA_SUCCESS)
        return result;
    if (graph_has_memory(node->graph))
        return device_leave(CUDA_ERROR_NOT_SUPPORTED);
    if (node->graph->capturing)
        return device_leave(CUDA_ERROR_NOT_PERMITTED);
    node_destroy(node);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphDebugDotPrint(CUgraph hGraph, const char *path, unsigned int flags)
{
    struct CUgraph_st *graph;
    CUresult result = enter_graph(hGraph, &graph);
    if (result != CUDA_SUCCESS)
        return result;
    (void)flags;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    fprintf(file, "digraph dot {\n");
    for (const struct CUgraphNode_st *node = graph->first; node; node = node->next) {
        fprintf(file, "\"%p\" [label=\"type %d\"]\n", (const void *)node, (int)node->type);
        for (size_t i = 0; i < node->dependencies.count; i++)
            fprintf(file, "\"%p\" -> \"%p\"\n", (const void *)node->dependencies.nodes[i],
                    (const void *)node);
    }
    fprintf(file, "}\n");
    fclose(file);
    return device_leave(CUDA_SUCCESS);
}
