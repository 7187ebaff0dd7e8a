/* Executable graphs: instantiating, updating and launching. See graph.h for how a launch runs.
 *
 * "A graph can be launched again before an earlier launch has completed; each launch is ordered
 * after the one before" (cuGraphLaunch): the first item of a launch waits for the end of the exec's
 * last one, whatever stream that was in. Different execs of one graph may overlap. */
#include "runtime/device/driver/graph/graph_conditional.h"
#include "csan/base/array.h"

#include <stdlib.h>
#include <string.h>

static struct {
    struct CUgraphExec_st *execs;
} all;

/* The thread's newest launch, for device_schedule_node: items as they were appended. */
static _Thread_local struct {
    struct launched {
        const void *node;
        uint64_t item;
    } * nodes;
    size_t count;
} newest;

/* ---- The plan -------------------------------------------------------------------------------- */

struct builder {
    struct plan_entry *entries;
    size_t count, capacity;
    bool failed; /* no memory */
    bool cyclic;
};

static struct plan_entry *append(struct builder *builder, struct CUgraphNode_st *node,
                                 size_t dependencies)
{
    if (!array_room(&builder->entries, builder->count, &builder->capacity, 16, SIZE_MAX,
                    sizeof *builder->entries))
        return NULL;
    struct plan_entry *entry = &builder->entries[builder->count];
    *entry = (struct plan_entry){.node = node};
    entry->dependencies = calloc(dependencies + 1, sizeof(uint32_t));
    if (!entry->dependencies)
        return NULL;
    builder->count++;
    return entry;
}

static void add_graph(struct builder *builder, const struct CUgraph_st *graph,
                      const uint32_t *begin);

/* Nodes keep in `place` the entry that those behind them wait for. */
static void add_child(struct builder *builder, struct CUgraphNode_st *node)
{
    uint32_t begin = (uint32_t)builder->count - 1;
    builder->entries[begin].edge = true;
    add_graph(builder, node->child, &begin);
    size_t leaves = 1;
    for (const struct CUgraphNode_st *inner = node->child->first; inner; inner = inner->next)
        leaves += !inner->dependents.count;
    struct plan_entry *end = builder->failed ? NULL : append(builder, node, leaves);
    builder->failed |= !end;
    if (!end)
        return;
    end->edge = true;
    end->dependencies[end->dependency_count++] = begin;
    for (const struct CUgraphNode_st *inner = node->child->first; inner; inner = inner->next)
        if (!inner->dependents.count)
            end->dependencies[end->dependency_count++] = (uint32_t)inner->place;
    node->place = builder->count - 1;
}

static void add_node(struct builder *builder, struct CUgraphNode_st *node, const uint32_t *begin)
{
    size_t count = node->dependencies.count;
    struct plan_entry *entry = append(builder, node, count + 1);
    builder->failed |= !entry;
    if (!entry)
        return;
    for (size_t i = 0; i < count; i++)
        entry->dependencies[entry->dependency_count++] =
            (uint32_t)node->dependencies.nodes[i]->place;
    if (!count && begin)
        entry->dependencies[entry->dependency_count++] = *begin;
    node->place = builder->count - 1;
    if (node->child)
        add_child(builder, node);
}

/* In an order that the edges allow. Until a node's turn `place` counts what it still waits for. */
static void add_graph(struct builder *builder, const struct CUgraph_st *graph,
                      const uint32_t *begin)
{
    struct node_list ready = {0};
    for (struct CUgraphNode_st *node = graph->first; node; node = node->next) {
        node->place = node->dependencies.count;
        if (!node->place)
            builder->failed |= !node_list_add(&ready, node);
    }
    for (size_t next = 0; next < ready.count && !builder->failed; next++) {
        struct CUgraphNode_st *node = ready.nodes[next];
        add_node(builder, node, begin);
        for (size_t i = 0; i < node->dependents.count; i++)
            if (--node->dependents.nodes[i]->place == 0)
                builder->failed |= !node_list_add(&ready, node->dependents.nodes[i]);
    }
    builder->cyclic |= ready.count != graph->count; /* what is on a cycle never gets its turn */
    node_list_clear(&ready);
}

