/* Executable graphs and their launches. See graph.h, graph_steps.h and graph_races.h.
 *
 * A launch is enqueued after it succeeded: it joins the exec's last launch, whatever stream that
 * was in ("each launch is ordered behind both previous work in hStream and any previous launches of
 * hGraphExec", CUDA Driver API, cuGraphLaunch), then its steps. A launch into a captured stream the
 * driver refuses; if a driver accepts it, csan ignores it. */
#include "runtime/hook/graph/graph.h"
#include "csan/detector/context.h"
#include "driver_hooks.h"
#include "runtime/hook/graph/graph_blocking.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/state/event_table.h"
#include "runtime/hook/graph/graph_races.h"
#include "runtime/hook/graph/graph_code.h"
#include "runtime/hook/graph/graph_learn.h"
#include "runtime/hook/graph/graph_sites.h"
#include "runtime/hook/failure/dump.h"
#include "runtime/hook/failure/unverified.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/failure/launch_ring.h"
#include "runtime/hook/failure/wrong_pointer.h"
#include "runtime/hook/state/handle_table.h"
#include "runtime/hook/state/host_function.h"
#include "runtime/hook/graph/graph_steps.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/stream_memop.h"
#include "runtime/hook/state/thread.h"
#include "runtime/hook/observe/trace_source.h"
#include "runtime/hook/session/session.h"

#include <stdio.h>
#include <stdlib.h>

void (*graph_on_node)(const void *node);

struct exec {
    CUgraphExec handle;
    CUgraph graph; /* of which it was made, while that is there; else NULL */
    bool keeps;    /* the program has destroyed that; it goes with this one (blocking.h) */
    struct graph_topology shape; /* entries bear the names of the nodes it was instantiated from */
    struct graph_steps merged;   /* of the shape, unless that changed since */
    bool changed;
    bool wrong;               /* pointers of its nodes may be, and nobody has looked yet */
    uint64_t unknown_kernels; /* that were counted of it */
    csan_snapshot *last;      /* the end of its newest launch */
    uint64_t serial; /* distinguishes it from others with the same handle before and after it */
    struct graph_learning learning;
    UT_hash_handle hh;
};

/* Under the hooks' lock. */
static struct {
    struct exec *execs;
    uint64_t serial;
    struct graph_counts counts;
} table;

void graph_count(struct graph_counts *counts)
{
    guard_lock();
    *counts = table.counts;
    guard_unlock();
}

static struct exec *exec_find(CUgraphExec handle)
{
    struct exec *exec = NULL;
    HASH_FIND_PTR(table.execs, &handle, exec);
    return exec;
}

static void exec_free(struct exec *exec)
{
    graph_topology_free(&exec->shape);
    graph_steps_free(&exec->merged);
    if (exec->last)
        csan_snapshot_release(session_context(), exec->last);
    free(exec);
}

static void exec_remove(CUgraphExec handle)
{
    struct exec *exec = exec_find(handle);
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

/* Check the shape and graph_steps_make it, when that is due. */
static bool exec_prepare(struct exec *exec)
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
    struct exec *exec = read ? calloc(1, sizeof *exec) : NULL;
    guard_lock();
    exec_remove(handle); /* one whose end was not seen */
    if (exec) {
        exec->handle = handle;
        exec->graph = graph;
        exec->serial = ++table.serial;
        exec->shape = *shape;
        exec->changed = true;
        HASH_ADD_PTR(table.execs, handle, exec);
        exec_prepare(exec);
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
static void replace_shape(struct exec *exec, struct graph_topology *shape)
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
    exec_prepare(exec);
}

static void graph_updated(CUgraphExec handle, struct graph_topology *shape, bool read)
{
    guard_lock();
    struct exec *exec = exec_find(handle);
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
    struct exec *exec = exec_find(handle);
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
        graph_steps_free(&exec_find(handle)->merged);
        graph_node_work_release(entry->work);
        entry->work = graph_node_work_retain(work);
        if (entry->conditional)
            entry->work = graph_node_work_maybe(entry->work);
        entry->code = code;
        graph_learning_changed(&exec_find(handle)->learning);
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
        exec_find(handle)->learning.closed = 0; /* it may be open, and is looked at again */
    }
    guard_unlock();
}

