/* Functions of the driver API that came after CUDA 13.0, for a build with the headers of 13.0.
 *
 * newer.table beside this names all of them. Here are the types of those that csan's hooks follow
 * and that the embedded device has. A toolkit that declares them itself is left to do so. Each
 * block names the version of CUDA that has it. */
#ifndef RUNTIME_CUDA_NEWER_H
#define RUNTIME_CUDA_NEWER_H

#include <cuda.h>
#include <cudaTypedefs.h>

/* Types of nodes (CUgraphNodeType) and their parameters, in CUgraphNodeParams after `reserved0`. */
enum { NEWER_NODE_COPY_BATCH = 14, NEWER_NODE_FABRIC_COPY_BATCH = 18 };

#if CUDA_VERSION < 13010
typedef CUresult(CUDAAPI *PFN_cuLaunchHostFunc_v13010)(CUstream hStream, CUhostFn fn,
                                                       void *userData, unsigned int syncMode);
typedef CUresult(CUDAAPI *PFN_cuLaunchHostFunc_v13010_ptsz)(CUstream hStream, CUhostFn fn,
                                                            void *userData, unsigned int syncMode);
CUresult CUDAAPI cuLaunchHostFunc_v2(CUstream hStream, CUhostFn fn, void *userData,
                                     unsigned int syncMode);
CUresult CUDAAPI cuLaunchHostFunc_v2_ptsz(CUstream hStream, CUhostFn fn, void *userData,
                                          unsigned int syncMode);
#endif

#if CUDA_VERSION < 13020
typedef CUresult(CUDAAPI *PFN_cuMemcpyWithAttributesAsync_v13020)(CUdeviceptr_v2 dst,
                                                                  CUdeviceptr_v2 src, size_t size,
                                                                  CUmemcpyAttributes_v1 *attr,
                                                                  CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuMemcpyWithAttributesAsync_v13020_ptsz)(CUdeviceptr_v2 dst,
                                                                       CUdeviceptr_v2 src,
                                                                       size_t size,
                                                                       CUmemcpyAttributes_v1 *attr,
                                                                       CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuMemcpy3DWithAttributesAsync_v13020)(CUDA_MEMCPY3D_BATCH_OP_v1 *op,
                                                                    unsigned long long flags,
                                                                    CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuMemcpy3DWithAttributesAsync_v13020_ptsz)(
    CUDA_MEMCPY3D_BATCH_OP_v1 *op, unsigned long long flags, CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuGraphNodeGetParams_v13020)(CUgraphNode hNode,
                                                           CUgraphNodeParams *nodeParams);
CUresult CUDAAPI cuGraphNodeGetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams);
CUresult CUDAAPI cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size,
                                             CUmemcpyAttributes *attr, CUstream hStream);
CUresult CUDAAPI cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t size,
                                                  CUmemcpyAttributes *attr, CUstream hStream);
CUresult CUDAAPI cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags,
                                               CUstream hStream);
CUresult CUDAAPI cuMemcpy3DWithAttributesAsync_ptsz(CUDA_MEMCPY3D_BATCH_OP *op,
                                                    unsigned long long flags, CUstream hStream);
#endif

#if CUDA_VERSION < 13040
typedef CUresult(CUDAAPI *PFN_cuGraphAddNode_v13040)(CUgraphNode *phGraphNode, CUgraph hGraph,
                                                     const CUgraphNode *dependencies,
                                                     const CUgraphEdgeData *dependencyData,
                                                     size_t numDependencies,
                                                     CUgraphNodeParams *nodeParams);
typedef CUresult(CUDAAPI *PFN_cuGraphNodeSetParams_v13040)(CUgraphNode hNode,
                                                           CUgraphNodeParams *nodeParams);
CUresult CUDAAPI cuGraphAddNode_v3(CUgraphNode *phGraphNode, CUgraph hGraph,
                                   const CUgraphNode *dependencies,
                                   const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                   CUgraphNodeParams *nodeParams);
CUresult CUDAAPI cuGraphNodeSetParams_v2(CUgraphNode hNode, CUgraphNodeParams *nodeParams);
#endif

#if CUDA_VERSION < 13050
typedef unsigned int CUtensorMapAllocClass;
typedef CUresult(CUDAAPI *PFN_cuTensorMapSetAllocationClass_v13050)(
    CUtensorMap *tensorMap, CUtensorMapAllocClass allocClass, CUtensorMapAllocClass *outAllocClass);
enum { CU_FABRIC_COPY_OPERAND_TYPE_POINTER = 1, CU_FABRIC_COPY_OPERAND_TYPE_LOGICAL_ENDPOINT = 2 };
/* One side of a copy over a fabric: memory, or a place in an endpoint of another machine. */
typedef struct CUfabricCpyOperand_st {
    unsigned int type; /* CU_FABRIC_COPY_OPERAND_TYPE_... */
    union {
        struct {
            CUdeviceptr_v2 ptr;
            CUmemLocation_v1 locHint;
        } ptr;
        struct {
            cuuint32_t id;
            cuuint64_t offset; /* bytes */
        } le;
    } op;
} CUfabricCpyOperand;
typedef struct CUDA_FABRIC_COPY_BATCH_OP_st {
    CUfabricCpyOperand src, dst;
    size_t size; /* bytes; 0: no copy */
    unsigned int flags;
} CUDA_FABRIC_COPY_BATCH_OP_v1, CUDA_FABRIC_COPY_BATCH_OP;
typedef CUresult(CUDAAPI *PFN_cuFabricCpyBatchAsync_v13050)(size_t numOps,
                                                            CUDA_FABRIC_COPY_BATCH_OP_v1 *opList,
                                                            unsigned long long flags,
                                                            CUstream hStream);
typedef CUresult(CUDAAPI *PFN_cuFabricCpyBatchAsync_v13050_ptsz)(
    size_t numOps, CUDA_FABRIC_COPY_BATCH_OP_v1 *opList, unsigned long long flags,
    CUstream hStream);
CUresult CUDAAPI cuFabricCpyBatchAsync(size_t numOps, CUDA_FABRIC_COPY_BATCH_OP *opList,
                                       unsigned long long flags, CUstream hStream);
CUresult CUDAAPI cuFabricCpyBatchAsync_ptsz(size_t numOps, CUDA_FABRIC_COPY_BATCH_OP *opList,
                                            unsigned long long flags, CUstream hStream);
#endif

/* The parameters of nodes that copy in batches, as CUgraphNodeParams has them. */
struct newer_copy_batch_params {
    size_t count;
    CUdeviceptr_v2 *targets, *sources;
    size_t *sizes; /* bytes; 0: no copy */
};
struct newer_fabric_copy_params {
    size_t count;
    CUDA_FABRIC_COPY_BATCH_OP *list;
};

#endif