/* An entry goes into the branch of one that it waits for and that is the last there so far. */
static bool choose_branches(struct builder *builder, size_t *branch_count)
{
    uint32_t *last = calloc(builder->count + 1, sizeof *last); /* of each branch */
    size_t branches = 0;
    if (!last)
        return false;
    for (size_t i = 0; i < builder->count; i++) {
        struct plan_entry *entry = &builder->entries[i];
        size_t follows = entry->dependency_count;
        entry->awaited = true; /* until one behind it in its branch is found */
        for (size_t k = 0; k < entry->dependency_count; k++) {
            struct plan_entry *before = &builder->entries[entry->dependencies[k]];
            if (follows == entry->dependency_count &&
                last[before->branch] == entry->dependencies[k])
                follows = k;
        }
        entry->branch = follows < entry->dependency_count
                            ? builder->entries[entry->dependencies[follows]].branch
                            : (uint32_t)branches++;
        last[entry->branch] = (uint32_t)i;
    }
    free(last);
    *branch_count = branches;
    return true;
}

static void plan_free(struct plan_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(entries[i].dependencies);
    free(entries);
}

/* Which entries need a mark: those that others in other branches wait for, and the ends. */
static void find_awaited(struct plan_entry *entries, size_t count)
{
    for (size_t i = count; i-- > 0;)
        for (size_t k = 0; k < entries[i].dependency_count; k++)
            entries[entries[i].dependencies[k]].awaited = false;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < entries[i].dependency_count; k++) {
            struct plan_entry *before = &entries[entries[i].dependencies[k]];
            before->awaited |= before->branch != entries[i].branch;
        }
}

static bool prepare_bodies(const struct builder *builder, struct CUctx_st *context)
{
    for (size_t i = 0; i < builder->count; i++)
        if (!conditional_prepare(builder->entries[i].node, context))
            return false;
    return true;
}

