/* Launches of executable graphs. See graph.h, graph_exec.h and graph_steps.h.
 *
 * A launch is enqueued after it succeeded: it joins the exec's last launch, whatever stream that
 * was in ("each launch is ordered behind both previous work in hStream and any previous launches of
 * hGraphExec", CUDA Driver API, cuGraphLaunch), then its steps. A launch into a captured stream the
 * driver refuses; if a driver accepts it, csan ignores it. */
#include "csan/detector/context.h"
#include "driver_hooks.h"
#include "runtime/hook/failure/dump.h"
#include "runtime/hook/failure/launch_ring.h"
#include "runtime/hook/failure/unverified.h"
#include "runtime/hook/failure/wrong_pointer.h"
#include "runtime/hook/graph/graph.h"
#include "runtime/hook/graph/graph_blocking.h"
#include "runtime/hook/graph/graph_calls.h"
#include "runtime/hook/graph/graph_exec.h"
#include "runtime/hook/graph/graph_learn.h"
#include "runtime/hook/graph/graph_node_accesses.h"
#include "runtime/hook/graph/graph_sites.h"
#include "runtime/hook/observe/trace_source.h"
#include "runtime/hook/session/session.h"
#include "runtime/hook/state/callsite.h"
#include "runtime/hook/state/event_table.h"
#include "runtime/hook/state/host_function.h"
#include "runtime/hook/state/known_contents.h"
#include "runtime/hook/state/stream.h"
#include "runtime/hook/state/stream_memop.h"
#include "runtime/hook/state/thread.h"

#include <stdio.h>
#include <stdlib.h>

void (*graph_on_node)(const void *node);

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
static struct graph_wants exec_learn(struct graph_exec *exec, CUstream stream, bool thread_default)
{
    if (!exec->merged.learning || context_ignores())
        return (struct graph_wants){NULL};
    struct graph_learned learned =
        graph_learn(&exec->shape, &exec->learning, stream, thread_default);
    exec->changed = learned.changed;
    graph_exec_prepare(exec);
    return learned.wants;
}

/* As the stream's lane has it. */
static uint64_t lane_handle_of(CUstream stream, bool thread_default)
{
    const struct stream *known = stream_lock_known(stream, thread_default);
    const CUstream handle = known ? stream_handle(known) : stream;
    if (known)
        guard_unlock();
    return (uintptr_t)handle;
}

/* Before the call. */
static void launch_begin(struct launch *launch, const struct driver_entry *entry,
                         CUgraphExec handle, CUstream stream)
{
    callsite_capture(&launch->stack);
    launch->site = callsite_intern(&launch->stack, entry->name, NULL, 0);
    const uint64_t lane_handle = lane_handle_of(stream, entry->thread_default);
    guard_lock();
    struct graph_exec *exec = graph_exec_find(handle);
    if (exec)
        graph_blocking_begin(&launch->blocking, &exec->shape, exec->graph != NULL);
    else
        graph_blocking_begin_unknown(&launch->blocking);
    if (exec && !launch->blocking.steps && graph_exec_prepare(exec))
        launch->wants = exec_learn(exec, stream, entry->thread_default);
    if (exec && graph_exec_prepare(exec)) {
        launch->known = true;
        launch->count = exec->merged.count;
        launch->calls = calloc(launch->count + 1, sizeof *launch->calls);
        for (size_t s = 0; launch->calls && s < launch->count; s++) {
            const struct graph_step *step = &exec->merged.steps[s];
            if (step->kind != GRAPH_STEP_HOST || !step->host)
                continue;
            launch->calls[s].node = step->host;
            launch->calls[s].call = host_node_begin(step->host, launch->site, lane_handle);
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

/* The site of a node in this launch: its stack is that of the call which launches the graph. csan
 * explore names the node by its own name and stack. */
static csan_site logged_site(const struct graph_exec *exec, csan_site node)
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
static void enqueue_each(const struct graph_exec *exec, size_t number, csan_lane lane)
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

/* The step's ops have entered. */
static void note_launched(const struct graph_steps *merged, const struct graph_step *step,
                          csan_lane lane)
{
    for (size_t i = 0; i < step->op_count; i++)
        launch_ring_note(&(struct launch_ring_entry){
            .site = graph_sites_op(merged, step, i), .lane = lane, .progress = merged->progress});
    if (dump_wants(lane))
        unverified_launched(lane);
}

static void enqueue_merged(const struct graph_steps *merged, const struct graph_step *step,
                           csan_lane lane)
{
    for (size_t i = 0; i < step->op_count; i++)
        csan_op(session_context(), lane, graph_sites_op(merged, step, i), step->ops[i].level,
                step->ops[i].accesses, step->ops[i].count);
    note_launched(merged, step, lane);
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

static void enqueue_nodes(const struct graph_exec *exec, size_t number, csan_lane lane)
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

/* What the step's ops read, or all else that they do. */
static void enqueue_half(const struct graph_steps *merged, const struct graph_step *step,
                         csan_lane lane, bool reads)
{
    for (size_t i = 0; i < step->op_count; i++) {
        const struct graph_step_op *op = &step->ops[i];
        struct csan_access *half = malloc((op->count + 1) * sizeof *half);
        size_t count = 0;
        for (size_t k = 0; half && k < op->count; k++)
            if ((op->accesses[k].kind == CSAN_READ) == reads)
                half[count++] = op->accesses[k];
        if (count)
            csan_op(session_context(), lane, graph_sites_op(merged, step, i), op->level, half,
                    count);
        free(half);
    }
}

/* What others get was read before they have it, and what is written comes behind what they gave. */
static void enqueue_links(const struct graph_exec *exec, size_t number, csan_lane lane)
{
    const struct graph_step *step = &exec->merged.steps[number];
    if (!graph_on_calls || graph_on_node) {
        enqueue_nodes(exec, number, lane);
        return;
    }
    note_overwritten(step);
    enqueue_half(&exec->merged, step, lane, true);
    graph_on_calls(lane, step->calls);
    enqueue_half(&exec->merged, step, lane, false);
    note_launched(&exec->merged, step, lane);
}

static void enqueue_memops(const struct graph_exec *exec, const struct graph_step *step,
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

static void enqueue_step(const struct graph_exec *exec, size_t number, const struct stream *stream,
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
    else if (step->kind == GRAPH_STEP_LINKS)
        enqueue_links(exec, number, lane);
}

/* Each step is a lane between what the stream holds and what comes next in it. */
static void enqueue_steps(const struct graph_exec *exec, const struct stream *stream,
                          CUstream handle, const struct launch *launch)
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
static void enqueue_launch(struct graph_exec *exec, struct stream *stream, CUstream handle,
                           struct launch *launch)
{
    csan_context *detector = session_context();
    struct graph_steps *merged = &exec->merged;
    csan_lane lane = stream_lane(stream);
    graph_sites_launch(merged, launch->site, &launch->stack);
    stream_use(stream);
    if (exec->shape.partial || merged->unknown_kernels)
        context_doubt(detector);
    if (merged->unlinked && graph_on_calls)
        graph_on_calls(lane, NULL);
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
    graph_exec_launched();
    free(launch->calls);
}

/* The node that failed is the newest of the graph's, whatever the order of their ops. */
static void note_failed(const struct graph_exec *exec, const struct stream *stream, csan_site node)
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
static struct suspects suspects_of(struct graph_exec *exec, csan_lane lane)
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
    struct graph_exec *exec = launch->known ? graph_exec_find(handle) : NULL;
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
    const struct graph_exec *exec = graph_exec_find(handle);
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
