/* Graphs. CUDA Runtime API, "Graph Management". What the driver and the runtime describe alike goes
 * through as it is; kernels, copies and generic nodes are put into the driver's words. */
#include "runtime/device/cudart/runtime.h"

#include <string.h>

_Static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData) &&
                   sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(struct cudaHostNodeParams) &&
                   sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(struct cudaMemsetParams) &&
                   sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(struct cudaMemAllocNodeParams) &&
                   sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo) &&
                   sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams),
               "the driver and the runtime describe these alike");

/* An entry point that the driver has under another name. */
#define SAME(name, driver_name, parameters, ...)                                                   \
    API cudaError_t name parameters                                                                \
    {                                                                                              \
        ENTER();                                                                                   \
        return error_from(driver.driver_name[LEGACY](__VA_ARGS__));                                \
    }

SAME(cudaGraphCreate, cuGraphCreate, (cudaGraph_t * graph, unsigned int flags), graph, flags)
SAME(cudaGraphDestroy, cuGraphDestroy, (cudaGraph_t graph), graph)
SAME(cudaGraphClone, cuGraphClone, (cudaGraph_t * clone, cudaGraph_t original), clone, original)
SAME(cudaGraphNodeFindInClone, cuGraphNodeFindInClone,
     (cudaGraphNode_t * node, cudaGraphNode_t original, cudaGraph_t clone), node, original, clone)
SAME(cudaGraphNodeGetType, cuGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *type),
     node, (CUgraphNodeType *)type)
SAME(cudaGraphGetNodes, cuGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
     graph, nodes, count)
SAME(cudaGraphGetRootNodes, cuGraphGetRootNodes,
     (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count), graph, nodes, count)
SAME(cudaGraphGetEdges, cuGraphGetEdges,
     (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges,
      size_t *count),
     graph, from, to, (CUgraphEdgeData *)edges, count)
SAME(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies,
     (cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *edges, size_t *count), node,
     nodes, (CUgraphEdgeData *)edges, count)
SAME(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes,
     (cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *edges, size_t *count), node,
     nodes, (CUgraphEdgeData *)edges, count)
SAME(cudaGraphAddDependencies, cuGraphAddDependencies,
     (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
      const cudaGraphEdgeData *edges, size_t count),
     graph, from, to, (const CUgraphEdgeData *)edges, count)
SAME(cudaGraphRemoveDependencies, cuGraphRemoveDependencies,
     (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
      const cudaGraphEdgeData *edges, size_t count),
     graph, from, to, (const CUgraphEdgeData *)edges, count)
SAME(cudaGraphDestroyNode, cuGraphDestroyNode, (cudaGraphNode_t node), node)
SAME(cudaGraphDebugDotPrint, cuGraphDebugDotPrint,
     (cudaGraph_t graph, const char *path, unsigned int flags), graph, path, flags)
SAME(cudaGraphInstantiate, cuGraphInstantiateWithFlags,
     (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags), exec, graph, flags)
SAME(cudaGraphInstantiateWithFlags, cuGraphInstantiateWithFlags,
     (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags), exec, graph, flags)
SAME(cudaGraphExecDestroy, cuGraphExecDestroy, (cudaGraphExec_t exec), exec)
SAME(cudaGraphExecUpdate, cuGraphExecUpdate,
     (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info), exec, graph,
     (CUgraphExecUpdateResultInfo *)info)
SAME(cudaGraphAddEmptyNode, cuGraphAddEmptyNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count),
     node, graph, dependencies, count)
SAME(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
      cudaGraph_t child),
     node, graph, dependencies, count, child)
SAME(cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph,
     (cudaGraphNode_t node, cudaGraph_t *graph), node, graph)
SAME(cudaGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams,
     (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child), exec, node, child)
SAME(cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
      cudaEvent_t event),
     node, graph, dependencies, count, event)
SAME(cudaGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent,
     (cudaGraphNode_t node, cudaEvent_t *event), node, event)
SAME(cudaGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent,
     (cudaGraphNode_t node, cudaEvent_t event), node, event)
SAME(cudaGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent,
     (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event), exec, node, event)