/* Plan the exec's graph anew. */
static CUresult make_plan(struct CUgraphExec_st *exec)
{
    struct builder builder = {0};
    size_t branches = 0;
    add_graph(&builder, exec->graph, NULL);
    if (builder.failed || builder.cyclic || !choose_branches(&builder, &branches)) {
        plan_free(builder.entries, builder.count);
        return builder.cyclic ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OUT_OF_MEMORY;
    }
    find_awaited(builder.entries, builder.count);
    struct CUstream_st **grown = realloc(exec->branches, (branches + 1) * sizeof(*grown));
    if (grown)
        exec->branches = grown;
    while (grown && exec->branch_count < branches) {
        struct CUstream_st *branch = stream_create_branch(exec->context);
        if (!branch)
            break;
        exec->branches[exec->branch_count++] = branch;
    }
    if (exec->branch_count < branches || !prepare_bodies(&builder, exec->context)) {
        plan_free(builder.entries, builder.count);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    plan_free(exec->plan, exec->count);
    exec->plan = builder.entries;
    exec->count = builder.count;
    return CUDA_SUCCESS;
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void exec_free(struct CUgraphExec_st *exec)
{
    struct CUgraphExec_st **link = &all.execs;
    while (*link && *link != exec)
        link = &(*link)->next;
    if (*link)
        *link = exec->next;
    /* Launches under way have all they need in their items. */
    for (size_t i = 0; exec->context && i < exec->branch_count; i++)
        stream_abandon(exec->branches[i]);
    if (exec->context && exec->gate)
        stream_abandon(exec->gate);
    struct CUgraph_st *source = object_find(exec->source, OBJECT_GRAPH);
    if (source && source->execs)
        source->execs--;
    plan_free(exec->plan, exec->count);
    if (exec->graph)
        graph_destroy(exec->graph);
    mark_release(exec->last);
    free(exec->branches);
    free(exec);
}

void graph_forget_context(struct CUctx_st *context)
{
    for (struct CUgraphExec_st *exec = all.execs; exec; exec = exec->next)
        if (exec->context == context) {
            exec->context = NULL;
            exec->branch_count = 0;
        }
    for (struct CUstream_st *stream = context->streams; stream; stream = stream->next)
        capture_leave(stream);
}

struct CUgraphExec_st *graph_body_create(struct CUctx_st *context, struct CUgraph_st *graph)
{
    struct CUgraphExec_st *body = calloc(1, sizeof *body);
    if (!body)
        return NULL;
    body->references = 1;
    body->context = context;
    body->graph = graph;
    body->next = all.execs;
    all.execs = body;
    body->gate = stream_create_branch(context);
    if (body->gate && make_plan(body) == CUDA_SUCCESS)
        return body;
    body->graph = NULL; /* the node's still */
    exec_free(body);
    return NULL;
}

struct CUgraphExec_st *graph_body_retain(struct CUgraphExec_st *body)
{
    body->references++;
    return body;
}

void graph_body_release(struct CUgraphExec_st *body)
{
    if (--body->references == 0)
        exec_free(body);
}

static CUresult exec_create(struct CUctx_st *context, struct CUgraph_st *graph, uint64_t flags,
                            struct CUgraphExec_st **made)
{
    struct CUgraphExec_st *exec = calloc(1, sizeof *exec);
    if (!exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->context = context;
    exec->flags = flags;
    exec->graph = graph_clone(graph, true);
    CUresult result = exec->graph ? make_plan(exec) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS) {
        exec_free(exec);
        return result;
    }
    exec->source = graph;
    graph->execs++;
    exec->next = all.execs;
    all.execs = exec;
    object_add(&exec->object, OBJECT_EXEC);
    *made = exec;
    return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *made, CUgraph handle, uint64_t flags)
{
    const uint64_t known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                           CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                           CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraph_st *graph = object_find(handle, OBJECT_GRAPH);
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return device_leave(device_lacks("a graph that is launched from the device"));
    if (!made || !graph || graph->of_exec || graph->capturing || flags & ~known)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    /* "there can be at most one executable graph in existence for that graph at a time" */
    if (graph->execs && graph_has_memory(graph))
        return device_leave(CUDA_ERROR_NOT_SUPPORTED);
    *made = NULL;
    return device_leave(exec_create(context, graph, flags, made));
}

CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                             unsigned long long flags)
{
    return instantiate(phGraphExec, hGraph, flags);
}

CUresult CUDAAPI cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph,
                                       CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
    if (phErrorNode)
        *phErrorNode = NULL;
    if (logBuffer && bufferSize)
        *logBuffer = '\0';
    return instantiate(phGraphExec, hGraph, 0);
}

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph,
                                    CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
    return cuGraphInstantiate_v2(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult CUDAAPI cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                              CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    if (!instantiateParams)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = instantiate(phGraphExec, hGraph, instantiateParams->flags);
    instantiateParams->hErrNode_out = NULL;
    instantiateParams->result_out =
        result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

CUresult CUDAAPI cuGraphInstantiateWithParams_ptsz(CUgraphExec *phGraphExec, CUgraph hGraph,
                                                   CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    return cuGraphInstantiateWithParams(phGraphExec, hGraph, instantiateParams);
}

static CUresult enter_exec(CUgraphExec handle, struct CUctx_st **context,
                           struct CUgraphExec_st **exec)
{
    CUresult result = device_enter_context(context);
    if (result != CUDA_SUCCESS)
        return result;
    *exec = object_find(handle, OBJECT_EXEC);
    return *exec ? CUDA_SUCCESS : device_leave(CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    struct CUctx_st *context;
    struct CUgraphExec_st *exec;
    CUresult result = enter_exec(hGraphExec, &context, &exec);
    if (result != CUDA_SUCCESS)
        return result;
    if (!flags)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    /* "Flags will not include CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD" is not said; what was asked for
     * is given back. */
    *flags = exec->flags;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    struct CUctx_st *context;
    CUresult result = device_enter_failed(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraphExec_st *exec = object_find(hGraphExec, OBJECT_EXEC);
    if (!exec)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    object_remove(&exec->object);
    exec_free(exec);
    return device_leave(CUDA_SUCCESS);
}

/* ---- Update ------------------------------------------------------------------------------------
 */

static CUgraphExecUpdateResult compare(struct CUgraph_st *old, struct CUgraph_st *new,
                                       CUgraphExecUpdateResultInfo *info);

/* "Handle, type and size must be the same" (cuGraphExecUpdate). */
static CUgraphExecUpdateResult compare_bodies(const struct conditional *old,
                                              const struct conditional *new,
                                              CUgraphExecUpdateResultInfo *info)
{
    if (old->handle != new->handle || old->type != new->type || old->size != new->size)
        return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    for (unsigned i = 0; i < old->size; i++) {
        CUgraphExecUpdateResult result = compare(old->bodies[i], new->bodies[i], info);
        if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            return result;
    }
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* Pairs the nodes of both in the order of their creation. Reports the first difference. */
static CUgraphExecUpdateResult compare(struct CUgraph_st *old, struct CUgraph_st *new,
                                       CUgraphExecUpdateResultInfo *info)
{
    if (old->count != new->count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    size_t place = 0;
    struct CUgraphNode_st *a = old->first, *b = new->first;
    for (; a; a = a->next, b = b->next)
        a->place = b->place = place++;
    for (a = old->first, b = new->first; a; a = a->next, b = b->next) {
        info->errorNode = b;
        if (a->type != b->type)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (a->dependencies.count != b->dependencies.count)
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        for (size_t i = 0; i < a->dependencies.count; i++) {
            info->errorFromNode = b->dependencies.nodes[i];
            if (a->dependencies.nodes[i]->place != b->dependencies.nodes[i]->place)
                return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        }
        info->errorFromNode = NULL;
        if (a->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || a->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
        CUgraphExecUpdateResult inner =
            a->child ? compare(a->child, b->child, info) : CU_GRAPH_EXEC_UPDATE_SUCCESS;
        if (inner != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            return inner;
        inner = a->conditional ? compare_bodies(a->conditional, b->conditional, info)
                               : CU_GRAPH_EXEC_UPDATE_SUCCESS;
        if (inner != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            return inner;
    }
    info->errorNode = NULL;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* The program goes on naming the exec's nodes by those it was instantiated from. */
static void keep_names(struct CUgraph_st *new, const struct CUgraph_st *old)
{
    struct CUgraphNode_st *b = new->first;
    for (const struct CUgraphNode_st *a = old->first; a; a = a->next, b = b->next) {
        b->original = a->original;
        b->disabled = a->disabled;
        if (a->child)
            keep_names(b->child, a->child);
        for (unsigned i = 0; a->conditional && i < a->conditional->size; i++)
            keep_names(b->conditional->bodies[i], a->conditional->bodies[i]);
    }
}

static CUresult update(struct CUgraphExec_st *exec, struct CUgraph_st *graph,
                       CUgraphExecUpdateResultInfo *info)
{
    info->result = compare(exec->graph, graph, info);
    if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    struct CUgraph_st *old = exec->graph, *new = graph_clone(graph, true);
    if (!new)
        return CUDA_ERROR_OUT_OF_MEMORY;
    keep_names(new, old);
    exec->graph = new;
    CUresult result = make_plan(exec);
    if (result != CUDA_SUCCESS) {
        exec->graph = old;
        graph_destroy(new);
        return result;
    }
    graph_destroy(old);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                                      CUgraphExecUpdateResultInfo *resultInfo)
{
    struct CUctx_st *context;
    struct CUgraphExec_st *exec;
    CUresult result = enter_exec(hGraphExec, &context, &exec);
    if (result != CUDA_SUCCESS)
        return result;
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    struct CUgraph_st *graph = object_find(hGraph, OBJECT_GRAPH);
    if (!resultInfo || !graph || graph->of_exec || graph->capturing || !exec->context)
        result = CUDA_ERROR_INVALID_VALUE;
    else
        result = update(exec, graph, &info);
    if (resultInfo)
        *resultInfo = info;
    return device_leave(result);
}

CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
                                   CUgraphNode *hErrorNode_out,
                                   CUgraphExecUpdateResult *updateResult_out)
{
    CUgraphExecUpdateResultInfo info = {0};
    CUresult result = cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);
    if (hErrorNode_out)
        *hErrorNode_out = info.errorNode;
    if (updateResult_out)
        *updateResult_out = info.result;
    return result;
}

/* ---- Launch ------------------------------------------------------------------------------------
 */

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
        if (!exec->plan[i].edge)
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
    CUresult result = enter_exec(handle, &context, &exec);
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
    CUresult result = enter_exec(handle, &context, &exec);
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

/* ---- The memory of graphs as a whole -----------------------------------------------------------
 */

CUresult CUDAAPI cuDeviceGraphMemTrim(CUdevice dev)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    return device_leave(device_exists(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

CUresult CUDAAPI cuDeviceGetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attr, void *value)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!device_exists(dev) || !value || (unsigned)attr > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return device_leave(!device_exists(dev) ? CUDA_ERROR_INVALID_DEVICE
                                                : CUDA_ERROR_INVALID_VALUE);
    bool used =
        attr == CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT || attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
    cuuint64_t bytes = 0;
    for (const struct graph_block *block = device.graph_blocks; block; block = block->next)
        bytes += !used || block->live ? block->bytes : 0;
    *(cuuint64_t *)value = bytes;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuDeviceSetGraphMemAttribute(CUdevice dev, CUgraphMem_attribute attr, void *value)
{
    CUresult result = device_enter();
    if (result != CUDA_SUCCESS)
        return result;
    bool high =
        attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    if (!device_exists(dev))
        return device_leave(CUDA_ERROR_INVALID_DEVICE);
    return device_leave(high && value && !*(cuuint64_t *)value ? CUDA_SUCCESS
                                                               : CUDA_ERROR_INVALID_VALUE);
}
