/* Graphs. CUDA Runtime API, "Graph Management". What the driver and the runtime describe alike is
 * passed on as it is. Kernels, copies and generic nodes are translated into the driver's
 * structures. */
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

/* Nodes of a kind that both describe alike: adding one, asking what it does, and changing that in a
 * graph or in an exec. `driver_type` is what the driver calls the parameters' type. */
#define ADDS(kind, type, driver_type)                                                              \
    SAME(cudaGraphAdd##kind##Node, cuGraphAdd##kind##Node,                                         \
         (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,          \
          size_t count, type what),                                                                \
         node, graph, dependencies, count, (driver_type)what)
#define GETS(kind, part, type, driver_type)                                                        \
    SAME(cudaGraph##kind##NodeGet##part, cuGraph##kind##NodeGet##part,                             \
         (cudaGraphNode_t node, type what), node, (driver_type)what)
#define SETS(kind, part, type, driver_type)                                                        \
    SAME(cudaGraph##kind##NodeSet##part, cuGraph##kind##NodeSet##part,                             \
         (cudaGraphNode_t node, type what), node, (driver_type)what)
#define SETS_IN_EXEC(kind, part, type, driver_type)                                                \
    SAME(cudaGraphExec##kind##NodeSet##part, cuGraphExec##kind##NodeSet##part,                     \
         (cudaGraphExec_t exec, cudaGraphNode_t node, type what), exec, node, (driver_type)what)

ADDS(ChildGraph, cudaGraph_t, CUgraph)
GETS(ChildGraph, Graph, cudaGraph_t *, CUgraph *)
SETS_IN_EXEC(ChildGraph, Params, cudaGraph_t, CUgraph)
ADDS(EventRecord, cudaEvent_t, CUevent)
GETS(EventRecord, Event, cudaEvent_t *, CUevent *)
SETS(EventRecord, Event, cudaEvent_t, CUevent)
SETS_IN_EXEC(EventRecord, Event, cudaEvent_t, CUevent)
ADDS(EventWait, cudaEvent_t, CUevent)
GETS(EventWait, Event, cudaEvent_t *, CUevent *)
SETS(EventWait, Event, cudaEvent_t, CUevent)
SETS_IN_EXEC(EventWait, Event, cudaEvent_t, CUevent)
ADDS(Host, const struct cudaHostNodeParams *, const CUDA_HOST_NODE_PARAMS *)
GETS(Host, Params, struct cudaHostNodeParams *, CUDA_HOST_NODE_PARAMS *)
SETS(Host, Params, const struct cudaHostNodeParams *, const CUDA_HOST_NODE_PARAMS *)
SETS_IN_EXEC(Host, Params, const struct cudaHostNodeParams *, const CUDA_HOST_NODE_PARAMS *)
GETS(Memset, Params, struct cudaMemsetParams *, CUDA_MEMSET_NODE_PARAMS *)
SETS(Memset, Params, const struct cudaMemsetParams *, const CUDA_MEMSET_NODE_PARAMS *)
ADDS(MemAlloc, struct cudaMemAllocNodeParams *, CUDA_MEM_ALLOC_NODE_PARAMS *)
GETS(MemAlloc, Params, struct cudaMemAllocNodeParams *, CUDA_MEM_ALLOC_NODE_PARAMS *)
ADDS(MemFree, void *, CUdeviceptr)
GETS(MemFree, Params, void *, CUdeviceptr *)

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

/* An entry point whose parameters are put into the driver's words first. */
#define DESCRIBED(name, parameters, driver_type, describe, call)                                   \
    API cudaError_t name parameters                                                                \
    {                                                                                              \
        driver_type what;                                                                          \
        cudaError_t error = describe(params, &what);                                               \
        return error != cudaSuccess ? error : error_from(call);                                    \
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

DESCRIBED(cudaGraphAddKernelNode,
          (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
           size_t count, const struct cudaKernelNodeParams *params),
          CUDA_KERNEL_NODE_PARAMS, kernel_of,
          driver.cuGraphAddKernelNode[LEGACY](node, graph, dependencies, count, &what))
DESCRIBED(cudaGraphKernelNodeSetParams,
          (cudaGraphNode_t node, const struct cudaKernelNodeParams *params),
          CUDA_KERNEL_NODE_PARAMS, kernel_of,
          driver.cuGraphKernelNodeSetParams[LEGACY](node, &what))
DESCRIBED(cudaGraphExecKernelNodeSetParams,
          (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *params),
          CUDA_KERNEL_NODE_PARAMS, kernel_of,
          driver.cuGraphExecKernelNodeSetParams[LEGACY](exec, node, &what))

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

/* ---- Copies and sets ---- */

static CUcontext current_context(void)
{
    CUcontext context = NULL;
    driver.cuCtxGetCurrent[LEGACY](&context);
    return context;
}

static struct cudaMemcpy3DParms line(void *to, const void *from, size_t bytes,
                                     enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {(void *)from, bytes, bytes, 1},
                                      .dstPtr = {to, bytes, bytes, 1},
                                      .extent = {bytes, 1, 1},
                                      .kind = kind};
}

