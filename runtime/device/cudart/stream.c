/* Streams. CUDA Runtime API, "Stream Management". */
#include "runtime/device/cudart/runtime.h"

API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    ENTER();
    return error_from(driver.cuStreamCreate[0](stream, flags));
}

API cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    ENTER();
    return error_from(driver.cuStreamCreateWithPriority[0](stream, flags, priority));
}

API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuStreamDestroy[0](stream));
}

static cudaError_t synchronize(enum flavor flavor, cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuStreamSynchronize[flavor](stream));
}
BOTH(cudaStreamSynchronize, _ptsz, synchronize, (cudaStream_t stream), stream)

static cudaError_t query(enum flavor flavor, cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuStreamQuery[flavor](stream));
}
BOTH(cudaStreamQuery, _ptsz, query, (cudaStream_t stream), stream)

static cudaError_t wait_event(enum flavor flavor, cudaStream_t stream, cudaEvent_t event,
                              unsigned int flags)
{
    ENTER();
    return error_from(driver.cuStreamWaitEvent[flavor](stream, event, flags));
}
BOTH(cudaStreamWaitEvent, _ptsz, wait_event,
     (cudaStream_t stream, cudaEvent_t event, unsigned int flags), stream, event, flags)

/* The driver's callback gets a CUresult where the runtime's gets a cudaError_t: the same numbers.
 */
static cudaError_t add_callback(enum flavor flavor, cudaStream_t stream,
                                cudaStreamCallback_t callback, void *user, unsigned int flags)
{
    ENTER();
    return error_from(driver.cuStreamAddCallback[flavor](stream, (CUstreamCallback)(void *)callback,
                                                         user, flags));
}
BOTH(cudaStreamAddCallback, _ptsz, add_callback,
     (cudaStream_t stream, cudaStreamCallback_t callback, void *user, unsigned int flags), stream,
     callback, user, flags)

static cudaError_t attach(enum flavor flavor, cudaStream_t stream, void *pointer, size_t length,
                          unsigned int flags)
{
    ENTER();
    return error_from(
        driver.cuStreamAttachMemAsync[flavor](stream, (CUdeviceptr)pointer, length, flags));
}
BOTH(cudaStreamAttachMemAsync, _ptsz, attach,
     (cudaStream_t stream, void *pointer, size_t length, unsigned int flags), stream, pointer,
     length, flags)

/* ---- What a stream is ---- */

static cudaError_t get_priority(enum flavor flavor, cudaStream_t stream, int *priority)
{
    ENTER();
    return error_from(driver.cuStreamGetPriority[flavor](stream, priority));
}
BOTH(cudaStreamGetPriority, _ptsz, get_priority, (cudaStream_t stream, int *priority), stream,
     priority)

static cudaError_t get_flags(enum flavor flavor, cudaStream_t stream, unsigned int *flags)
{
    ENTER();
    return error_from(driver.cuStreamGetFlags[flavor](stream, flags));
}
BOTH(cudaStreamGetFlags, _ptsz, get_flags, (cudaStream_t stream, unsigned int *flags), stream,
     flags)

static cudaError_t get_id(enum flavor flavor, cudaStream_t stream, unsigned long long *id)
{
    ENTER();
    return error_from(driver.cuStreamGetId[flavor](stream, id));
}
BOTH(cudaStreamGetId, _ptsz, get_id, (cudaStream_t stream, unsigned long long *id), stream, id)

static cudaError_t get_device(enum flavor flavor, cudaStream_t stream, int *device)
{
    ENTER();
    return error_from(driver.cuStreamGetDevice[flavor](stream, device));
}
BOTH(cudaStreamGetDevice, _ptsz, get_device, (cudaStream_t stream, int *device), stream, device)

static cudaError_t copy_attributes(enum flavor flavor, cudaStream_t to, cudaStream_t from)
{
    ENTER();
    return error_from(driver.cuStreamCopyAttributes[flavor](to, from));
}
BOTH(cudaStreamCopyAttributes, _ptsz, copy_attributes, (cudaStream_t to, cudaStream_t from), to,
     from)

_Static_assert(sizeof(cudaStreamAttrValue) == sizeof(CUstreamAttrValue),
               "the driver and the runtime describe a stream attribute alike");

