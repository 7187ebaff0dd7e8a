// A stand-in for libnccl.so.2 on the embedded device: ranks that do not talk to each other, each
// with kernels that touch what the real ones do. Elements have four bytes.
#include "blind.h"
#include "nccl_calls.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <map>
#include <vector>

struct ncclComm {
    int rank, count, device;
};

struct Work {
    const int *from;
    int *to;
    size_t count;
    cudaStream_t stream;
    int device;
};

// Of a rank: `there` stands for the memory of all others.
struct Window {
    ncclWindow_t *variable; // for its handle
    int *there;
    uintptr_t base;
    size_t size;
    bool symmetric; // kernels may use it
};

template <typename F> static F *driver(const char *name)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
    return (F *)function;
}
#define DRIVER(name) driver<decltype(name)>(#name)

static thread_local int depth;
static thread_local bool invalid;
static thread_local std::vector<Work> waiting;
static thread_local std::vector<Window *> registered; // handles are there at the group's end

// Of all threads; programs use them from one.
static std::map<uintptr_t, size_t> allocations; // by ncclMemAlloc
static std::vector<const Window *> windows;

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

// One kernel for all calls on a device, on the stream of the first.
static void launch(int device)
{
    Batch batch = {};
    std::vector<cudaStream_t> streams;
    for (const Work &work : waiting) {
        if (work.device != device || streams.size() == 8)
            continue;
        batch.works[streams.size()] = work;
        streams.push_back(work.stream);
    }
    if (streams.empty())
        return;
    cudaSetDevice(device);
    for (cudaStream_t stream : streams)
        if (stream != streams[0])
            wait_for(streams[0], stream);
    move<<<(unsigned)streams.size(), 64, 0, streams[0]>>>(batch);
    for (cudaStream_t stream : streams)
        if (stream != streams[0])
            wait_for(stream, streams[0]);
}

static void launch_all()
{
    int current, devices;
    cudaGetDevice(&current);
    cudaGetDeviceCount(&devices);
    for (int device = 0; device < devices; device++)
        launch(device);
    cudaSetDevice(current);
}

// Like the library: at the end of the outermost group, and nothing of a group with an invalid call.
static ncclResult_t end()
{
    if (--depth > 0)
        return ncclSuccess;
    ncclResult_t result = invalid ? ncclInvalidUsage : ncclSuccess;
    if (!invalid && !waiting.empty())
        launch_all();
    for (Window *window : registered)
        *window->variable = (ncclWindow_t)window;
    registered.clear();
    waiting.clear();
    invalid = false;
    return result;
}

static bool is_capturing(cudaStream_t stream)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
           status == cudaStreamCaptureStatusActive;
}

static ncclResult_t enqueue(const void *from, void *to, size_t count, ncclDataType_t datatype,
                            ncclComm_t comm, cudaStream_t stream)
{
    if (datatype > ncclFloat32) {
        invalid = depth > 0;
        return ncclInvalidArgument;
    }
    depth++;
    if (from != to || is_capturing(stream)) // of a captured call there is a node in any case
        waiting.push_back(Work{(const int *)from, (int *)to, count, stream, comm->device});
    return end();
}

