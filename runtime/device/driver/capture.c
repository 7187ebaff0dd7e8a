/* Stream capture: work in a captured stream becomes nodes of a graph. A stream is captured from
 * cuStreamBeginCapture on, or from a wait for an event that was recorded in the capture. Its
 * frontier is the set of nodes that its next node depends on. An event recorded there holds a copy
 * of the frontier.
 *
 * Source: CUDA C++ Programming Guide, "Creating a Graph Using Stream Capture", with its sections on
 * cross-stream dependencies, on prohibited operations ("It is invalid to synchronize or query the
 * execution status of a stream which is being captured or a captured event", nor of a broader
 * handle; "any attempted use of the legacy stream is invalid" while a blocking stream is captured)
 * and on invalidation ("any associated capture graphs are invalidated", which lasts until
 * cuStreamEndCapture). Error codes: CUDA Driver API, CUresult, 900 to 908. Where the documentation
 * leaves the answer open, it is that of a driver (580, CUDA 13.0), which
 * tests/integration/capture_codes.cu asks. */
#include "runtime/device/driver/graph/graph.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

static struct {
    CUgraphEdgeData *edges; /* zeros, for cuStreamGetCaptureInfo_v3 */
    size_t edge_count;
} plain;

/* ---- Captures ------------------------------------------------------------------------------ */

static struct capture *capture_by_id(uint64_t id)
{
    struct capture *capture = device.captures;
    while (capture && capture->id != id)
        capture = capture->next;
    return capture;
}

bool capture_has_event(const struct CUevent_st *event)
{
    return event->capture != 0;
}

void capture_forget_event(struct CUevent_st *event)
{
    if (event->captured)
        node_list_clear(event->captured);
    free(event->captured);
    event->captured = NULL;
    event->capture = 0;
}

static bool has_stream(const struct capture *capture, const struct CUctx_st *context,
                       bool blocking_only)
{
    for (const struct CUstream_st *stream = context->streams; stream; stream = stream->next)
        if (stream->capture == capture && (!blocking_only || stream_is_blocking(stream)))
            return true;
    return false;
}

static void stream_enters(struct CUstream_st *stream, struct capture *capture,
                          struct node_list *frontier)
{
    stream->capture = capture;
    stream->frontier = frontier;
}

static void stream_leaves(struct CUstream_st *stream)
{
    node_list_clear(stream->frontier);
    free(stream->frontier);
    stream->capture = NULL;
    stream->frontier = NULL;
}