/* Begin and end of a child graph are two empty entries of its node, with its nodes between them. */
static void child_replace(struct exec *exec, CUgraphNode named, const struct graph_topology *child)
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
    struct exec *exec = exec_find(handle);
    if (exec && read)
        child_replace(exec, named, &shape);
    guard_unlock();
    graph_topology_free(&shape);
}

/* ---- Launching ---------------------------------------------------------------------------------
 */

/* A launch on its way: the calls of its host functions, by step. Should another thread change the
 * exec meanwhile, which the driver forbids, the steps are others, and nothing is enqueued. */
struct launch {
    struct launch_call {
        struct host_node *node;
        struct host_call *call;
    } * calls;
    size_t count;
    bool known;
    struct graph_wants wants;
    struct graph_blocking blocking;
    struct progress progress;
    csan_site site; /* of the call */
    struct callsite_stack stack;
};

/* Newly known accesses of its nodes are used from now on, and checked. */
static struct graph_wants exec_learn(struct exec *exec, CUstream stream, bool thread_default)
{
    if (!exec->merged.learning || context_ignores())
        return (struct graph_wants){NULL};
    struct graph_learned learned =
        graph_learn(&exec->shape, &exec->learning, stream, thread_default);
    exec->changed = learned.changed;
    exec_prepare(exec);
    return learned.wants;
}

/* Before the call. */
static void launch_begin(struct launch *launch, const struct driver_entry *entry,
                         CUgraphExec handle, CUstream stream)
{
    callsite_capture(&launch->stack);
    launch->site = callsite_intern(&launch->stack, entry->name, NULL, 0);
    guard_lock();
    struct exec *exec = exec_find(handle);
    if (exec)
        graph_blocking_begin(&launch->blocking, &exec->shape, exec->graph != NULL);
    else
        graph_blocking_begin_unknown(&launch->blocking);
    if (exec && !launch->blocking.steps && exec_prepare(exec))
        launch->wants = exec_learn(exec, stream, entry->thread_default);
    if (exec && exec_prepare(exec)) {
        launch->known = true;
        launch->count = exec->merged.count;
        launch->calls = calloc(launch->count + 1, sizeof *launch->calls);
        for (size_t s = 0; launch->calls && s < launch->count; s++) {
            const struct graph_step *step = &exec->merged.steps[s];
            if (step->kind != GRAPH_STEP_HOST || !step->host)
                continue;
            launch->calls[s].node = step->host;
            launch->calls[s].call = host_node_begin(step->host, launch->site);
        }
    }
    guard_unlock();
}

/* There is no launch, or it cannot be enqueued. */
static void launch_failed(struct launch *launch)
{
    for (size_t s = 0; launch->calls && s < launch->count; s++)
        if (launch->calls[s].call)
            host_node_failed(launch->calls[s].node, launch->calls[s].call);
    free(launch->calls);
}

/* A node's site as launched by the call of now; for csan explore it goes by the node's name and
 * stack. */
static csan_site logged_site(const struct exec *exec, csan_site node)
{
    const void *const *frames;
    size_t count;
    csan_site site = node;
    if (exec->merged.launch) {
        context_site_stack(session_context(), exec->merged.launch, &frames, &count);
        site = csan_site_launched(session_context(), node, frames, count);
    }
    const char *name = context_site_stack(session_context(), node, &frames, &count);
    if (name && site != node && callsite_on_site)
        callsite_on_site(site, name, frames, count);
    return site;
}

