/* Executable graphs, from their instantiation to their end, and what they are changed to. See
 * graph.h and graph_races.h; graph_launch.c has their launches. */
#include "runtime/hook/graph/graph.h"
#include "csan/detector/context.h"
#include "driver_hooks.h"
#include "runtime/hook/graph/graph_blocking.h"
#include "runtime/hook/graph/graph_code.h"
#include "runtime/hook/graph/graph_exec.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/graph/graph_races.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/callsite.h"

#include <stdlib.h>

/* Under the hooks' lock. */
static struct {
    struct graph_exec *execs;
    uint64_t serial;
    struct graph_counts counts;
} table;

void graph_count(struct graph_counts *counts)
{
    guard_lock();
    *counts = table.counts;
    guard_unlock();
}

struct graph_exec *graph_exec_find(CUgraphExec handle)
{
    struct graph_exec *exec = NULL;
    HASH_FIND_PTR(table.execs, &handle, exec);
    return exec;
}

void graph_exec_launched(void)
{
    table.counts.launches++;
}

static void exec_free(struct graph_exec *exec)
{
    graph_topology_free(&exec->shape);
    graph_steps_free(&exec->merged);
    if (exec->last)
        csan_snapshot_release(session_context(), exec->last);
    free(exec);
}

static void exec_remove(CUgraphExec handle)
{
    struct graph_exec *exec = graph_exec_find(handle);
    if (!exec)
        return;
    HASH_DEL(table.execs, exec);
    exec_free(exec);
}

static bool any_wrong(const struct graph_topology *shape)
{
    for (size_t i = 0; i < shape->count; i++)
        if (shape->entries[i].work && shape->entries[i].work->wrong)
            return true;
    return false;
}

bool graph_exec_prepare(struct graph_exec *exec)
{
    if (!exec->changed)
        return true;
    graph_steps_free(&exec->merged);
    graph_races_find(&exec->shape);
    exec->wrong = any_wrong(&exec->shape);
    exec->changed = !graph_steps_make(&exec->shape, &exec->merged);
    table.counts.unknown_kernels += exec->merged.unknown_kernels - exec->unknown_kernels;
    exec->unknown_kernels = exec->merged.unknown_kernels;
    return !exec->changed;
}

/* ---- Instantiating and updating ----------------------------------------------------------------
 */

static bool read_shape(CUgraph graph, struct graph_topology *shape)
{
    struct callsite_stack stack;
    callsite_capture(&stack);
    bool read = graph_topology_read(graph, shape);
    if (read)
        graph_topology_equip(shape, &stack);
    return read;
}

/* Its nodes are compared with one another, now. The shape is taken. */
static void graph_instantiated(CUgraphExec handle, CUgraph graph, struct graph_topology *shape,
                               bool read)
{
    struct graph_exec *exec = read ? calloc(1, sizeof *exec) : NULL;
    guard_lock();
    exec_remove(handle); /* one whose end was not seen */
    if (exec) {
        exec->handle = handle;
        exec->graph = graph;
        exec->serial = ++table.serial;
        exec->shape = *shape;
        exec->changed = true;
        HASH_ADD_PTR(table.execs, handle, exec);
        graph_exec_prepare(exec);
        table.counts.graphs++;
        table.counts.nodes += exec->merged.nodes;
    } else {
        table.counts.unread++;
    }
    guard_unlock();
    if (!exec)
        graph_topology_free(shape);
}

static bool same_work(const struct graph_topology *a, const struct graph_topology *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (a->entries[i].disabled != b->entries[i].disabled ||
            a->entries[i].event != b->entries[i].event ||
            a->entries[i].code.function != b->entries[i].code.function ||
            !graph_node_work_equal(a->entries[i].work, b->entries[i].work))
            return false;
    return true;
}

/* The driver updated it, so both have one topology. The program goes on using the first names. */
static void replace_shape(struct graph_exec *exec, struct graph_topology *shape)
{
    for (size_t i = 0; i < shape->count && i < exec->shape.count; i++) {
        shape->entries[i].node = exec->shape.entries[i].node;
        shape->entries[i].disabled = exec->shape.entries[i].disabled;
    }
    if (shape->count == exec->shape.count && same_work(shape, &exec->shape)) {
        graph_topology_free(shape);
        return;
    }
    graph_steps_free(&exec->merged);
    graph_topology_free(&exec->shape);
    exec->shape = *shape;
    exec->learning = (struct graph_learning){0};
    exec->changed = true;
    graph_exec_prepare(exec);
}

