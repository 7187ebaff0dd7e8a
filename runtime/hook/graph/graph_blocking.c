/* See graph_blocking.h. */
#include "runtime/hook/graph/graph_blocking.h"
#include "csan/detector/context.h"
#include "runtime/hook/failure/blocking.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/session/session_options.h"

#include <stdlib.h>

static bool can_be_alone(const struct graph_topology_entry *entry)
{
    return entry->type == CU_GRAPH_NODE_TYPE_KERNEL || entry->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           entry->type == CU_GRAPH_NODE_TYPE_MEMSET;
}

/* Begin and end of a child graph are empty entries of its node. */
static bool is_of_child(const struct graph_topology *shape, size_t at)
{
    for (size_t i = 0; i < shape->count; i++)
        if (i != at && shape->entries[i].node == shape->entries[at].node)
            return true;
    return false;
}

bool graph_blocking_has_steps(const struct graph_topology *shape)
{
    if (!blocking_any())
        return false;
    for (size_t i = 0; i < shape->count; i++) {
        const struct graph_topology_entry *entry = &shape->entries[i];
        const bool empty = entry->type == CU_GRAPH_NODE_TYPE_EMPTY;
        if (empty ? is_of_child(shape, i) : !can_be_alone(entry))
            return false;
    }
    return !shape->partial;
}

static bool entry_waits(const struct graph_topology_entry *entry)
{
    const void *const *frames;
    size_t count;
    if (!*session_options()->blocking)
        return true;
    return entry->type == CU_GRAPH_NODE_TYPE_KERNEL && entry->work &&
           blocking_matches(
               context_site_stack(session_context(), entry->work->site, &frames, &count));
}

void graph_blocking_begin(struct graph_blocking *graph, const struct graph_topology *shape,
                          bool named)
{
    if (!blocking_any())
        return;
    for (size_t i = 0; i < shape->count; i++)
        graph->waits |= !shape->entries[i].disabled && entry_waits(&shape->entries[i]);
    if (!graph->waits || !named || !graph_blocking_has_steps(shape))
        return;
    graph->steps = calloc(shape->count + 1, sizeof *graph->steps);
    for (size_t i = 0; graph->steps && i < shape->count; i++) {
        const struct graph_topology_entry *entry = &shape->entries[i];
        if (can_be_alone(entry) && !entry->disabled)
            graph->steps[graph->count++] = (struct graph_blocking_step){
                entry->node, entry->work ? entry->work->site : 0, entry_waits(entry)};
    }
}

void graph_blocking_begin_unknown(struct graph_blocking *graph)
{
    graph->waits = blocking_any() && !*session_options()->blocking;
}

static bool set_enabled(CUgraphExec exec, CUgraphNode node, bool enabled)
{
    static void *function;
    PFN_cuGraphNodeSetEnabled_v11060 set = (PFN_cuGraphNodeSetEnabled_v11060)driver_function_cached(
        &function, "cuGraphNodeSetEnabled");
    return set && set(exec, node, enabled) == CUDA_SUCCESS;
}

/* False: the driver does not let them; all are enabled as before. */
static bool disable_all(const struct graph_blocking *graph, CUgraphExec exec)
{
    for (size_t i = 0; i < graph->count; i++)
        if (!set_enabled(exec, graph->steps[i].node, false)) {
            while (i-- > 0)
                set_enabled(exec, graph->steps[i].node, true);
            return false;
        }
    return true;
}

static CUresult launch_steps(struct graph_blocking *graph, const struct driver_entry *entry,
                             CUgraphExec exec, CUstream stream, CUresult *launched)
{
    CUresult result = CUDA_SUCCESS;
    *launched = CUDA_SUCCESS;
    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++) {
        const struct graph_blocking_step *step = &graph->steps[i];
        set_enabled(exec, step->node, true);
        result = *launched = DRIVER_REAL(entry, cuGraphLaunch_v10000)(exec, stream);
        if (result == CUDA_SUCCESS && step->waits &&
            (result = blocking_wait(stream, entry->thread_default)) != CUDA_SUCCESS)
            graph->failed = step->site;
        set_enabled(exec, step->node, false);
    }
    for (size_t i = 0; i < graph->count; i++)
        set_enabled(exec, graph->steps[i].node, true);
    return result;
}

CUresult graph_blocking_launch(struct graph_blocking *graph, const struct driver_entry *entry,
                               CUgraphExec exec, CUstream stream, CUresult *launched)
{
    if (graph->steps && graph->count > 1 && disable_all(graph, exec))
        return launch_steps(graph, entry, exec, stream, launched);
    CUresult result = *launched = DRIVER_REAL(entry, cuGraphLaunch_v10000)(exec, stream);
    if (result == CUDA_SUCCESS && graph->waits)
        result = blocking_wait(stream, entry->thread_default);
    return result;
}

void graph_blocking_end(struct graph_blocking *graph)
{
    free(graph->steps);
    graph->steps = NULL;
}