/* One by one, for csan explore: it compares when each ran. */
static void enqueue_each(const struct exec *exec, size_t number, csan_lane lane)
{
    for (size_t i = 0; i < exec->shape.count; i++) {
        const struct graph_topology_entry *entry = &exec->shape.entries[i];
        if (exec->merged.step_of[i] != number || !entry->work ||
            entry->work->kind != GRAPH_NODE_OP || entry->disabled)
            continue;
        graph_on_node(entry->node);
        csan_op(session_context(), lane, logged_site(exec, entry->work->site), entry->work->level,
                entry->work->accesses, entry->work->count);
    }
    graph_on_node(NULL);
}

static void enqueue_merged(const struct graph_steps *merged, const struct graph_step *step,
                           csan_lane lane)
{
    for (size_t i = 0; i < step->op_count; i++) {
        const csan_site site = graph_sites_op(merged, step, i);
        csan_op(session_context(), lane, site, step->ops[i].level, step->ops[i].accesses,
                step->ops[i].count);
        launch_ring_note(
            &(struct launch_ring_entry){.site = site, .lane = lane, .progress = merged->progress});
    }
    if (dump_wants(lane))
        unverified_launched(lane);
}

/* Words that copies and sets of the step write have another value then. */
static void note_overwritten(const struct graph_step *step)
{
    for (size_t i = 0; stream_memop_any() && i < step->op_count; i++)
        for (size_t k = 0; k < step->ops[i].count; k++) {
            const struct csan_access *access = &step->ops[i].accesses[k];
            uint64_t reach = access->bytes;
            for (uint8_t d = 0; d < access->dim_count; d++)
                reach += (access->dims[d].count - 1) * (uint64_t)access->dims[d].stride;
            if (access->kind == CSAN_WRITE && step->ops[i].level == CSAN_LEVEL_LIBRARY)
                stream_memop_overwritten(access->base, reach);
        }
}

static void enqueue_nodes(const struct exec *exec, size_t number, csan_lane lane)
{
    csan_context *detector = session_context();
    const struct graph_steps *merged = &exec->merged;
    const struct graph_step *step = &merged->steps[number];
    note_overwritten(step);
    for (size_t i = 0; i < step->birth_count; i++)
        csan_memory_create(detector, CSAN_MEMORY_STREAM, step->births[i]->base,
                           step->births[i]->bytes, lane, graph_sites_birth(merged, step, i));
    if (graph_on_node)
        enqueue_each(exec, number, lane);
    else
        enqueue_merged(merged, step, lane);
    for (size_t i = 0; i < step->death_count; i++)
        csan_memory_free_end(detector,
                             csan_memory_free_begin(detector, step->deaths[i]->base, lane, 1,
                                                    graph_sites_death(merged, step, i)),
                             0, 0);
}

static void enqueue_memops(const struct exec *exec, const struct graph_step *step,
                           const struct stream *stream, csan_lane lane)
{
    const csan_site site = graph_on_node ? logged_site(exec, step->memops->site)
                                         : graph_sites_op(&exec->merged, step, 0);
    if (graph_on_node)
        graph_on_node(step->node);
    for (size_t i = 0; i < step->memops->memop_count; i++) {
        const struct memop *memop = &step->memops->memops[i];
        if (step->part == GRAPH_STEP_ALL || memop->is_wait == (step->part == GRAPH_STEP_WAITS))
            stream_memop_enqueue(stream, lane, site, memop, 1);
    }
    if (graph_on_node)
        graph_on_node(NULL);
}

static void enqueue_step(const struct exec *exec, size_t number, const struct stream *stream,
                         csan_lane lane, struct host_call *call)
{
    const struct graph_step *step = &exec->merged.steps[number];
    if (step->kind == GRAPH_STEP_NODES)
        enqueue_nodes(exec, number, lane);
    else if (step->kind == GRAPH_STEP_RECORD && step->event)
        event_record(step->event, lane, exec->merged.launch);
    else if (step->kind == GRAPH_STEP_WAIT && step->event)
        event_waited(step->event, lane, exec->merged.launch, event_wait_begins());
    else if (step->kind == GRAPH_STEP_HOST && call)
        host_node_is_enqueued(call, lane);
    else if (step->kind == GRAPH_STEP_MEMOPS && step->memops)
        enqueue_memops(exec, step, stream, lane);
}