static cudaError_t get_attribute(enum flavor flavor, cudaStream_t stream, cudaStreamAttrID which,
                                 cudaStreamAttrValue *value)
{
    ENTER();
    return error_from(driver.cuStreamGetAttribute[flavor](stream, (CUstreamAttrID)which,
                                                          (CUstreamAttrValue *)value));
}
BOTH(cudaStreamGetAttribute, _ptsz, get_attribute,
     (cudaStream_t stream, cudaStreamAttrID which, cudaStreamAttrValue *value), stream, which,
     value)

static cudaError_t set_attribute(enum flavor flavor, cudaStream_t stream, cudaStreamAttrID which,
                                 const cudaStreamAttrValue *value)
{
    ENTER();
    return error_from(driver.cuStreamSetAttribute[flavor](stream, (CUstreamAttrID)which,
                                                          (const CUstreamAttrValue *)value));
}
BOTH(cudaStreamSetAttribute, _ptsz, set_attribute,
     (cudaStream_t stream, cudaStreamAttrID which, const cudaStreamAttrValue *value), stream, which,
     value)

/* ---- Capture ---- */

static cudaError_t is_capturing(enum flavor flavor, cudaStream_t stream,
                                enum cudaStreamCaptureStatus *status)
{
    ENTER();
    return error_from(driver.cuStreamIsCapturing[flavor](stream, (CUstreamCaptureStatus *)status));
}
BOTH(cudaStreamIsCapturing, _ptsz, is_capturing,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *status), stream, status)

static cudaError_t capture_info(enum flavor flavor, cudaStream_t stream,
                                enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                const cudaGraphEdgeData **edges, size_t *count)
{
    ENTER();
    CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t number = 0;
    CUresult result =
        driver.cuStreamGetCaptureInfo[flavor](stream, &found, id ? &number : NULL, graph,
                                              dependencies, (const CUgraphEdgeData **)edges, count);
    if (result == CUDA_SUCCESS && status)
        *status = (enum cudaStreamCaptureStatus)found;
    if (result == CUDA_SUCCESS && id)
        *id = number;
    return error_from(result);
}
BOTH(cudaStreamGetCaptureInfo, _ptsz, capture_info,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
      cudaGraph_t *graph, const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges,
      size_t *count),
     stream, status, id, graph, dependencies, edges, count)

API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    ENTER();
    return error_from(
        driver.cuThreadExchangeStreamCaptureMode[LEGACY]((CUstreamCaptureMode *)mode));
}

static cudaError_t begin_capture(enum flavor flavor, cudaStream_t stream,
                                 enum cudaStreamCaptureMode mode)
{
    ENTER();
    return error_from(driver.cuStreamBeginCapture[flavor](stream, (CUstreamCaptureMode)mode));
}
BOTH(cudaStreamBeginCapture, _ptsz, begin_capture,
     (cudaStream_t stream, enum cudaStreamCaptureMode mode), stream, mode)

static cudaError_t begin_capture_to_graph(enum flavor flavor, cudaStream_t stream,
                                          cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *edges, size_t count,
                                          enum cudaStreamCaptureMode mode)
{
    ENTER();
    return error_from(driver.cuStreamBeginCaptureToGraph[flavor](stream, graph, dependencies,
                                                                 (const CUgraphEdgeData *)edges,
                                                                 count, (CUstreamCaptureMode)mode));
}
BOTH(cudaStreamBeginCaptureToGraph, _ptsz, begin_capture_to_graph,
     (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
      const cudaGraphEdgeData *edges, size_t count, enum cudaStreamCaptureMode mode),
     stream, graph, dependencies, edges, count, mode)

static cudaError_t end_capture(enum flavor flavor, cudaStream_t stream, cudaGraph_t *graph)
{
    ENTER();
    return error_from(driver.cuStreamEndCapture[flavor](stream, graph));
}
BOTH(cudaStreamEndCapture, _ptsz, end_capture, (cudaStream_t stream, cudaGraph_t *graph), stream,
     graph)

static cudaError_t update_dependencies(enum flavor flavor, cudaStream_t stream,
                                       cudaGraphNode_t *dependencies,
                                       const cudaGraphEdgeData *edges, size_t count,
                                       unsigned int flags)
{
    ENTER();
    return error_from(driver.cuStreamUpdateCaptureDependencies[flavor](
        stream, dependencies, (const CUgraphEdgeData *)edges, count, flags));
}
BOTH(cudaStreamUpdateCaptureDependencies, _ptsz, update_dependencies,
     (cudaStream_t stream, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges,
      size_t count, unsigned int flags),
     stream, dependencies, edges, count, flags)