static void graph_updated(CUgraphExec handle, struct graph_topology *shape, bool read)
{
    guard_lock();
    struct graph_exec *exec = graph_exec_find(handle);
    if (exec && read)
        replace_shape(exec, shape);
    else
        graph_topology_free(shape);
    if (exec && !read) { /* what it does now is not known */
        exec_remove(handle);
        table.counts.unread++;
    }
    guard_unlock();
}

/* ---- Changing single nodes --------------------------------------------------------------------
 */

static struct graph_topology_entry *entry_find(CUgraphExec handle, CUgraphNode named)
{
    struct graph_exec *exec = graph_exec_find(handle);
    for (size_t i = 0; exec && i < exec->shape.count; i++)
        if (exec->shape.entries[i].node == named &&
            exec->shape.entries[i].type != CU_GRAPH_NODE_TYPE_EMPTY) {
            exec->changed = true;
            return &exec->shape.entries[i];
        }
    return NULL;
}

void graph_node_changed(CUgraphExec handle, CUgraphNode named, struct graph_node_work *work,
                        struct trace_code code)
{
    guard_lock();
    struct graph_topology_entry *entry = entry_find(handle, named);
    if (entry) {
        /* The merged set of now points into the old work: it is not used any more. */
        graph_steps_free(&graph_exec_find(handle)->merged);
        graph_node_work_release(entry->work);
        entry->work = graph_node_work_retain(work);
        if (entry->conditional)
            entry->work = graph_node_work_maybe(entry->work);
        entry->code = code;
        graph_learning_changed(&graph_exec_find(handle)->learning);
    }
    guard_unlock();
    graph_node_work_release(work);
}

void graph_event_changed(CUgraphExec handle, CUgraphNode named, CUevent event)
{
    guard_lock();
    struct graph_topology_entry *entry = entry_find(handle, named);
    if (entry)
        entry->event = event;
    guard_unlock();
}

void graph_node_enabled(CUgraphExec handle, CUgraphNode named, bool enabled)
{
    guard_lock();
    struct graph_topology_entry *entry = entry_find(handle, named);
    if (entry) {
        entry->disabled = !enabled;
        graph_exec_find(handle)->learning.closed = 0; /* it may be open, and is looked at again */
    }
    guard_unlock();
}

/* Begin and end of a child graph are two empty entries of its node, with its nodes between them. */
static void child_replace(struct graph_exec *exec, CUgraphNode named,
                          const struct graph_topology *child)
{
    size_t begin = 0;
    while (begin < exec->shape.count && exec->shape.entries[begin].node != named)
        begin++;
    if (begin + child->count + 1 >= exec->shape.count)
        return;
    graph_steps_free(&exec->merged);
    exec->changed = true;
    graph_learning_changed(&exec->learning);
    for (size_t i = 0; i < child->count; i++) {
        struct graph_topology_entry *entry = &exec->shape.entries[begin + 1 + i];
        graph_node_work_release(entry->work);
        entry->work = graph_node_work_retain(child->entries[i].work);
        entry->event = child->entries[i].event;
        entry->code = child->entries[i].code;
    }
}

void graph_child_changed(CUgraphExec handle, CUgraphNode named, CUgraph child)
{
    struct graph_topology shape;
    bool read = read_shape(child, &shape);
    guard_lock();
    struct graph_exec *exec = graph_exec_find(handle);
    if (exec && read)
        child_replace(exec, named, &shape);
    guard_unlock();
    graph_topology_free(&shape);
}

/* ---- Life --------------------------------------------------------------------------------------
 */

/* The body of a hook that makes an exec of a graph. What the graph is, which the call does not
 * change, is read before; `note` takes it. */
#define MAKE_OF_GRAPH(graph, call, note)                                                           \
    struct graph_topology shape;                                                                   \
    const bool read = read_shape(graph, &shape);                                                   \
    struct graph_code code = graph_code_begin(read ? &shape : NULL);                               \
    CUresult result = call;                                                                        \
    graph_code_end(&code, result);                                                                 \
    if (result == CUDA_SUCCESS)                                                                    \
        note;                                                                                      \
    else                                                                                           \
        graph_topology_free(&shape);                                                               \
    return result

CUresult hook_graph_instantiate(const struct driver_entry *entry, CUgraphExec *phGraphExec,
                                CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                                size_t bufferSize)
{
    MAKE_OF_GRAPH(hGraph,
                  DRIVER_REAL(entry, cuGraphInstantiate_v10000)(phGraphExec, hGraph, phErrorNode,
                                                                logBuffer, bufferSize),
                  graph_instantiated(*phGraphExec, hGraph, &shape, read));
}