SAME(cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
      cudaEvent_t event),
     node, graph, dependencies, count, event)
SAME(cudaGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent,
     (cudaGraphNode_t node, cudaEvent_t *event), node, event)
SAME(cudaGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent,
     (cudaGraphNode_t node, cudaEvent_t event), node, event)
SAME(cudaGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent,
     (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event), exec, node, event)
SAME(cudaGraphAddHostNode, cuGraphAddHostNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
      const struct cudaHostNodeParams *params),
     node, graph, dependencies, count, (const CUDA_HOST_NODE_PARAMS *)params)
SAME(cudaGraphHostNodeGetParams, cuGraphHostNodeGetParams,
     (cudaGraphNode_t node, struct cudaHostNodeParams *params), node,
     (CUDA_HOST_NODE_PARAMS *)params)
SAME(cudaGraphHostNodeSetParams, cuGraphHostNodeSetParams,
     (cudaGraphNode_t node, const struct cudaHostNodeParams *params), node,
     (const CUDA_HOST_NODE_PARAMS *)params)
SAME(cudaGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams,
     (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *params), exec,
     node, (const CUDA_HOST_NODE_PARAMS *)params)
SAME(cudaGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams,
     (cudaGraphNode_t node, struct cudaMemsetParams *params), node,
     (CUDA_MEMSET_NODE_PARAMS *)params)
SAME(cudaGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams,
     (cudaGraphNode_t node, const struct cudaMemsetParams *params), node,
     (const CUDA_MEMSET_NODE_PARAMS *)params)
SAME(cudaGraphAddMemAllocNode, cuGraphAddMemAllocNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
      struct cudaMemAllocNodeParams *params),
     node, graph, dependencies, count, (CUDA_MEM_ALLOC_NODE_PARAMS *)params)
SAME(cudaGraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams,
     (cudaGraphNode_t node, struct cudaMemAllocNodeParams *params), node,
     (CUDA_MEM_ALLOC_NODE_PARAMS *)params)
SAME(cudaGraphAddMemFreeNode, cuGraphAddMemFreeNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
      void *address),
     node, graph, dependencies, count, (CUdeviceptr)address)
SAME(cudaGraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams,
     (cudaGraphNode_t node, void *address), node, (CUdeviceptr *)address)
SAME(cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled,
     (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled), exec, node, enabled)
SAME(cudaGraphNodeGetEnabled, cuGraphNodeGetEnabled,
     (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *enabled), exec, node, enabled)
SAME(cudaGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes,
     (cudaGraphNode_t to, cudaGraphNode_t from), to, from)
SAME(cudaGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute,
     (cudaGraphNode_t node, cudaKernelNodeAttrID which, cudaKernelNodeAttrValue *value), node,
     (CUkernelNodeAttrID)which, (CUkernelNodeAttrValue *)value)
SAME(cudaGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute,
     (cudaGraphNode_t node, cudaKernelNodeAttrID which, const cudaKernelNodeAttrValue *value), node,
     (CUkernelNodeAttrID)which, (const CUkernelNodeAttrValue *)value)
SAME(cudaUserObjectCreate, cuUserObjectCreate,
     (cudaUserObject_t * object, void *pointer, cudaHostFn_t destroy, unsigned int references,
      unsigned int flags),
     object, pointer, destroy, references, flags)
SAME(cudaUserObjectRetain, cuUserObjectRetain, (cudaUserObject_t object, unsigned int count),
     object, count)
SAME(cudaUserObjectRelease, cuUserObjectRelease, (cudaUserObject_t object, unsigned int count),
     object, count)
SAME(cudaGraphRetainUserObject, cuGraphRetainUserObject,
     (cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags), graph,
     object, count, flags)
SAME(cudaGraphReleaseUserObject, cuGraphReleaseUserObject,
     (cudaGraph_t graph, cudaUserObject_t object, unsigned int count), graph, object, count)
SAME(cudaDeviceGraphMemTrim, cuDeviceGraphMemTrim, (int device), device)
SAME(cudaDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute,
     (int device, enum cudaGraphMemAttributeType attribute, void *value), device,
     (CUgraphMem_attribute)attribute, value)