static struct node_list *list_copy(struct CUgraphNode_st *const *nodes, size_t count)
{
    struct node_list *list = calloc(1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (!node_list_has(list, nodes[i]) && !node_list_add(list, nodes[i])) {
            node_list_clear(list);
            free(list);
            return NULL;
        }
    return list;
}

/* All its streams go back to running what they are given. Returns the graph. */
static struct CUgraph_st *capture_end(struct capture *capture)
{
    struct CUgraph_st *graph = capture->graph;
    for (struct CUctx_st *context = device.contexts; context; context = context->next)
        for (struct CUstream_st *stream = context->streams; stream; stream = stream->next)
            if (stream->capture == capture)
                stream_leaves(stream);
    struct capture **link = &device.captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    graph->capturing = false;
    free(capture);
    return graph;
}

static void capture_abandon(struct capture *capture)
{
    bool existing = capture->into_existing;
    struct CUgraph_st *graph = capture_end(capture);
    if (!existing)
        graph_destroy(graph);
}

void capture_leave(struct CUstream_st *stream)
{
    if (!stream->capture)
        return;
    if (stream->capture->origin == stream)
        capture_abandon(stream->capture);
    else
        stream_leaves(stream);
}

/* ---- What is allowed ------------------------------------------------------------------------- */

/* The capture that recorded the event, while that can still become a graph. */
static struct capture *capture_of(const struct CUevent_st *event)
{
    struct capture *capture = capture_by_id(event->capture);
    return capture && !capture->invalid ? capture : NULL;
}

/* Captures whose blocking streams the legacy stream would wait for. */
static bool captures_against_legacy(const struct CUstream_st *stream, bool invalidate)
{
    bool any = false;
    for (struct capture *capture = device.captures; capture && stream->legacy;
         capture = capture->next)
        if (has_stream(capture, stream->context, true)) {
            any = true;
            capture->invalid |= invalidate;
        }
    return any;
}

CUresult capture_admits(struct CUstream_st *stream)
{
    if (stream->capture)
        return stream->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
    return captures_against_legacy(stream, true) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                                                 : CUDA_SUCCESS;
}

/* An invalid capture refuses it in the same words as one that was valid until now. */
CUresult capture_refuses(struct CUstream_st *stream)
{
    if (!stream->capture)
        return CUDA_SUCCESS;
    stream->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* Not among the unsafe calls: it does not affect captures of unrelated streams. */
CUresult capture_admits_beside(struct CUstream_st *stream)
{
    return stream->capture ? capture_refuses(stream) : capture_admits(stream);
}

CUresult capture_admits_wait(struct CUstream_st *stream)
{
    CUresult result = capture_admits_beside(stream);
    return result != CUDA_SUCCESS || stream->capture ? result : capture_admits_unsafe();
}

CUresult capture_admits_context(const struct CUctx_st *context)
{
    bool any = false;
    for (struct capture *capture = device.captures; capture; capture = capture->next)
        if (has_stream(capture, context, false)) {
            any = true;
            capture->invalid = true;
        }
    return any ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : capture_admits_unsafe();
}

/* "If the local thread has an ongoing capture sequence that was not initiated with RELAXED, or if
 * any other thread has a concurrent capture sequence initiated with GLOBAL, this thread is
 * prohibited from potentially unsafe API calls"; a thread in the mode THREAD_LOCAL ignores the
 * others, one in the mode RELAXED all (cuThreadExchangeStreamCaptureMode). */
static bool forbids(const struct capture *capture)
{
    if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (capture->thread == stream_thread())
        return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult capture_admits_unsafe(void)
{
    bool forbidden = false;
    for (struct capture *capture = device.captures; capture; capture = capture->next)
        if (forbids(capture)) {
            forbidden = true;
            capture->invalid = true;
        }
    return forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult capture_admits_event(const struct CUevent_st *event)
{
    struct capture *capture = capture_of(event);
    if (!event->capture)
        return capture_admits_unsafe();
    if (!capture)
        return CUDA_ERROR_INVALID_VALUE; /* what it stands for never runs by itself */
    capture->invalid = true;
    return CUDA_ERROR_CAPTURED_EVENT;
}

/* ---- Nodes --------------------------------------------------------------------------------- */

CUresult capture_node(struct CUstream_st *stream, CUgraphNodeType type,
                      struct CUgraphNode_st **node)
{
    struct node_list *frontier = stream->frontier;
    CUresult result =
        node_create(stream->capture->graph, type, frontier->nodes, frontier->count, node);
    if (result != CUDA_SUCCESS)
        return result;
    frontier->count = 0;
    return node_list_add(frontier, *node) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult capture_work(struct CUstream_st *stream, CUgraphNodeType type, struct item *work)
{
    struct CUgraphNode_st *node;
    CUresult result = capture_node(stream, type, &node);
    if (result != CUDA_SUCCESS) {
        queue_drop(work);
        return result;
    }
    node->work = work;
    return CUDA_SUCCESS;
}

/* An external record is a node: later waits are for the graph's launches. */
CUresult capture_record(struct CUstream_st *stream, struct CUevent_st *event, bool external)
{
    struct CUgraphNode_st *node;
    if (external) {
        CUresult result = capture_node(stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &node);
        if (result == CUDA_SUCCESS)
            node->event = event;
        return result;
    }
    struct node_list *held = list_copy(stream->frontier->nodes, stream->frontier->count);
    if (!held)
        return CUDA_ERROR_OUT_OF_MEMORY;
    capture_forget_event(event);
    event->capture = stream->capture->id;
    event->captured = held;
    return CUDA_SUCCESS;
}

/* The stream joins the capture that recorded the event. */
static CUresult fork_into(struct CUstream_st *stream, struct capture *capture,
                          const struct CUevent_st *event)
{
    if (stream->legacy) {
        capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    struct node_list *frontier = list_copy(event->captured->nodes, event->captured->count);
    if (!frontier)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stream_enters(stream, capture, frontier);
    return CUDA_SUCCESS;
}

CUresult capture_wait(struct CUstream_st *stream, struct CUevent_st *event, bool external)
{
    struct capture *mine = stream->capture, *other = capture_of(event);
    struct CUgraphNode_st *node;
    bool over = event->capture && !other;
    if (!mine)
        return over ? CUDA_ERROR_INVALID_VALUE : fork_into(stream, other, event);
    if (external) {
        CUresult result = capture_node(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &node);
        if (result == CUDA_SUCCESS)
            node->event = event;
        return result;
    }
    if (over)
        return CUDA_ERROR_INVALID_VALUE;
    if (!other && !event->mark) /* never recorded: nothing to wait for */
        return CUDA_SUCCESS;
    if (mine != other) {
        mine->invalid = true;
        if (other)
            other->invalid = true;
        return other ? CUDA_ERROR_STREAM_CAPTURE_MERGE : CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    for (size_t i = 0; i < event->captured->count; i++)
        if (!node_list_has(stream->frontier, event->captured->nodes[i]) &&
            !node_list_add(stream->frontier, event->captured->nodes[i]))
            return CUDA_ERROR_OUT_OF_MEMORY;
    return CUDA_SUCCESS;
}

/* ---- Begin and end ------------------------------------------------------------------------- */

static CUresult enter(CUstream handle, bool per_thread, struct CUstream_st **stream)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    *stream = stream_resolve(context, handle, per_thread);
    return *stream ? CUDA_SUCCESS : device_leave(CUDA_ERROR_INVALID_HANDLE);
}

/* Into `graph`, behind some of its nodes, or into a new one. */
static CUresult begin(struct CUstream_st *stream, struct CUgraph_st *graph,
                      const CUgraphNode *dependencies, size_t count, CUstreamCaptureMode mode)
{
    struct capture *capture = calloc(1, sizeof *capture);
    struct node_list *frontier = list_copy(dependencies, count);
    if (capture)
        capture->graph = graph ? graph : graph_create_empty();
    if (!capture || !frontier || !capture->graph) {
        if (capture && capture->graph && !graph)
            graph_destroy(capture->graph);
        free(frontier);
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->id = ++device.next_capture;
    capture->mode = mode;
    capture->thread = stream_thread();
    capture->into_existing = graph != NULL;
    capture->origin = stream;
    capture->next = device.captures;
    device.captures = capture;
    capture->graph->capturing = true;
    stream_enters(stream, capture, frontier);
    return CUDA_SUCCESS;
}

/* "Capture may not be initiated if stream is CU_STREAM_LEGACY [...] and it may only be initiated if
 * the stream is not already in capture mode." */
static CUresult may_begin(const struct CUstream_st *stream, CUstreamCaptureMode mode)
{
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return stream->capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

static CUresult begin_capture(CUstream handle, CUstreamCaptureMode mode, bool per_thread)
{
    struct CUstream_st *stream;
    CUresult result = enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = may_begin(stream, mode);
    return device_leave(result == CUDA_SUCCESS ? begin(stream, NULL, NULL, 0, mode) : result);
}

CUresult CUDAAPI cuStreamBeginCapture(CUstream hStream)
{
    return begin_capture(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL, false);
}

CUresult CUDAAPI cuStreamBeginCapture_ptsz(CUstream hStream)
{
    return begin_capture(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL, true);
}

CUresult CUDAAPI cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    return begin_capture(hStream, mode, false);
}

CUresult CUDAAPI cuStreamBeginCapture_v2_ptsz(CUstream hStream, CUstreamCaptureMode mode)
{
    return begin_capture(hStream, mode, true);
}

static bool are_nodes_of(const struct CUgraph_st *graph, const CUgraphNode *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct CUgraphNode_st *node = nodes ? object_find(nodes[i], OBJECT_NODE) : NULL;
        if (!node || node->graph != graph)
            return false;
    }
    return true;
}

static CUresult begin_to_graph(CUstream handle, CUgraph graph_handle,
                               const CUgraphNode *dependencies, size_t count,
                               CUstreamCaptureMode mode, bool per_thread)
{
    struct CUstream_st *stream;
    CUresult result = enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUgraph_st *graph = object_find(graph_handle, OBJECT_GRAPH);
    result = may_begin(stream, mode);
    if (result == CUDA_SUCCESS &&
        (!graph || graph->of_exec || graph->capturing || !are_nodes_of(graph, dependencies, count)))
        result = CUDA_ERROR_INVALID_VALUE;
    return device_leave(result == CUDA_SUCCESS ? begin(stream, graph, dependencies, count, mode)
                                               : result);
}

CUresult CUDAAPI cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                             const CUgraphNode *dependencies,
                                             const CUgraphEdgeData *dependencyData,
                                             size_t numDependencies, CUstreamCaptureMode mode)
{
    (void)dependencyData;
    return begin_to_graph(hStream, hGraph, dependencies, numDependencies, mode, false);
}

CUresult CUDAAPI cuStreamBeginCaptureToGraph_ptsz(CUstream hStream, CUgraph hGraph,
                                                  const CUgraphNode *dependencies,
                                                  const CUgraphEdgeData *dependencyData,
                                                  size_t numDependencies, CUstreamCaptureMode mode)
{
    (void)dependencyData;
    return begin_to_graph(hStream, hGraph, dependencies, numDependencies, mode, true);
}

/* All that the capture's other streams hold comes before what the origin holds. */
static bool is_joined(const struct capture *capture)
{
    struct node_list known = {0};
    bool joined = true;
    for (struct CUgraphNode_st *node = capture->graph->first; node; node = node->next)
        node->place = 0;
    for (size_t i = 0; i < capture->origin->frontier->count; i++) {
        capture->origin->frontier->nodes[i]->place = 1;
        joined &= node_list_add(&known, capture->origin->frontier->nodes[i]);
    }
    for (size_t next = 0; next < known.count; next++)
        for (size_t i = 0; i < known.nodes[next]->dependencies.count; i++) {
            struct CUgraphNode_st *before = known.nodes[next]->dependencies.nodes[i];
            if (!before->place)
                joined &= node_list_add(&known, before);
            before->place = 1;
        }
    node_list_clear(&known);
    for (struct CUctx_st *context = device.contexts; context; context = context->next)
        for (struct CUstream_st *stream = context->streams; stream; stream = stream->next)
            for (size_t i = 0; stream->capture == capture && i < stream->frontier->count; i++)
                joined &= stream->frontier->nodes[i]->place != 0;
    return joined;
}

static CUresult end(struct CUstream_st *stream, CUgraph *graph)
{
    struct capture *capture = stream->capture;
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream) {
        capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != stream_thread())
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    CUresult result = capture->invalid      ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                      : !is_joined(capture) ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
                                            : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        *graph = capture_end(capture);
    else
        capture_abandon(capture);
    return result;
}

static CUresult end_capture(CUstream handle, CUgraph *graph, bool per_thread)
{
    struct CUstream_st *stream;
    CUresult result = enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    /* Whoever captures into a graph has it already, and need not ask for it (NVIDIA's cuda-samples,
     * graphConditionalNodes). */
    CUgraph own = NULL;
    if (!graph && stream->capture && stream->capture->into_existing)
        graph = &own;
    if (!graph)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *graph = NULL;
    return device_leave(end(stream, graph));
}

CUresult CUDAAPI cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    return end_capture(hStream, phGraph, false);
}

CUresult CUDAAPI cuStreamEndCapture_ptsz(CUstream hStream, CUgraph *phGraph)
{
    return end_capture(hStream, phGraph, true);
}

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* ---- Asking --------------------------------------------------------------------------------- */

/* Where answers go; each may be NULL but the status. */
struct answers {
    CUstreamCaptureStatus *status;
    cuuint64_t *id;
    CUgraph *graph;
    const CUgraphNode **dependencies;
    const CUgraphEdgeData **edges;
    size_t *count;
};

static bool plain_edges(size_t count)
{
    if (count <= plain.edge_count)
        return true;
    CUgraphEdgeData *grown = calloc(2 * count, sizeof *grown);
    if (!grown)
        return false;
    free(plain.edges);
    plain.edges = grown;
    plain.edge_count = 2 * count;
    return true;
}

static CUresult answer(const struct CUstream_st *stream, const struct answers *answers)
{
    const struct capture *capture = stream->capture;
    *answers->status = !capture           ? CU_STREAM_CAPTURE_STATUS_NONE
                       : capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                          : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (*answers->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    if (answers->id)
        *answers->id = capture->id;
    if (answers->graph)
        *answers->graph = capture->graph;
    if (answers->dependencies)
        *answers->dependencies = stream->frontier->nodes;
    if (answers->count)
        *answers->count = stream->frontier->count;
    if (answers->edges && !plain_edges(stream->frontier->count))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (answers->edges)
        *answers->edges = plain.edges;
    return CUDA_SUCCESS;
}

/* "If this is called on CU_STREAM_LEGACY while a blocking stream in the same context is capturing,
 * it will return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT [...] The blocking stream capture is not
 * invalidated." */
static CUresult ask(CUstream handle, const struct answers *answers, bool per_thread)
{
    struct CUstream_st *stream;
    CUresult result = enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!answers->status || (answers->edges && !answers->dependencies))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (captures_against_legacy(stream, false))
        return device_leave(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    return device_leave(answer(stream, answers));
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    return ask(hStream, &(struct answers){.status = captureStatus}, false);
}

CUresult CUDAAPI cuStreamIsCapturing_ptsz(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    return ask(hStream, &(struct answers){.status = captureStatus}, true);
}

CUresult CUDAAPI cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *status,
                                        cuuint64_t *id)
{
    return ask(hStream, &(struct answers){.status = status, .id = id}, false);
}

CUresult CUDAAPI cuStreamGetCaptureInfo_ptsz(CUstream hStream, CUstreamCaptureStatus *status,
                                             cuuint64_t *id)
{
    return ask(hStream, &(struct answers){.status = status, .id = id}, true);
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *status,
                                           cuuint64_t *id, CUgraph *graph,
                                           const CUgraphNode **dependencies, size_t *count)
{
    return ask(hStream, &(struct answers){status, id, graph, dependencies, NULL, count}, false);
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v2_ptsz(CUstream hStream, CUstreamCaptureStatus *status,
                                                cuuint64_t *id, CUgraph *graph,
                                                const CUgraphNode **dependencies, size_t *count)
{
    return ask(hStream, &(struct answers){status, id, graph, dependencies, NULL, count}, true);
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *status,
                                           cuuint64_t *id, CUgraph *graph,
                                           const CUgraphNode **dependencies,
                                           const CUgraphEdgeData **edges, size_t *count)
{
    return ask(hStream, &(struct answers){status, id, graph, dependencies, edges, count}, false);
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v3_ptsz(CUstream hStream, CUstreamCaptureStatus *status,
                                                cuuint64_t *id, CUgraph *graph,
                                                const CUgraphNode **dependencies,
                                                const CUgraphEdgeData **edges, size_t *count)
{
    return ask(hStream, &(struct answers){status, id, graph, dependencies, edges, count}, true);
}

/* "These control whether the set passed to the API is added to the existing set or replaces it." */
static CUresult update_dependencies(CUstream handle, CUgraphNode *nodes, size_t count,
                                    unsigned flags, bool per_thread)
{
    struct CUstream_st *stream;
    CUresult result = enter(handle, per_thread, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (!stream->capture)
        return device_leave(CUDA_ERROR_ILLEGAL_STATE);
    if (stream->capture->invalid)
        return device_leave(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES ||
        !are_nodes_of(stream->capture->graph, nodes, count))
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        stream->frontier->count = 0;
    for (size_t i = 0; i < count; i++)
        if (!node_list_has(stream->frontier, nodes[i]) &&
            !node_list_add(stream->frontier, nodes[i]))
            return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies,
                                                   size_t numDependencies, unsigned int flags)
{
    return update_dependencies(hStream, dependencies, numDependencies, flags, false);
}

CUresult CUDAAPI cuStreamUpdateCaptureDependencies_ptsz(CUstream hStream, CUgraphNode *dependencies,
                                                        size_t numDependencies, unsigned int flags)
{
    return update_dependencies(hStream, dependencies, numDependencies, flags, true);
}

CUresult CUDAAPI cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
                                                      const CUgraphEdgeData *dependencyData,
                                                      size_t numDependencies, unsigned int flags)
{
    (void)dependencyData;
    return update_dependencies(hStream, dependencies, numDependencies, flags, false);
}

CUresult CUDAAPI cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream hStream,
                                                           CUgraphNode *dependencies,
                                                           const CUgraphEdgeData *dependencyData,
                                                           size_t numDependencies,
                                                           unsigned int flags)
{
    (void)dependencyData;
    return update_dependencies(hStream, dependencies, numDependencies, flags, true);
}
