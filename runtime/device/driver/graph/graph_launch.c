/* Launches of executable graphs. See graph.h for how one runs.
 *
 * "A graph can be launched again before an earlier launch has completed; each launch is ordered
 * after the one before" (cuGraphLaunch): the first item of a launch waits for the end of the exec's
 * last one, whatever stream that was in. Different execs of one graph may overlap. */
#include "runtime/device/driver/graph/graph_conditional.h"
#include "csan/base/array.h"

#include <stdlib.h>

/* The thread's newest launch, for device_schedule_node: items as they were appended. */
static _Thread_local struct {
    struct launched {
        const void *node;
        uint64_t item;
    } * nodes;
    size_t count;
} newest;

/* What a launch puts into queues, all at once. */
struct batch {
    struct {
        struct CUstream_st *stream;
        struct item *item;
    } * entries;
    size_t count, capacity;
    bool failed;
};

/* Takes `item`, which is NULL when memory was short. */
static void batch_add(struct batch *batch, struct CUstream_st *stream, struct item *item)
{
    if (item && !array_room(&batch->entries, batch->count, &batch->capacity, 64, SIZE_MAX,
                            sizeof *batch->entries)) {
        queue_drop(item);
        item = NULL;
    }
    if (!item) {
        batch->failed = true;
        return;
    }
    batch->entries[batch->count].stream = stream;
    batch->entries[batch->count++].item = item;
}

/* An item that waits for a mark; NULL: for nothing. */
static void batch_wait(struct batch *batch, struct CUstream_st *stream, struct mark *mark)
{
    if (!mark)
        return;
    struct item *item = queue_marker(NULL, mark_retain(mark));
    if (!item)
        mark_release(mark);
    batch_add(batch, stream, item);
}

/* A mark, and the item that passes it. */
static struct mark *batch_mark(struct batch *batch, struct CUstream_st *stream)
{
    struct mark *mark = mark_create();
    struct item *item = mark ? queue_marker(mark_retain(mark), NULL) : NULL;
    batch_add(batch, stream, item);
    return mark;
}

static struct item *item_of(const struct CUgraphNode_st *node)
{
    if (node->conditional)
        return conditional_item(node);
    return node->work && !node->disabled ? node->work->again(node->work) : queue_marker(NULL, NULL);
}

static void record(struct CUevent_st *event, struct mark *mark)
{
    capture_forget_event(event);
    mark_release(event->mark);
    event->mark = mark_retain(mark);
}

/* `marks` holds those of earlier entries; this one's is put there when others need it. */
static void launch_entry(const struct CUgraphExec_st *exec, size_t i, struct batch *batch,
                         struct mark *begin, struct mark **marks, struct item **items)
{
    const struct plan_entry *entry = &exec->plan[i];
    const struct CUgraphNode_st *node = entry->node;
    struct CUstream_st *branch = exec->branches[entry->branch];
    CUgraphNodeType type = entry->edge ? CU_GRAPH_NODE_TYPE_EMPTY : node->type;
    struct CUevent_st *event = node->event;
    if (!entry->dependency_count)
        batch_wait(batch, branch, begin);
    for (size_t k = 0; k < entry->dependency_count; k++)
        if (exec->plan[entry->dependencies[k]].branch != entry->branch)
            batch_wait(batch, branch, marks[entry->dependencies[k]]);
    if (type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        batch_wait(batch, branch, event->mark);
    struct item *item = entry->edge ? queue_marker(NULL, NULL) : item_of(node);
    bool marked = entry->awaited || type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    if (item && marked && (marks[i] = mark_create()))
        item->done = mark_retain(marks[i]);
    batch->failed |= marked && !marks[i];
    if (items)
        items[i] = item;
    batch_add(batch, branch, item);
    if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD && marks[i])
        record(event, marks[i]);
}

/* Everything or nothing. */
static bool batch_submit(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->failed)
            queue_drop(batch->entries[i].item);
        else
            queue_append(batch->entries[i].stream, batch->entries[i].item);
    free(batch->entries);
    return !batch->failed;
}

static void newest_clear(void)
{
    free(newest.nodes);
    newest.nodes = NULL;
    newest.count = 0;
}

/* After the items were appended and before any of them runs. Only who compares runs asks:
 * the array goes with the next launch. */
static void newest_note(const struct CUgraphExec_st *exec, struct item *const *items)
{
    newest_clear();
    if (!items || !(newest.nodes = calloc(exec->count + 1, sizeof *newest.nodes)))
        return;
    for (size_t i = 0; i < exec->count; i++)
        if (!exec->plan[i].edge && items[i])
            newest.nodes[newest.count++] = (struct launched){
                exec->plan[i].node->original, items[i]->sequence - device.schedule.base};
}