SAME(cudaDeviceSetGraphMemAttribute, cuDeviceSetGraphMemAttribute,
     (int device, enum cudaGraphMemAttributeType attribute, void *value), device,
     (CUgraphMem_attribute)attribute, value)

static cudaError_t launch(enum flavor flavor, cudaGraphExec_t exec, cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuGraphLaunch[flavor](exec, stream));
}
BOTH(cudaGraphLaunch, _ptsz, launch, (cudaGraphExec_t exec, cudaStream_t stream), exec, stream)

static cudaError_t upload(enum flavor flavor, cudaGraphExec_t exec, cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuGraphUpload[flavor](exec, stream));
}
BOTH(cudaGraphUpload, _ptsz, upload, (cudaGraphExec_t exec, cudaStream_t stream), exec, stream)

static cudaError_t instantiate(enum flavor flavor, cudaGraphExec_t *exec, cudaGraph_t graph,
                               cudaGraphInstantiateParams *params)
{
    ENTER();
    return error_from(driver.cuGraphInstantiateWithParams[flavor](
        exec, graph, (CUDA_GRAPH_INSTANTIATE_PARAMS *)params));
}
BOTH(cudaGraphInstantiateWithParams, _ptsz, instantiate,
     (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *params), exec, graph,
     params)

API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    cuuint64_t found = 0;
    ENTER();
    CUresult result = driver.cuGraphExecGetFlags[LEGACY](exec, flags ? &found : NULL);
    if (result == CUDA_SUCCESS && flags)
        *flags = found;
    return error_from(result);
}

/* ---- Kernels ---- */

static cudaError_t kernel_of(const struct cudaKernelNodeParams *params,
                             CUDA_KERNEL_NODE_PARAMS *what)
{
    CUkernel kernel = NULL;
    ENTER();
    if (!params)
        return error_record(cudaErrorInvalidValue);
    cudaError_t error = registry_kernel(params->func, &kernel);
    if (error != cudaSuccess)
        return error;
    *what = (CUDA_KERNEL_NODE_PARAMS){.kern = kernel,
                                      .gridDimX = params->gridDim.x,
                                      .gridDimY = params->gridDim.y,
                                      .gridDimZ = params->gridDim.z,
                                      .blockDimX = params->blockDim.x,
                                      .blockDimY = params->blockDim.y,
                                      .blockDimZ = params->blockDim.z,
                                      .sharedMemBytes = params->sharedMemBytes,
                                      .kernelParams = params->kernelParams,
                                      .extra = params->extra};
    return cudaSuccess;
}

API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *dependencies, size_t count,
                                       const struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS what;
    cudaError_t error = kernel_of(params, &what);
    return error != cudaSuccess ? error
                                : error_from(driver.cuGraphAddKernelNode[LEGACY](
                                      node, graph, dependencies, count, &what));
}

/* The kernel comes back as a cudaKernel_t, which every launch function takes as well. */
API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                             struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS what;
    ENTER();
    CUresult result =
        params ? driver.cuGraphKernelNodeGetParams[LEGACY](node, &what) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *params = (struct cudaKernelNodeParams){
            .func = what.func ? (void *)what.func : (void *)what.kern,
            .gridDim = {what.gridDimX, what.gridDimY, what.gridDimZ},
            .blockDim = {what.blockDimX, what.blockDimY, what.blockDimZ},
            .sharedMemBytes = what.sharedMemBytes,
            .kernelParams = what.kernelParams,
            .extra = what.extra};
    return error_from(result);
}

API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS what;
    cudaError_t error = kernel_of(params, &what);
    return error != cudaSuccess
               ? error
               : error_from(driver.cuGraphKernelNodeSetParams[LEGACY](node, &what));
}

API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS what;
    cudaError_t error = kernel_of(params, &what);
    return error != cudaSuccess
               ? error
               : error_from(driver.cuGraphExecKernelNodeSetParams[LEGACY](exec, node, &what));
}

/* ---- Copies and sets ---- */