DESCRIBED(cudaGraphAddMemcpyNode,
          (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
           size_t count, const struct cudaMemcpy3DParms *params),
          CUDA_MEMCPY3D, copy_describe,
          driver.cuGraphAddMemcpyNode[LEGACY](node, graph, dependencies, count, &what,
                                              current_context()))
DESCRIBED(cudaGraphMemcpyNodeSetParams,
          (cudaGraphNode_t node, const struct cudaMemcpy3DParms *params), CUDA_MEMCPY3D,
          copy_describe, driver.cuGraphMemcpyNodeSetParams[LEGACY](node, &what))
DESCRIBED(cudaGraphExecMemcpyNodeSetParams,
          (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemcpy3DParms *params),
          CUDA_MEMCPY3D, copy_describe,
          driver.cuGraphExecMemcpyNodeSetParams[LEGACY](exec, node, &what, current_context()))

API cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D what;
    ENTER();
    CUresult result =
        params ? driver.cuGraphMemcpyNodeGetParams[LEGACY](node, &what) : CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? copy_parameters(&what, params) : error_from(result);
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

/* An entry point that copies to or from memory `offset` bytes into a symbol: `there`. */
#define OF_SYMBOL(name, parameters, call)                                                          \
    API cudaError_t name parameters                                                                \
    {                                                                                              \
        void *there = NULL;                                                                        \
        cudaError_t error = copy_part_of(symbol, bytes, offset, &there);                           \
        return error != cudaSuccess ? error : call;                                                \
    }

OF_SYMBOL(cudaGraphAddMemcpyNodeToSymbol,
          (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
           size_t count, const void *symbol, const void *from, size_t bytes, size_t offset,
           enum cudaMemcpyKind kind),
          cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, there, from, bytes, kind))
OF_SYMBOL(cudaGraphAddMemcpyNodeFromSymbol,
          (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
           size_t count, void *to, const void *symbol, size_t bytes, size_t offset,
           enum cudaMemcpyKind kind),
          cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, to, there, bytes, kind))
OF_SYMBOL(cudaGraphMemcpyNodeSetParamsToSymbol,
          (cudaGraphNode_t node, const void *symbol, const void *from, size_t bytes, size_t offset,
           enum cudaMemcpyKind kind),
          cudaGraphMemcpyNodeSetParams1D(node, there, from, bytes, kind))
OF_SYMBOL(cudaGraphMemcpyNodeSetParamsFromSymbol,
          (cudaGraphNode_t node, void *to, const void *symbol, size_t bytes, size_t offset,
           enum cudaMemcpyKind kind),
          cudaGraphMemcpyNodeSetParams1D(node, to, there, bytes, kind))
OF_SYMBOL(cudaGraphExecMemcpyNodeSetParamsToSymbol,
          (cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol, const void *from,
           size_t bytes, size_t offset, enum cudaMemcpyKind kind),
          cudaGraphExecMemcpyNodeSetParams1D(exec, node, there, from, bytes, kind))
OF_SYMBOL(cudaGraphExecMemcpyNodeSetParamsFromSymbol,
          (cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *symbol, size_t bytes,
           size_t offset, enum cudaMemcpyKind kind),
          cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, there, bytes, kind))

SAME(cudaGraphAddMemsetNode, cuGraphAddMemsetNode,
     (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
      const struct cudaMemsetParams *params),
     node, graph, dependencies, count, (const CUDA_MEMSET_NODE_PARAMS *)params, current_context())
SAME(cudaGraphExecMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams,
     (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *params), exec,
     node, (const CUDA_MEMSET_NODE_PARAMS *)params, current_context())

SAME(cudaGraphConditionalHandleCreate, cuGraphConditionalHandleCreate,
     (cudaGraphConditionalHandle * handle, cudaGraph_t graph, unsigned int defaultLaunchValue,
      unsigned int flags),
     (CUgraphConditionalHandle *)handle, graph, current_context(), defaultLaunchValue, flags)

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
    if (result == CUDA_SUCCESS && params->type == cudaGraphNodeTypeConditional)
        params->conditional.phGraph_out = what.conditional.phGraph_out;
    return error_from(result);
}

DESCRIBED(cudaGraphNodeSetParams, (cudaGraphNode_t node, struct cudaGraphNodeParams *params),
          CUgraphNodeParams, node_of, driver.cuGraphNodeSetParams[LEGACY](node, &what))
DESCRIBED(cudaGraphExecNodeSetParams,
          (cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *params),
          CUgraphNodeParams, node_of, driver.cuGraphExecNodeSetParams[LEGACY](exec, node, &what))
