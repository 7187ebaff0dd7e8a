// The part of nccl.h that the programs and the stand-in for NCCL use: many toolkits come without.
#pragma once

#include <cstddef>
#include <cuda_runtime.h>

extern "C" {
typedef struct ncclComm *ncclComm_t;
typedef enum { ncclSuccess = 0, ncclInvalidArgument = 4, ncclInvalidUsage = 5 } ncclResult_t;
typedef enum { ncclInt32 = 2, ncclFloat32 = 7 } ncclDataType_t;
typedef enum { ncclSum = 0 } ncclRedOp_t;

typedef struct {
    char internal[128];
} ncclUniqueId;

typedef struct ncclWindow_vidmem *ncclWindow_t;
typedef struct {
    int opCnt, peer, sigIdx, ctx;
} ncclWaitSignalDesc_t;

ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int count, ncclUniqueId id, int rank);
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *made, void *config);
ncclResult_t ncclCommInitAll(ncclComm_t *comm, int count, const int *devices);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommCount(const ncclComm_t comm, int *count);
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank);
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count,
                           ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream);
ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount,
                           ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count,
                           ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclReduce(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclSend(const void *sendbuff, size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclRecv(void *recvbuff, size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream);

ncclResult_t ncclMemAlloc(void **ptr, size_t size);
ncclResult_t ncclMemFree(void *ptr);

// Since NCCL 2.29; the windows since 2.27. A program says what it does without them.
#define SINCE_2_29 __attribute__((weak))
SINCE_2_29 ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *buff, size_t size,
                                               ncclWindow_t *win, int winFlags);
SINCE_2_29 ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win);
SINCE_2_29 ncclResult_t ncclGetPeerDevicePointer(ncclWindow_t window, size_t offset, int peer,
                                                 void **outPtr);
SINCE_2_29 ncclResult_t ncclPutSignal(const void *localbuff, size_t count, ncclDataType_t datatype,
                                      int peer, ncclWindow_t peerWin, size_t peerWinOffset,
                                      int sigIdx, int ctx, unsigned int flags, ncclComm_t comm,
                                      cudaStream_t stream);
SINCE_2_29 ncclResult_t ncclSignal(int peer, int sigIdx, int ctx, unsigned int flags,
                                   ncclComm_t comm, cudaStream_t stream);
SINCE_2_29 ncclResult_t ncclWaitSignal(int nDesc, ncclWaitSignalDesc_t *signalDescs,
                                       ncclComm_t comm, cudaStream_t stream);
}
