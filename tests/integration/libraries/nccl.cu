// A stand-in for libnccl.so.2 on the embedded device: ranks that do not talk to each other, each
// with kernels that touch what the real ones do. Elements have four bytes.
#include "blind.h"
#include "nccl_calls.h"

#include <vector>

struct ncclComm {
    int rank, count, device;
};

struct Work {
    const int *from;
    int *to;
    size_t count;
    cudaStream_t stream;
};
static thread_local int depth;
static thread_local bool invalid;
static thread_local std::vector<Work> waiting;

__global__ void move(const int *from, int *to, size_t count)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < count)
        *blind(to, (int64_t)i) = *blind(from, (int64_t)i);
}

// Like the library: at the end of the outermost group, and nothing of a group with an invalid call.
static ncclResult_t end()
{
    if (--depth > 0)
        return ncclSuccess;
    ncclResult_t result = invalid ? ncclInvalidUsage : ncclSuccess;
    for (const Work &work : waiting)
        if (!invalid && work.count)
            move<<<blocks_for((int64_t)work.count), 128, 0, work.stream>>>(work.from, work.to,
                                                                           work.count);
    waiting.clear();
    invalid = false;
    return result;
}

static ncclResult_t enqueue(const void *from, void *to, size_t count, ncclDataType_t datatype,
                            cudaStream_t stream)
{
    if (datatype > ncclFloat32) {
        invalid = depth > 0;
        return ncclInvalidArgument;
    }
    depth++;
    if (from != to)
        waiting.push_back(Work{(const int *)from, (int *)to, count, stream});
    return end();
}

extern "C" {
ncclResult_t ncclCommInitAll(ncclComm_t *comm, int count, const int *devices)
{
    for (int i = 0; i < count; i++)
        comm[i] = new ncclComm{i, count, devices ? devices[i] : i};
    return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    delete comm;
    return ncclSuccess;
}
ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
    *count = comm->count;
    return ncclSuccess;
}
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
    *rank = comm->rank;
    return ncclSuccess;
}
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device)
{
    *device = comm->device;
    return ncclSuccess;
}
ncclResult_t ncclGroupStart()
{
    depth++;
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd()
{
    return depth ? end() : ncclInvalidUsage;
}
ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count,
                           ncclDataType_t datatype, ncclRedOp_t, ncclComm_t, cudaStream_t stream)
{
    return enqueue(sendbuff, recvbuff, count, datatype, stream);
}
ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount,
                           ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream)
{
    int *to = (int *)recvbuff;
    for (int i = 0; i < comm->count; i++)
        enqueue(sendbuff, to + i * sendcount, sendcount, datatype, stream);
    return ncclSuccess;
}
ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count,
                           ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream)
{
    return enqueue(comm->rank == root ? sendbuff : recvbuff, recvbuff, count, datatype, stream);
}
}
