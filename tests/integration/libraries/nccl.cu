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

struct Batch {
    Work works[8];
};

__global__ void move(Batch batch)
{
    const Work &work = batch.works[blockIdx.x];
    for (size_t i = threadIdx.x; i < work.count; i += blockDim.x)
        *blind(work.to, (int64_t)i) = *blind(work.from, (int64_t)i);
}

// What `stream` does from now on comes after what `other` has been given.
static void wait_for(cudaStream_t stream, cudaStream_t other)
{
    cudaEvent_t event;
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaEventRecord(event, other);
    cudaStreamWaitEvent(stream, event, 0);
    cudaEventDestroy(event);
}

// One kernel for all, on the stream of the first.
static void launch()
{
    Batch batch = {};
    int count = 0;
    cudaStream_t stream = waiting[0].stream;
    for (const Work &work : waiting) {
        if (count < 8)
            batch.works[count++] = work;
        if (work.stream != stream)
            wait_for(stream, work.stream);
    }
    move<<<count, 64, 0, stream>>>(batch);
    for (const Work &work : waiting)
        if (work.stream != stream)
            wait_for(work.stream, stream);
}

// Like the library: at the end of the outermost group, and nothing of a group with an invalid call.
static ncclResult_t end()
{
    if (--depth > 0)
        return ncclSuccess;
    ncclResult_t result = invalid ? ncclInvalidUsage : ncclSuccess;
    if (!invalid && !waiting.empty())
        launch();
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