__attribute__((visibility("default"))) uint64_t device_schedule_node(const void *node)
{
    for (size_t i = 0; i < newest.count; i++)
        if (newest.nodes[i].node == node)
            return newest.nodes[i].item;
    return 0;
}

static void batch_defaults(struct batch *batch, struct CUstream_st *stream,
                           const struct CUgraphExec_st *exec)
{
    bool needed;
    struct item *item = conditional_defaults(exec->graph->original, &needed);
    if (needed)
        batch_add(batch, stream, item);
}

static bool launch_all(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
    struct batch batch = {0};
    struct mark **marks = calloc(exec->count + 1, sizeof(*marks));
    struct item **items = outcome_wanted() ? calloc(exec->count + 1, sizeof(*items)) : NULL;
    if (!marks) {
        free(items);
        return false;
    }
    batch_wait(&batch, stream, exec->last);
    batch_defaults(&batch, stream, exec);
    struct mark *begin = batch_mark(&batch, stream);
    for (size_t i = 0; i < exec->count && !batch.failed; i++)
        launch_entry(exec, i, &batch, begin, marks, items);
    for (size_t i = 0; i < exec->count && !batch.failed; i++)
        if (exec->plan[i].awaited)
            batch_wait(&batch, stream, marks[i]);
    struct mark *end = batch_mark(&batch, stream);
    bool done = batch_submit(&batch);
    if (!exec->gate) /* a body's are not the calling thread's */
        newest_note(exec, done ? items : NULL);
    free(items);
    for (size_t i = 0; i < exec->count; i++) {
        if (!done && marks[i]) /* an event may hold it already, and nobody would pass it */
            marks[i]->done = true;
        mark_release(marks[i]);
    }
    free(marks);
    mark_release(begin);
    if (done) {
        mark_release(exec->last);
        exec->last = mark_retain(end);
    }
    mark_release(end);
    return done;
}

bool graph_body_launch(struct CUgraphExec_st *body)
{
    return body->context && launch_all(body, body->gate);
}

bool graph_body_is_done(const struct CUgraphExec_st *body)
{
    return !body->last || body->last->done;
}

/* Memory that the graph allocates must not be allocated already, unless it frees by itself; what it
 * frees must be. As of the enqueues so far: `apply` makes it so. */
static bool account_memory(struct CUgraphExec_st *exec, bool apply)
{
    bool automatic = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    for (size_t i = 0; i < exec->count; i++) {
        const struct CUgraphNode_st *node = exec->plan[i].node;
        struct graph_block *block = node->memory.dptr ? graph_block_at(node->memory.dptr) : NULL;
        if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && block) {
            if (!apply && block->live && !automatic)
                return false;
            block->live |= apply;
        } else if (node->type == CU_GRAPH_NODE_TYPE_MEM_FREE && apply) {
            graph_block_free(node->memory.dptr);
        }
    }
    return true;
}

static bool events_exist(const struct CUgraphExec_st *exec)
{
    for (size_t i = 0; i < exec->count; i++)
        if (exec->plan[i].node->event && !object_find(exec->plan[i].node->event, OBJECT_EVENT))
            return false;
    return true;
}

static CUresult launch(CUgraphExec handle, CUstream hStream, bool per_thread)
{
    struct CUctx_st *context;
    struct CUgraphExec_st *exec;
    CUresult result = graph_exec_enter(handle, &context, &exec);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUstream_st *stream = stream_resolve(context, hStream, per_thread);
    if (!stream)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    if ((result = capture_admits_beside(stream)) != CUDA_SUCCESS)
        return device_leave(result);
    if (!exec->context || !events_exist(exec) || !account_memory(exec, false))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (!launch_all(exec, stream))
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    account_memory(exec, true);
    schedule_enqueued();
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
    return launch(hGraph, hStream, false);
}

CUresult CUDAAPI cuGraphLaunch_ptsz(CUgraphExec hGraph, CUstream hStream)
{
    return launch(hGraph, hStream, true);
}

/* There is nothing to prepare, but the stream: what comes next in it comes behind the launches so
 * far.
 */
static CUresult upload(CUgraphExec handle, CUstream hStream, bool per_thread)
{
    struct CUctx_st *context;
    struct CUgraphExec_st *exec;
    CUresult result = graph_exec_enter(handle, &context, &exec);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUstream_st *stream = stream_resolve(context, hStream, per_thread);
    if (!stream)
        return device_leave(CUDA_ERROR_INVALID_HANDLE);
    if (stream->capture)
        return device_leave(capture_refuses(stream));
    if (exec->last)
        result = queue_append_marker(stream, NULL, mark_retain(exec->last));
    schedule_enqueued();
    return device_leave(result);
}

CUresult CUDAAPI cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    return upload(hGraph, hStream, false);
}

CUresult CUDAAPI cuGraphUpload_ptsz(CUgraphExec hGraph, CUstream hStream)
{
    return upload(hGraph, hStream, true);
}