CUresult hook_graph_instantiate_with_flags(const struct driver_entry *entry,
                                           CUgraphExec *phGraphExec, CUgraph hGraph,
                                           unsigned long long flags)
{
    MAKE_OF_GRAPH(
        hGraph, DRIVER_REAL(entry, cuGraphInstantiateWithFlags_v11040)(phGraphExec, hGraph, flags),
        graph_instantiated(*phGraphExec, hGraph, &shape, read));
}

CUresult hook_graph_instantiate_with_params(const struct driver_entry *entry,
                                            CUgraphExec *phGraphExec, CUgraph hGraph,
                                            CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    MAKE_OF_GRAPH(hGraph,
                  DRIVER_REAL(entry, cuGraphInstantiateWithParams_v12000)(phGraphExec, hGraph,
                                                                          instantiateParams),
                  graph_instantiated(*phGraphExec, hGraph, &shape, read));
}

CUresult hook_graph_exec_update_v1(const struct driver_entry *entry, CUgraphExec hGraphExec,
                                   CUgraph hGraph, CUgraphNode *hErrorNode_out,
                                   CUgraphExecUpdateResult *updateResult_out)
{
    MAKE_OF_GRAPH(hGraph,
                  DRIVER_REAL(entry, cuGraphExecUpdate_v10020)(hGraphExec, hGraph, hErrorNode_out,
                                                               updateResult_out),
                  graph_updated(hGraphExec, &shape, read));
}

CUresult hook_graph_exec_update(const struct driver_entry *entry, CUgraphExec hGraphExec,
                                CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    MAKE_OF_GRAPH(hGraph,
                  DRIVER_REAL(entry, cuGraphExecUpdate_v12000)(hGraphExec, hGraph, resultInfo),
                  graph_updated(hGraphExec, &shape, read));
}

bool graph_destroyed(CUgraph graph)
{
    struct graph_exec *exec = NULL, *next = NULL;
    bool kept = false;
    guard_lock();
    HASH_ITER(hh, table.execs, exec, next)
    {
        if (exec->graph != graph)
            continue;
        if (!graph_blocking_has_steps(&exec->shape))
            exec->graph = NULL;
        else if (!kept)
            exec->keeps = kept = true;
    }
    guard_unlock();
    return kept;
}

void graph_node_destroyed(CUgraphNode node)
{
    struct graph_exec *exec = NULL, *next = NULL;
    guard_lock();
    HASH_ITER(hh, table.execs, exec, next)
    {
        for (size_t i = 0; exec->graph && i < exec->shape.count; i++)
            if (exec->shape.entries[i].node == node)
                exec->graph = NULL;
    }
    guard_unlock();
}

/* The graph that goes with an exec that is gone; NULL: none, or another exec needs it, too. With
 * the hooks' lock. */
static CUgraph kept_graph(const struct graph_exec *gone)
{
    struct graph_exec *exec = NULL, *next = NULL;
    if (!gone->keeps)
        return NULL;
    HASH_ITER(hh, table.execs, exec, next)
    {
        if (exec->graph == gone->graph) {
            exec->keeps = true;
            return NULL;
        }
    }
    return gone->graph;
}

static void destroy_kept(CUgraph graph)
{
    static void *function;
    PFN_cuGraphDestroy_v10000 destroy =
        (PFN_cuGraphDestroy_v10000)driver_function_cached(&function, "cuGraphDestroy");
    if (graph && destroy)
        destroy(graph);
}

/* The handle may be used again as soon as it is free: what is known of it goes before, and comes
 * back when the call failed. */
CUresult hook_graph_exec_destroy(const struct driver_entry *entry, CUgraphExec hGraphExec)
{
    guard_lock();
    struct graph_exec *exec = graph_exec_find(hGraphExec);
    if (exec)
        HASH_DEL(table.execs, exec);
    guard_unlock();
    CUresult result = DRIVER_REAL(entry, cuGraphExecDestroy_v10000)(hGraphExec);
    guard_lock();
    CUgraph kept = exec && result == CUDA_SUCCESS ? kept_graph(exec) : NULL;
    if (exec && result != CUDA_SUCCESS)
        HASH_ADD_PTR(table.execs, handle, exec);
    else if (exec)
        exec_free(exec);
    guard_unlock();
    destroy_kept(kept);
    return result;
}