extern "C" {
ncclResult_t ncclCommInitAll(ncclComm_t *comm, int count, const int *devices)
{
    for (int i = 0; i < count; i++)
        comm[i] = new ncclComm{i, count, devices ? devices[i] : i};
    return ncclSuccess;
}
ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    FILE *file = fopen("/dev/urandom", "r");
    const bool good = file && fread(id, sizeof *id, 1, file) == 1;
    if (file)
        fclose(file);
    return good ? ncclSuccess : ncclInvalidUsage;
}
ncclResult_t ncclCommInitRank(ncclComm_t *comm, int count, ncclUniqueId, int rank)
{
    int device;
    cudaGetDevice(&device);
    *comm = new ncclComm{rank, count, device};
    return ncclSuccess;
}
// Ranks of one color keep their order.
ncclResult_t ncclCommSplit(ncclComm_t comm, int, int, ncclComm_t *made, void *)
{
    *made = new ncclComm(*comm);
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
                           ncclDataType_t datatype, ncclRedOp_t, ncclComm_t comm,
                           cudaStream_t stream)
{
    return enqueue(sendbuff, recvbuff, count, datatype, comm, stream);
}
ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount,
                           ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream)
{
    int *to = (int *)recvbuff;
    for (int i = 0; i < comm->count; i++)
        enqueue(sendbuff, to + i * sendcount, sendcount, datatype, comm, stream);
    return ncclSuccess;
}
ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count,
                           ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream)
{
    return enqueue(comm->rank == root ? sendbuff : recvbuff, recvbuff, count, datatype, comm,
                   stream);
}
ncclResult_t ncclReduce(const void *sendbuff, void *recvbuff, size_t count, ncclDataType_t datatype,
                        ncclRedOp_t, int root, ncclComm_t comm, cudaStream_t stream)
{
    return enqueue(sendbuff, comm->rank == root ? recvbuff : (void *)sendbuff, count, datatype,
                   comm, stream);
}
ncclResult_t ncclSend(const void *, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t)
{
    return ncclSuccess;
}
ncclResult_t ncclRecv(void *recvbuff, size_t count, ncclDataType_t, int, ncclComm_t,
                      cudaStream_t stream)
{
    return cudaMemsetAsync(recvbuff, 0, count * 4, stream) ? ncclInvalidUsage : ncclSuccess;
}
// By the driver's calls for virtual memory, which can be exported.
ncclResult_t ncclMemAlloc(void **ptr, size_t size)
{
    enum { GRANULE = 2 << 20 };
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp what = {};
    CUmemAccessDesc access = {};
    CUdeviceptr p;
    int device;
    cudaGetDevice(&device);
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location = access.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device}};
    what.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    size = (size + GRANULE - 1) / GRANULE * GRANULE;
    if (DRIVER(cuMemCreate)(&handle, size, &what, 0) != CUDA_SUCCESS ||
        DRIVER(cuMemAddressReserve)(&p, size, 0, 0, 0) != CUDA_SUCCESS ||
        DRIVER(cuMemMap)(p, size, 0, handle, 0) != CUDA_SUCCESS ||
        DRIVER(cuMemSetAccess)(p, size, &access, 1) != CUDA_SUCCESS ||
        DRIVER(cuMemRelease)(handle) != CUDA_SUCCESS)
        return ncclInvalidUsage;
    allocations[p] = size;
    *ptr = (void *)p;
    return ncclSuccess;
}
ncclResult_t ncclMemFree(void *ptr)
{
    const CUdeviceptr p = (CUdeviceptr)ptr;
    const auto found = allocations.find(p);
    if (found == allocations.end())
        return ncclInvalidArgument;
    DRIVER(cuMemUnmap)(p, found->second);
    DRIVER(cuMemAddressFree)(p, found->second);
    allocations.erase(found);
    return ncclSuccess;
}
// One-sided: a put reads its source, and what is put stays here. As in the library, windows are of
// memory by ncclMemAlloc and begin at a multiple of 4096 bytes.
ncclResult_t ncclCommWindowRegister(ncclComm_t, void *buff, size_t size, ncclWindow_t *win,
                                    int winFlags)
{
    const uintptr_t base = (uintptr_t)buff;
    Window *window = new Window{win, nullptr, base, size, winFlags == 1};
    auto around = allocations.upper_bound(base);
    if (around == allocations.begin() || base % 4096 ||
        base - (--around)->first + size > around->second ||
        cudaMalloc(&window->there, size) != cudaSuccess)
        return ncclInvalidArgument;
    depth++;
    registered.push_back(window);
    windows.push_back(window);
    return end();
}
ncclResult_t ncclCommWindowDeregister(ncclComm_t, ncclWindow_t win)
{
    Window *window = (Window *)win;
    cudaFree(window->there);
    windows.erase(std::find(windows.begin(), windows.end(), window));
    delete window;
    return ncclSuccess;
}
ncclResult_t ncclGetPeerDevicePointer(ncclWindow_t window, size_t offset, int, void **outPtr)
{
    const Window *of = (const Window *)window;
    *outPtr = of->symmetric ? (char *)of->there + offset : nullptr;
    return ncclSuccess;
}
// What is put lies in a window of the kind NCCL_WIN_COLL_SYMMETRIC.
ncclResult_t ncclPutSignal(const void *localbuff, size_t count, ncclDataType_t datatype, int,
                           ncclWindow_t peerWin, size_t peerWinOffset, int, int, unsigned int,
                           ncclComm_t comm, cudaStream_t stream)
{
    const uintptr_t from = (uintptr_t)localbuff;
    const bool symmetric = std::any_of(windows.begin(), windows.end(), [=](const Window *window) {
        return window->symmetric && from - window->base < window->size;
    });
    if (!symmetric)
        return ncclInvalidArgument;
    return enqueue(localbuff, ((Window *)peerWin)->there + peerWinOffset / 4, count, datatype, comm,
                   stream);
}
ncclResult_t ncclSignal(int, int, int, unsigned int, ncclComm_t, cudaStream_t)
{
    return ncclSuccess;
}
ncclResult_t ncclWaitSignal(int, ncclWaitSignalDesc_t *, ncclComm_t, cudaStream_t)
{
    return ncclSuccess;
}
}