static cudaError_t add_copy(cudaGraphNode_t *node, cudaGraph_t graph,
                            const cudaGraphNode_t *dependencies, size_t count,
                            const CUDA_MEMCPY3D *what)
{
    CUcontext context = NULL;
    driver.cuCtxGetCurrent[LEGACY](&context);
    return error_from(
        driver.cuGraphAddMemcpyNode[LEGACY](node, graph, dependencies, count, what, context));
}

static cudaError_t set_copy(cudaGraphExec_t exec, cudaGraphNode_t node, const CUDA_MEMCPY3D *what)
{
    CUcontext context = NULL;
    if (!exec)
        return error_from(driver.cuGraphMemcpyNodeSetParams[LEGACY](node, what));
    driver.cuCtxGetCurrent[LEGACY](&context);
    return error_from(driver.cuGraphExecMemcpyNodeSetParams[LEGACY](exec, node, what, context));
}

static struct cudaMemcpy3DParms line(void *to, const void *from, size_t bytes,
                                     enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {(void *)from, bytes, bytes, 1},
                                      .dstPtr = {to, bytes, bytes, 1},
                                      .extent = {bytes, 1, 1},
                                      .kind = kind};
}

API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *dependencies, size_t count,
                                       const struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D what;
    cudaError_t error = copy_describe(params, &what);
    return error != cudaSuccess ? error : add_copy(node, graph, dependencies, count, &what);
}

API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D what;
    ENTER();
    CUresult result =
        params ? driver.cuGraphMemcpyNodeGetParams[LEGACY](node, &what) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return error_from(result);
    void *from =
        what.srcMemoryType == CU_MEMORYTYPE_HOST ? (void *)what.srcHost : (void *)what.srcDevice;
    void *to = what.dstMemoryType == CU_MEMORYTYPE_HOST ? what.dstHost : (void *)what.dstDevice;
    *params = (struct cudaMemcpy3DParms){
        .srcPtr = {from, what.srcPitch, what.WidthInBytes, what.srcHeight},
        .srcPos = {what.srcXInBytes, what.srcY, what.srcZ},
        .dstPtr = {to, what.dstPitch, what.WidthInBytes, what.dstHeight},
        .dstPos = {what.dstXInBytes, what.dstY, what.dstZ},
        .extent = {what.WidthInBytes, what.Height, what.Depth},
        .kind = cudaMemcpyDefault};
    return cudaSuccess;
}

API cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D what;
    cudaError_t error = copy_describe(params, &what);
    return error != cudaSuccess ? error : set_copy(NULL, node, &what);
}

API cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D what;
    if (!exec)
        return error_record(cudaErrorInvalidValue);
    cudaError_t error = copy_describe(params, &what);
    return error != cudaSuccess ? error : set_copy(exec, node, &what);
}

API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                         const cudaGraphNode_t *dependencies, size_t count,
                                         void *to, const void *from, size_t bytes,
                                         enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms params = line(to, from, bytes, kind);
    return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &params);
}

API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                               size_t bytes, enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms params = line(to, from, bytes, kind);
    return cudaGraphMemcpyNodeSetParams(node, &params);
}

API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                   void *to, const void *from, size_t bytes,
                                                   enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms params = line(to, from, bytes, kind);
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &params);
}

API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *dependencies, size_t count,
                                               const void *symbol, const void *from, size_t bytes,
                                               size_t offset, enum cudaMemcpyKind kind)
{
    void *to = NULL;
    cudaError_t error = copy_part_of(symbol, bytes, offset, &to);
    return error != cudaSuccess
               ? error
               : cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, to, from, bytes, kind);
}

API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                 const cudaGraphNode_t *dependencies, size_t count,
                                                 void *to, const void *symbol, size_t bytes,
                                                 size_t offset, enum cudaMemcpyKind kind)
{
    void *from = NULL;
    cudaError_t error = copy_part_of(symbol, bytes, offset, &from);
    return error != cudaSuccess
               ? error
               : cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, to, from, bytes, kind);
}

API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                     const void *from, size_t bytes, size_t offset,
                                                     enum cudaMemcpyKind kind)
{
    void *to = NULL;
    cudaError_t error = copy_part_of(symbol, bytes, offset, &to);
    return error != cudaSuccess ? error
                                : cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}