/* Each step is a lane between what the stream holds and what comes next in it. */
static void enqueue_steps(const struct exec *exec, const struct stream *stream, CUstream handle,
                          const struct launch *launch)
{
    const struct graph_steps *merged = &exec->merged;
    const csan_lane lane = stream_lane(stream);
    csan_context *detector = session_context();
    csan_lane *lanes = calloc(merged->count + 1, sizeof *lanes);
    char label[64];
    snprintf(label, sizeof label, "stream %llu", (unsigned long long)(uintptr_t)handle);
    for (size_t s = 0; lanes && s < merged->count; s++) {
        const struct graph_step *step = &merged->steps[s];
        lanes[s] = thread_makes_lane((uintptr_t)handle, label);
        csan_lane_part_of(detector, lanes[s], lane);
        csan_lane_waits(detector, lanes[s], lane);
        for (size_t k = 0; k < step->after_count; k++)
            csan_lane_waits(detector, lanes[s], lanes[step->after[k]]);
        enqueue_step(exec, s, stream, lanes[s], launch->calls ? launch->calls[s].call : NULL);
    }
    for (size_t s = 0; lanes && s < merged->count; s++) {
        csan_lane_waits(detector, lane, lanes[s]);
        csan_lane_destroy(detector, lanes[s]);
    }
    free(lanes);
}

/* What the graph may write is no longer known content. */
static void forget_written(const struct graph_steps *merged)
{
    if (known_contents_any() && merged->nodes)
        known_contents_forget_all();
}

/* With the stream's lock. */
static void enqueue_launch(struct exec *exec, struct stream *stream, CUstream handle,
                           struct launch *launch)
{
    csan_context *detector = session_context();
    struct graph_steps *merged = &exec->merged;
    csan_lane lane = stream_lane(stream);
    graph_sites_launch(merged, launch->site, &launch->stack);
    stream_use(stream);
    if (exec->shape.partial || merged->unknown_kernels)
        context_doubt(detector);
    csan_step(detector, lane, CSAN_STEP_GRAPH_LAUNCH, exec->serial, merged->identity, launch->site);
    if (exec->last) {
        csan_snapshot_join(detector, lane, exec->last);
        csan_snapshot_release(detector, exec->last);
    }
    if (merged->count == 1 && merged->steps[0].kind == GRAPH_STEP_NODES)
        enqueue_nodes(exec, 0, lane);
    else
        enqueue_steps(exec, stream, handle, launch);
    csan_step(detector, lane, CSAN_STEP_GRAPH_LAUNCHED, exec->serial, 0, launch->site);
    exec->last = csan_snapshot_take(detector, lane);
    table.counts.launches++;
    free(launch->calls);
}

/* The node that failed is the newest of the graph's, whatever the order of their ops. */
static void note_failed(const struct exec *exec, const struct stream *stream, csan_site node)
{
    if (node)
        launch_ring_note(&(struct launch_ring_entry){
            .site = logged_site(exec, node), .lane = stream_lane(stream), .failed = true});
}

/* Nodes whose pointers may be wrong, and that are launched. */
struct suspects {
    struct graph_node_work **works; /* retained */
    size_t count;
    csan_lane lane;
};

