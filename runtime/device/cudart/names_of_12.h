/* Functions that CUDA 12's runtime library calls by another name than CUDA 13's. In CUDA 13 the
 * newest form of each has the plain name, which in CUDA 12 belongs to an older form (twelve.c).
 * Include it before CUDA 13's headers, so that their declarations are renamed with the functions.
 *
 * Source: "Deprecated List" and the prototypes of CUDA Runtime API 12.9 and 13.0. */
#ifndef RUNTIME_DEVICE_CUDART_NAMES_OF_12_H
#define RUNTIME_DEVICE_CUDART_NAMES_OF_12_H

#define cudaGetDeviceProperties                  cudaGetDeviceProperties_v2
#define cudaGraphAddDependencies                 cudaGraphAddDependencies_v2
#define cudaGraphAddNode                         cudaGraphAddNode_v2
#define cudaGraphGetEdges                        cudaGraphGetEdges_v2
#define cudaGraphNodeGetDependencies             cudaGraphNodeGetDependencies_v2
#define cudaGraphNodeGetDependentNodes           cudaGraphNodeGetDependentNodes_v2
#define cudaGraphRemoveDependencies              cudaGraphRemoveDependencies_v2
#define cudaMemAdvise                            cudaMemAdvise_v2
#define cudaMemPrefetchAsync                     cudaMemPrefetchAsync_v2
#define cudaMemPrefetchAsync_ptsz                cudaMemPrefetchAsync_v2_ptsz
#define cudaSignalExternalSemaphoresAsync        cudaSignalExternalSemaphoresAsync_v2
#define cudaSignalExternalSemaphoresAsync_ptsz   cudaSignalExternalSemaphoresAsync_v2_ptsz
#define cudaStreamGetCaptureInfo                 cudaStreamGetCaptureInfo_v3
#define cudaStreamGetCaptureInfo_ptsz            cudaStreamGetCaptureInfo_v3_ptsz
#define cudaStreamUpdateCaptureDependencies      cudaStreamUpdateCaptureDependencies_v2
#define cudaStreamUpdateCaptureDependencies_ptsz cudaStreamUpdateCaptureDependencies_v2_ptsz
#define cudaWaitExternalSemaphoresAsync          cudaWaitExternalSemaphoresAsync_v2
#define cudaWaitExternalSemaphoresAsync_ptsz     cudaWaitExternalSemaphoresAsync_v2_ptsz

/* CUDA 12 has no other form of these. The version script keeps these names in the library. */
#define cudaMemcpyBatchAsync        batch_of_13
#define cudaMemcpyBatchAsync_ptsz   batch_of_13_ptsz
#define cudaMemcpy3DBatchAsync      batch_3d_of_13
#define cudaMemcpy3DBatchAsync_ptsz batch_3d_of_13_ptsz

#endif
