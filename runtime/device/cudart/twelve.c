/* What libcudart.so.12 has and libcudart.so.13 does not have: older forms of functions, under the
 * plain names, and functions that CUDA 13 removed. Part of libcudart.so.12 only. This file calls
 * the newest form of a function by CUDA 13's name, which names_of_12.h turns into CUDA 12's.
 *
 * CUDA Runtime API 12.9. */
#include "runtime/device/cudart/runtime.h"

/* Defines a function by the name that it has in the library. */
#define OLD(name, parameters)                                                                      \
    API cudaError_t old_##name parameters __asm__(#name);                                          \
    API cudaError_t old_##name parameters

/* The variants of the newest forms for per-thread default streams, which no header declares. */
extern __typeof__(cudaMemPrefetchAsync) cudaMemPrefetchAsync_ptsz;
extern __typeof__(cudaMemcpyBatchAsync) cudaMemcpyBatchAsync_ptsz;
extern __typeof__(cudaMemcpy3DBatchAsync) cudaMemcpy3DBatchAsync_ptsz;
extern __typeof__(cudaStreamGetCaptureInfo) cudaStreamGetCaptureInfo_ptsz;
extern __typeof__(cudaStreamUpdateCaptureDependencies) cudaStreamUpdateCaptureDependencies_ptsz;

/* ---- Graphs, whose edges had no data ---- */

OLD(cudaGraphAddNode,
    (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
     struct cudaGraphNodeParams *params))
{
    return cudaGraphAddNode(node, graph, dependencies, NULL, count, params);
}

OLD(cudaGraphAddDependencies,
    (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count))
{
    return cudaGraphAddDependencies(graph, from, to, NULL, count);
}

OLD(cudaGraphRemoveDependencies,
    (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count))
{
    return cudaGraphRemoveDependencies(graph, from, to, NULL, count);
}

OLD(cudaGraphGetEdges,
    (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count))
{
    return cudaGraphGetEdges(graph, from, to, NULL, count);
}

OLD(cudaGraphNodeGetDependencies, (cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count))
{
    return cudaGraphNodeGetDependencies(node, nodes, NULL, count);
}

OLD(cudaGraphNodeGetDependentNodes, (cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count))
{
    return cudaGraphNodeGetDependentNodes(node, nodes, NULL, count);
}

/* ---- Capture ---- */

OLD(cudaStreamGetCaptureInfo,
    (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id))
{
    return cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL);
}
OLD(cudaStreamGetCaptureInfo_ptsz,
    (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id))
{
    return cudaStreamGetCaptureInfo_ptsz(stream, status, id, NULL, NULL, NULL, NULL);
}

OLD(cudaStreamGetCaptureInfo_v2,
    (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
     cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *count))
{
    return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, NULL, count);
}
OLD(cudaStreamGetCaptureInfo_v2_ptsz,
    (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
     cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *count))
{
    return cudaStreamGetCaptureInfo_ptsz(stream, status, id, graph, dependencies, NULL, count);
}

OLD(cudaStreamUpdateCaptureDependencies,
    (cudaStream_t stream, cudaGraphNode_t *dependencies, size_t count, unsigned int flags))
{
    return cudaStreamUpdateCaptureDependencies(stream, dependencies, NULL, count, flags);
}
OLD(cudaStreamUpdateCaptureDependencies_ptsz,
    (cudaStream_t stream, cudaGraphNode_t *dependencies, size_t count, unsigned int flags))
{
    return cudaStreamUpdateCaptureDependencies_ptsz(stream, dependencies, NULL, count, flags);
}

/* ---- Memory, whose place was a device's number ---- */

static struct cudaMemLocation place_of(int device)
{
    return (struct cudaMemLocation){.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost
                                                                      : cudaMemLocationTypeDevice,
                                    .id = device == cudaCpuDeviceId ? 0 : device};
}

OLD(cudaMemAdvise, (const void *pointer, size_t count, enum cudaMemoryAdvise advice, int device))
{
    return cudaMemAdvise(pointer, count, advice, place_of(device));
}

OLD(cudaMemPrefetchAsync, (const void *pointer, size_t count, int device, cudaStream_t stream))
{
    return cudaMemPrefetchAsync(pointer, count, place_of(device), 0, stream);
}
OLD(cudaMemPrefetchAsync_ptsz, (const void *pointer, size_t count, int device, cudaStream_t stream))
{
    return cudaMemPrefetchAsync_ptsz(pointer, count, place_of(device), 0, stream);
}

/* ---- Batches, which said where they failed ---- */

/* "SIZE_MAX if the error doesn't pertain to any specific copy". */
static cudaError_t failed_somewhere(cudaError_t error, size_t *failed)
{
    if (error != cudaSuccess && failed)
        *failed = SIZE_MAX;
    return error;
}

OLD(cudaMemcpyBatchAsync,
    (void **to, void **from, size_t *sizes, size_t count, struct cudaMemcpyAttributes *attributes,
     size_t *indices, size_t sets, size_t *failed, cudaStream_t stream))
{
    return failed_somewhere(cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from,
                                                 sizes, count, attributes, indices, sets, stream),
                            failed);
}
OLD(cudaMemcpyBatchAsync_ptsz,
    (void **to, void **from, size_t *sizes, size_t count, struct cudaMemcpyAttributes *attributes,
     size_t *indices, size_t sets, size_t *failed, cudaStream_t stream))
{
    return failed_somewhere(cudaMemcpyBatchAsync_ptsz((void *const *)to, (const void *const *)from,
                                                      sizes, count, attributes, indices, sets,
                                                      stream),
                            failed);
}

OLD(cudaMemcpy3DBatchAsync, (size_t count, struct cudaMemcpy3DBatchOp *list, size_t *failed,
                             unsigned long long flags, cudaStream_t stream))
{
    return failed_somewhere(cudaMemcpy3DBatchAsync(count, list, flags, stream), failed);
}
OLD(cudaMemcpy3DBatchAsync_ptsz, (size_t count, struct cudaMemcpy3DBatchOp *list, size_t *failed,
                                  unsigned long long flags, cudaStream_t stream))
{
    return failed_somewhere(cudaMemcpy3DBatchAsync_ptsz(count, list, flags, stream), failed);
}

/* ---- Other names of what there is ---- */

OLD(cudaEventElapsedTime_v2, (float *milliseconds, cudaEvent_t start, cudaEvent_t end))
{
    return cudaEventElapsedTime(milliseconds, start, end);
}

OLD(cudaThreadExit, (void))
{
    return cudaDeviceReset();
}
OLD(cudaThreadSynchronize, (void))
{
    return cudaDeviceSynchronize();
}
OLD(cudaThreadSetLimit, (enum cudaLimit limit, size_t value))
{
    return cudaDeviceSetLimit(limit, value);
}
OLD(cudaThreadGetLimit, (size_t * value, enum cudaLimit limit))
{
    return cudaDeviceGetLimit(value, limit);
}
OLD(cudaThreadGetCacheConfig, (enum cudaFuncCache * config))
{
    return cudaDeviceGetCacheConfig(config);
}
OLD(cudaThreadSetCacheConfig, (enum cudaFuncCache config))
{
    return cudaDeviceSetCacheConfig(config);
}

/* They have no effect on a device that computes in double precision. */
OLD(cudaSetDoubleForDevice, (double *number))
{
    (void)number;
    return cudaSuccess;
}
OLD(cudaSetDoubleForHost, (double *number))
{
    (void)number;
    return cudaSuccess;
}