/* Once after the graph was made or changed: a place in the program is asked about once. */
static struct suspects suspects_of(struct exec *exec, csan_lane lane)
{
    struct suspects found = {.lane = lane};
    if (!exec->wrong)
        return found;
    exec->wrong = false;
    found.works = calloc(exec->shape.count, sizeof *found.works);
    for (size_t i = 0; found.works && i < exec->shape.count; i++) {
        const struct graph_topology_entry *entry = &exec->shape.entries[i];
        if (entry->work && entry->work->wrong && !entry->disabled)
            found.works[found.count++] = graph_node_work_retain(entry->work);
    }
    return found;
}

/* Without any lock. */
static void suspects_report(struct suspects *found)
{
    for (size_t i = 0; i < found->count; i++) {
        wrong_pointers_node_launched(found->works[i]->wrong, found->lane);
        graph_node_work_release(found->works[i]);
    }
    free(found->works);
}

static void launch_end(const struct driver_entry *entry, CUgraphExec handle, CUstream hStream,
                       struct launch *launch, CUresult result)
{
    bool captured = result == CUDA_SUCCESS && stream_is_capturing(hStream, entry->thread_default);
    struct stream *stream = NULL;
    if (result == CUDA_SUCCESS && !captured)
        stream = stream_lock(hStream, entry->thread_default);
    if (!stream)
        guard_lock();
    struct exec *exec = launch->known ? exec_find(handle) : NULL;
    struct suspects suspects = {NULL};
    if (!stream || !exec || exec->changed || exec->merged.count != launch->count) {
        launch_failed(launch);
        context_doubt(session_context());
    } else {
        forget_written(&exec->merged);
        exec->merged.progress = launch->progress;
        enqueue_launch(exec, stream, hStream, launch);
        note_failed(exec, stream, launch->blocking.failed);
        suspects = suspects_of(exec, stream_lane(stream));
    }
    if (!launch->known && result == CUDA_SUCCESS && !captured)
        known_contents_forget_all();
    guard_unlock();
    suspects_report(&suspects);
}

CUresult hook_graph_launch(const struct driver_entry *entry, CUgraphExec hGraphExec,
                           CUstream hStream)
{
    bool captured = stream_is_capturing(hStream, entry->thread_default);
    struct launch launch = {0};
    if (!captured)
        launch_begin(&launch, entry, hGraphExec, hStream);
    graph_learn_begin(&launch.wants);
    trace_source_launch_begins();
    CUresult launched;
    const CUresult result =
        graph_blocking_launch(&launch.blocking, entry, hGraphExec, hStream, &launched);
    trace_source_launch_ends();
    if (launched == CUDA_SUCCESS && !captured)
        launch.progress = progress_write(hStream, entry->thread_default);
    graph_learn_end(&launch.wants, launched);
    launch_end(entry, hGraphExec, hStream, &launch, launched);
    graph_blocking_end(&launch.blocking);
    return result;
}

/* "Each upload is ordered behind both any previous work in hStream and any previous launches of
 * hGraphExec" (cuGraphUpload). Later launches are promised nothing. */
static void enqueue_upload(const struct driver_entry *entry, CUgraphExec handle, CUstream hStream)
{
    struct stream *stream = stream_lock(hStream, entry->thread_default);
    if (!stream)
        return;
    const struct exec *exec = exec_find(handle);
    stream_use(stream);
    if (exec && exec->last)
        csan_snapshot_join(session_context(), stream_lane(stream), exec->last);
    guard_unlock();
}

CUresult hook_graph_upload(const struct driver_entry *entry, CUgraphExec hGraphExec,
                           CUstream hStream)
{
    CUresult result = DRIVER_REAL(entry, cuGraphUpload_v11010)(hGraphExec, hStream);
    if (result == CUDA_SUCCESS)
        enqueue_upload(entry, hGraphExec, hStream);
    return result;
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
    struct exec *exec = NULL, *next = NULL;
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
    struct exec *exec = NULL, *next = NULL;
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
static CUgraph kept_graph(const struct exec *gone)
{
    struct exec *exec = NULL, *next = NULL;
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
    struct exec *exec = exec_find(hGraphExec);
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