API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                       const void *symbol, size_t bytes,
                                                       size_t offset, enum cudaMemcpyKind kind)
{
    void *from = NULL;
    cudaError_t error = copy_part_of(symbol, bytes, offset, &from);
    return error != cudaSuccess ? error
                                : cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}

API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                         const void *symbol, const void *from,
                                                         size_t bytes, size_t offset,
                                                         enum cudaMemcpyKind kind)
{
    void *to = NULL;
    cudaError_t error = copy_part_of(symbol, bytes, offset, &to);
    return error != cudaSuccess
               ? error
               : cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind);
}

API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec,
                                                           cudaGraphNode_t node, void *to,
                                                           const void *symbol, size_t bytes,
                                                           size_t offset, enum cudaMemcpyKind kind)
{
    void *from = NULL;
    cudaError_t error = copy_part_of(symbol, bytes, offset, &from);
    return error != cudaSuccess
               ? error
               : cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind);
}

API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *dependencies, size_t count,
                                       const struct cudaMemsetParams *params)
{
    CUcontext context = NULL;
    ENTER();
    driver.cuCtxGetCurrent[LEGACY](&context);
    return error_from(driver.cuGraphAddMemsetNode[LEGACY](
        node, graph, dependencies, count, (const CUDA_MEMSET_NODE_PARAMS *)params, context));
}

API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 const struct cudaMemsetParams *params)
{
    CUcontext context = NULL;
    ENTER();
    driver.cuCtxGetCurrent[LEGACY](&context);
    return error_from(driver.cuGraphExecMemsetNodeSetParams[LEGACY](
        exec, node, (const CUDA_MEMSET_NODE_PARAMS *)params, context));
}

/* ---- Nodes of any kind ---- */

static cudaError_t node_of(const struct cudaGraphNodeParams *params, CUgraphNodeParams *what)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    cudaError_t error = cudaSuccess;
    ENTER();
    if (!params)
        return error_record(cudaErrorInvalidValue);
    _Static_assert(sizeof *params == sizeof *what, "and so is the union, but for two members");
    memcpy(what, params, sizeof *what);
    if (params->type == cudaGraphNodeTypeKernel) {
        struct cudaKernelNodeParams old = {.func = params->kernel.func,
                                           .gridDim = params->kernel.gridDim,
                                           .blockDim = params->kernel.blockDim,
                                           .sharedMemBytes = params->kernel.sharedMemBytes,
                                           .kernelParams = params->kernel.kernelParams,
                                           .extra = params->kernel.extra};
        error = kernel_of(&old, &kernel);
        if (error == cudaSuccess)
            memcpy(&what->kernel, &kernel, sizeof kernel);
    } else if (params->type == cudaGraphNodeTypeMemcpy) {
        what->memcpy = (CUDA_MEMCPY_NODE_PARAMS){0};
        error = copy_describe(&params->memcpy.copyParams, &what->memcpy.copyParams);
    }
    return error;
}

API cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *dependencies,
                                 const cudaGraphEdgeData *edges, size_t count,
                                 struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams what;
    cudaError_t error = node_of(params, &what);
    if (error != cudaSuccess)
        return error;
    CUresult result = driver.cuGraphAddNode[LEGACY](node, graph, dependencies,
                                                    (const CUgraphEdgeData *)edges, count, &what);
    if (result == CUDA_SUCCESS && params->type == cudaGraphNodeTypeMemAlloc)
        params->alloc.dptr = (void *)what.alloc.dptr;
    if (result == CUDA_SUCCESS && params->type == cudaGraphNodeTypeGraph)
        params->graph.graph = what.graph.graph;
    return error_from(result);
}

API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams what;
    cudaError_t error = node_of(params, &what);
    return error != cudaSuccess ? error
                                : error_from(driver.cuGraphNodeSetParams[LEGACY](node, &what));
}

API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams what;
    cudaError_t error = node_of(params, &what);
    return error != cudaSuccess
               ? error
               : error_from(driver.cuGraphExecNodeSetParams[LEGACY](exec, node, &what));
}
