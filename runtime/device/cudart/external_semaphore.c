/* Semaphores of other interfaces. CUDA Runtime API, "External Resource Interoperability". */
#include "runtime/device/cudart/runtime.h"

_Static_assert(sizeof(struct cudaExternalSemaphoreSignalParams) ==
                       sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS) &&
                   sizeof(struct cudaExternalSemaphoreWaitParams) ==
                       sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS),
               "the same bytes");

API cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t *extSem_out,
                                            const struct cudaExternalSemaphoreHandleDesc *desc)
{
    ENTER();
    if (!desc)
        return error_from(CUDA_ERROR_INVALID_VALUE);
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC same = {.type =
                                                          (CUexternalSemaphoreHandleType)desc->type,
                                                      .handle.fd = desc->handle.fd,
                                                      .flags = desc->flags};
    return error_from(
        driver.cuImportExternalSemaphore[0]((CUexternalSemaphore *)extSem_out, &same));
}

API cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t extSem)
{
    ENTER();
    return error_from(driver.cuDestroyExternalSemaphore[0]((CUexternalSemaphore)extSem));
}

static cudaError_t signal_all(enum flavor flavor, const cudaExternalSemaphore_t *semaphores,
                              const struct cudaExternalSemaphoreSignalParams *params,
                              unsigned int count, cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuSignalExternalSemaphoresAsync[flavor](
        (const CUexternalSemaphore *)semaphores,
        (const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *)params, count, stream));
}
BOTH(cudaSignalExternalSemaphoresAsync, _ptsz, signal_all,
     (const cudaExternalSemaphore_t *semaphores,
      const struct cudaExternalSemaphoreSignalParams *params, unsigned int count,
      cudaStream_t stream),
     semaphores, params, count, stream)

static cudaError_t wait_for_all(enum flavor flavor, const cudaExternalSemaphore_t *semaphores,
                                const struct cudaExternalSemaphoreWaitParams *params,
                                unsigned int count, cudaStream_t stream)
{
    ENTER();
    return error_from(driver.cuWaitExternalSemaphoresAsync[flavor](
        (const CUexternalSemaphore *)semaphores,
        (const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *)params, count, stream));
}
BOTH(cudaWaitExternalSemaphoresAsync, _ptsz, wait_for_all,
     (const cudaExternalSemaphore_t *semaphores,
      const struct cudaExternalSemaphoreWaitParams *params, unsigned int count,
      cudaStream_t stream),
     semaphores, params, count, stream)

/* ---- Nodes of graphs --------------------------------------------------------------------------
 */

_Static_assert(sizeof(struct cudaExternalSemaphoreSignalNodeParams) ==
                       sizeof(CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1) &&
                   sizeof(struct cudaExternalSemaphoreWaitNodeParams) ==
                       sizeof(CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1),
               "the same bytes");

#define NODES(kind, given, same)                                                                   \
    API cudaError_t cudaGraphAddExternalSemaphores##kind##Node(                                    \
        cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,             \
        size_t count, const struct given *params)                                                  \
    {                                                                                              \
        ENTER();                                                                                   \
        return error_from(driver.cuGraphAddExternalSemaphores##kind##Node[0](                      \
            node, graph, dependencies, count, (const same *)params));                              \
    }                                                                                              \
    API cudaError_t cudaGraphExternalSemaphores##kind##NodeGetParams(cudaGraphNode_t node,         \
                                                                     struct given *params)         \
    {                                                                                              \
        ENTER();                                                                                   \
        return error_from(                                                                         \
            driver.cuGraphExternalSemaphores##kind##NodeGetParams[0](node, (same *)params));       \
    }                                                                                              \
    API cudaError_t cudaGraphExternalSemaphores##kind##NodeSetParams(cudaGraphNode_t node,         \
                                                                     const struct given *params)   \
    {                                                                                              \
        ENTER();                                                                                   \
        return error_from(                                                                         \
            driver.cuGraphExternalSemaphores##kind##NodeSetParams[0](node, (const same *)params)); \
    }                                                                                              \
    API cudaError_t cudaGraphExecExternalSemaphores##kind##NodeSetParams(                          \
        cudaGraphExec_t exec, cudaGraphNode_t node, const struct given *params)                    \
    {                                                                                              \
        ENTER();                                                                                   \
        return error_from(driver.cuGraphExecExternalSemaphores##kind##NodeSetParams[0](            \
            exec, node, (const same *)params));                                                    \
    }
NODES(Signal, cudaExternalSemaphoreSignalNodeParams, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1)
NODES(Wait, cudaExternalSemaphoreWaitNodeParams, CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1)
