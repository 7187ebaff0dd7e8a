/* Captured calls and their nodes. See capture.h. */
#include "runtime/hook/graph/capture.h"
#include "runtime/hook/graph/graph_node_accesses.h"

static struct {
    uint64_t unknown;
    void *info3, *info3_ptsz, *info2, *info2_ptsz;
} capture;

/* After a node was added, a captured stream's next node depends on it alone (CUDA Driver API,
 * cuStreamGetCaptureInfo). The older form fails where edges carry data. NULL: not to be found. */
static CUgraphNode newest_node(CUstream handle, bool thread_default)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *edges = NULL;
    cuuint64_t id;
    CUgraph graph;
    size_t count = 0;
    CUresult result = CUDA_ERROR_NOT_FOUND;
    PFN_cuStreamGetCaptureInfo_v12030 info3 =
        (PFN_cuStreamGetCaptureInfo_v12030)(thread_default
                                                ? driver_function_cached(
                                                      &capture.info3_ptsz,
                                                      "cuStreamGetCaptureInfo_v3_ptsz")
                                                : driver_function_cached(
                                                      &capture.info3, "cuStreamGetCaptureInfo_v3"));
    PFN_cuStreamGetCaptureInfo_v11030 info2 =
        (PFN_cuStreamGetCaptureInfo_v11030)(thread_default
                                                ? driver_function_cached(
                                                      &capture.info2_ptsz,
                                                      "cuStreamGetCaptureInfo_v2_ptsz")
                                                : driver_function_cached(
                                                      &capture.info2, "cuStreamGetCaptureInfo_v2"));
    if (info3)
        result = info3(handle, &status, &id, &graph, &nodes, &edges, &count);
    else if (info2)
        result = info2(handle, &status, &id, &graph, &nodes, &count);
    bool found = result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE && count == 1;
    return found ? nodes[0] : NULL;
}

CUgraphNode capture_work(CUstream handle, bool thread_default, struct graph_node_work *work)
{
    CUgraphNode node = work ? newest_node(handle, thread_default) : NULL;
    if (node) {
        graph_node_note(node, work);
        return node;
    }
    graph_node_work_release(work);
    __atomic_fetch_add(&capture.unknown, 1, __ATOMIC_RELAXED);
    return NULL;
}

CUgraphNode capture_op(CUstream handle, bool thread_default, csan_site site, enum csan_level level,
                       const struct csan_access *accesses, size_t count)
{
    return capture_work(handle, thread_default, graph_node_work_op(site, level, accesses, count));
}

void capture_operator(const struct operator_captured *what)
{
    struct graph_node_work *work =
        graph_node_work_op(what->site, what->level, what->accesses, what->count);
    if (work)
        work->part = what->part;
    capture_work(what->stream, what->thread_default, work);
}

void capture_learning(CUstream handle, bool thread_default, struct learning_node *learning)
{
    graph_node_learning(newest_node(handle, thread_default), learning);
}

void capture_wrong(CUstream handle, bool thread_default, struct wrong_pointers *wrong)
{
    graph_node_wrong(newest_node(handle, thread_default), wrong);
}

uint64_t capture_unknown_count(void)
{
    return __atomic_load_n(&capture.unknown, __ATOMIC_RELAXED);
}
