// verdict: none
// Two processes and the memory of one. By itself each is right; `csan merge --order` sees both
// (tests/shell/test_interprocess.sh). The argument says which order they make; without one it is
// MODE, which is "event" and right.
#include "process_pair.h"
#include "program.h"
#include <csignal>
#include <cstring>
#include <cuda.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MODE
#define MODE "event"
#endif

static cudaEvent_t shared_event()
{
    cudaEvent_t event;
    cudaIpcEventHandle_t handle;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaIpcGetEventHandle(&handle, event));
    put(handle);
    return event;
}
static cudaEvent_t opened_event()
{
    cudaEvent_t event;
    CHECK(cudaIpcOpenEventHandle(&event, get<cudaIpcEventHandle_t>()));
    return event;
}

static void put_handle(int *memory)
{
    cudaIpcMemHandle_t handle;
    CHECK(cudaIpcGetMemHandle(&handle, memory));
    put(handle);
}

// The program's own message; one of the modes declares it.
static void pass()
{
    put(is("token") ? csan_send() : (uint64_t)0);
}
static void await()
{
    csan_receive(get<uint64_t>());
}

static void barrier()
{
    if (is("barrier"))
        csan_barrier_enter(7, 2);
    put('b');
    get<char>();
    if (is("barrier"))
        csan_barrier_leave(7, 2);
}

// What PyTorch's multiprocessing does with a tensor that it sends: the event is recorded before it
// gets its handle, and what receives it forgets the event once its stream waits
// (torch/csrc/StorageSharing.cpp, torch/csrc/CudaIPCTypes.cpp).
static int tensor_sender()
{
    cudaStream_t stream = nonblocking_stream();
    cudaEvent_t event;
    cudaIpcEventHandle_t handle;
    int *memory = device_array<int>();
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess |
                                               cudaEventBlockingSync));
    if (is("tensor_early"))
        CHECK(cudaEventRecord(event, stream));
    launch_fill(stream, memory);
    if (!is("tensor_early"))
        CHECK(cudaEventRecord(event, stream));
    put_handle(memory);
    CHECK(cudaIpcGetEventHandle(&handle, event));
    put(handle);
    get<char>(); // the receiver has read it and closed it
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventDestroy(event));
    CHECK(cudaFree(memory));
    return 0;
}

static int tensor_receiver()
{
    cudaStream_t stream = nonblocking_stream();
    int *mine = device_array<int>(), *memory;
    cudaEvent_t event;
    const cudaIpcMemHandle_t handle = get<cudaIpcMemHandle_t>();
    CHECK(cudaIpcOpenEventHandle(&event, get<cudaIpcEventHandle_t>()));
    CHECK(cudaStreamWaitEvent(stream, event, 0));
    CHECK(cudaEventDestroy(event));
    CHECK(cudaIpcOpenMemHandle((void **)&memory, handle, cudaIpcMemLazyEnablePeerAccess));
    launch_copy(stream, mine, memory);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaIpcCloseMemHandle(memory));
    put('c');
    return 0;
}

// ---- Memory with a descriptor, which goes through a socket

static int sockets[2];

static void put_descriptor(int descriptor)
{
    char byte = 'd', space[CMSG_SPACE(sizeof(int))] = "";
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
    if (sendmsg(sockets[0], &message, 0) != 1)
        exit(105);
}
static int get_descriptor()
{
    int descriptor;
    char byte, space[CMSG_SPACE(sizeof(int))];
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    if (recvmsg(sockets[1], &message, 0) != 1)
        exit(106);
    memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
}

#define DRIVER(call)                                                                               \
    do {                                                                                           \
        if ((call) != CUDA_SUCCESS) {                                                              \
            fprintf(stderr, "%s failed\n", #call);                                                 \
            exit(107);                                                                             \
        }                                                                                          \
    } while (0)

template <typename F> static F *driver(const char *name)
{
    void *function;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
    return (F *)function;
}
#define DRIVER_FUNCTION(name) driver<decltype(name)>(#name)

enum { MAPPED = 2 << 20 };

static void map(CUdeviceptr p, CUmemGenericAllocationHandle handle)
{
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER(DRIVER_FUNCTION(cuMemMap)(p, MAPPED, 0, handle, 0));
    DRIVER(DRIVER_FUNCTION(cuMemSetAccess)(p, MAPPED, &access, 1));
}
static int *mapped(CUmemGenericAllocationHandle handle)
{
    CUdeviceptr p;
    DRIVER(DRIVER_FUNCTION(cuMemAddressReserve)(&p, MAPPED, 0, 0, 0));
    map(p, handle);
    return (int *)p;
}
static void unmap(int *p, CUmemGenericAllocationHandle handle)
{
    DRIVER(DRIVER_FUNCTION(cuMemUnmap)((CUdeviceptr)p, MAPPED));
    DRIVER(DRIVER_FUNCTION(cuMemAddressFree)((CUdeviceptr)p, MAPPED));
    DRIVER(DRIVER_FUNCTION(cuMemRelease)(handle));
}

static int exporter()
{
    int descriptor;
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp what = {};
    cudaStream_t stream = nonblocking_stream();
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    what.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    DRIVER(DRIVER_FUNCTION(cuMemCreate)(&handle, MAPPED, &what, 0));
    int *memory = mapped(handle);
    launch_fill(stream, memory);
    if (!is("descriptor_early"))
        CHECK(cudaStreamSynchronize(stream));
    DRIVER(DRIVER_FUNCTION(cuMemExportToShareableHandle)(
        &descriptor, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    put_descriptor(descriptor);
    if (is("descriptor_part")) // while the other process gives up its name for the memory
        launch_copy(stream, device_array<int>(), memory);
    get<char>();
    CHECK(cudaStreamSynchronize(stream));
    unmap(memory, handle);
    return 0;
}

// The imported memory is half of a reservation, whose other half stays mapped when it goes.
static int importer_of_part()
{
    CUmemGenericAllocationHandle handle, own;
    CUmemAllocationProp what = {};
    CUdeviceptr p;
    int *mine = device_array<int>();
    cudaStream_t stream = nonblocking_stream();
    const int descriptor = get_descriptor();
    DRIVER(DRIVER_FUNCTION(cuMemImportFromShareableHandle)(
        &handle, (void *)(intptr_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    DRIVER(DRIVER_FUNCTION(cuMemCreate)(&own, MAPPED, &what, 0));
    DRIVER(DRIVER_FUNCTION(cuMemAddressReserve)(&p, 2 * MAPPED, 0, 0, 0));
    map(p, handle);
    map(p + MAPPED, own);
    launch_copy(stream, mine, (int *)p);
    CHECK(cudaStreamSynchronize(stream));
    DRIVER(DRIVER_FUNCTION(cuMemUnmap)(p, MAPPED));
    DRIVER(DRIVER_FUNCTION(cuMemRelease)(handle));
    DRIVER(DRIVER_FUNCTION(cuMemUnmap)(p + MAPPED, MAPPED));
    DRIVER(DRIVER_FUNCTION(cuMemRelease)(own));
    DRIVER(DRIVER_FUNCTION(cuMemAddressFree)(p, 2 * MAPPED));
    put('c');
    return 0;
}

static int importer()
{
    CUmemGenericAllocationHandle handle;
    int *mine = device_array<int>();
    cudaStream_t stream = nonblocking_stream();
    const int descriptor = get_descriptor();
    DRIVER(DRIVER_FUNCTION(cuMemImportFromShareableHandle)(
        &handle, (void *)(intptr_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    int *memory = mapped(handle);
    launch_copy(stream, mine, memory);
    CHECK(cudaStreamSynchronize(stream));
    unmap(memory, handle);
    put('c');
    return 0;
}

// A pool whose memory the other process gets.
static int pool_exporter()
{
    int descriptor, *memory;
    cudaMemPool_t pool;
    cudaMemPoolProps what = {};
    cudaMemPoolPtrExportData pointer;
    cudaStream_t stream = nonblocking_stream();
    what.allocType = cudaMemAllocationTypePinned;
    what.location.type = cudaMemLocationTypeDevice;
    what.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    CHECK(cudaMemPoolCreate(&pool, &what));
    CHECK(cudaMallocFromPoolAsync((void **)&memory, N * sizeof(int), pool, stream));
    launch_fill(stream, memory);
    if (is("pool"))
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemPoolExportToShareableHandle(&descriptor, pool,
                                             cudaMemHandleTypePosixFileDescriptor, 0));
    put_descriptor(descriptor);
    CHECK(cudaMemPoolExportPointer(&pointer, memory));
    put(pointer);
    get<char>();
    CHECK(cudaFreeAsync(memory, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemPoolDestroy(pool));
    return 0;
}

static int pool_importer()
{
    int *memory, *none, *mine = device_array<int>();
    cudaMemPool_t pool;
    cudaStream_t stream = nonblocking_stream();
    const int descriptor = get_descriptor();
    CHECK(cudaMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)descriptor,
                                               cudaMemHandleTypePosixFileDescriptor, 0));
    cudaMemPoolPtrExportData pointer = get<cudaMemPoolPtrExportData>();
    CHECK(cudaMemPoolImportPointer((void **)&memory, pool, &pointer));
    if (cudaMallocFromPoolAsync((void **)&none, 16, pool, stream) == cudaSuccess)
        return 105; // memory comes from the owner alone
    cudaGetLastError();
    launch_copy(stream, mine, memory);
    CHECK(cudaStreamSynchronize(stream));
    int first = -1;
    CHECK(cudaMemcpy(&first, mine, sizeof first, cudaMemcpyDeviceToHost));
    CHECK(cudaFreeAsync(memory, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemPoolDestroy(pool));
    put('c');
    return is("pool") && first != 1;
}

static int writer()
{
    cudaStream_t stream = nonblocking_stream();
    int *memory = device_array<int>();
    cudaEvent_t written = shared_event(), seen = opened_event();
    if (is("synced")) {
        launch_fill(stream, memory);
        CHECK(cudaStreamSynchronize(stream));
    }
    put_handle(memory);
    if (is("opened"))
        get<char>(); // the other has it open, and reads it
    if (is("early"))
        CHECK(cudaEventRecord(written, stream));
    if (!is("synced"))
        launch_fill(stream, memory);
    if (!is("early") && !is("synced"))
        CHECK(cudaEventRecord(written, stream));
    if (is("token") || is("undeclared"))
        CHECK(cudaStreamSynchronize(stream));
    if (is("barrier"))
        CHECK(cudaStreamSynchronize(stream));
    pass();
    barrier();
    await();
    if (is("killed")) {
        CHECK(cudaDeviceSynchronize());
        usleep(300000);
        raise(SIGKILL);
    }
    CHECK(cudaStreamWaitEvent(stream, seen, 0));
    launch_fill(stream, memory); // ordered by way of the other process
    CHECK(cudaStreamSynchronize(stream));
    put('e');
    get<char>();
    CHECK(cudaFree(memory));
    return 0;
}

// By the driver's function as it was before CUDA 11. The runtime calls the newer one.
static int *opened_by_first_version(cudaIpcMemHandle_t handle)
{
    typedef CUresult open_function(CUdeviceptr *, CUipcMemHandle, unsigned);
    void *function;
    cudaDriverEntryPointQueryResult found;
    CUdeviceptr memory;
    CUipcMemHandle driver_handle;
    memcpy(&driver_handle, &handle, sizeof handle);
    CHECK(cudaGetDriverEntryPointByVersion("cuIpcOpenMemHandle", &function, 4010, cudaEnableDefault,
                                           &found));
    if (((open_function *)function)(&memory, driver_handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) !=
        CUDA_SUCCESS)
        exit(104);
    return (int *)memory;
}

static int reader()
{
    int *mine = device_array<int>(), *memory;
    cudaStream_t stream = nonblocking_stream();
    cudaEvent_t written = opened_event(), seen = shared_event();
    const cudaIpcMemHandle_t handle = get<cudaIpcMemHandle_t>();
    CHECK(cudaIpcOpenMemHandle((void **)&memory, handle, cudaIpcMemLazyEnablePeerAccess));
    if (is("event")) {
        CHECK(cudaIpcCloseMemHandle(memory));
        memory = opened_by_first_version(handle);
    }
    if (is("opened")) {
        launch_copy(stream, mine, memory);
        put('o');
    }
    await();
    barrier();
    if (is("event") || is("early") || is("killed"))
        CHECK(cudaStreamWaitEvent(stream, written, 0));
    if (!is("opened"))
        launch_copy(stream, mine, memory);
    CHECK(cudaEventRecord(seen, stream));
    put((uint64_t)0);
    if (is("killed")) {
        CHECK(cudaStreamSynchronize(stream));
        return 0;
    }
    get<char>();
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaIpcCloseMemHandle(memory));
    put('c');
    return 0;
}

int main(int count, char **arguments)
{
    int there[2], back[2], status = -1;
    mode = count > 1 ? arguments[1] : MODE;
    if (pipe(there) || pipe(back) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
        return 100;
    pid_t child = fork();
    from = child ? back[0] : there[0];
    to = child ? there[1] : back[1];
    setenv("RANK", child ? "0" : "1", 1);
    const bool tensor = is("tensor") || is("tensor_early");
    const bool part = is("descriptor_part");
    const bool descriptor = part || is("descriptor") || is("descriptor_early");
    if (is("pool") || is("pool_early")) {
        if (!child)
            return pool_importer();
        const int code = pool_exporter();
        waitpid(child, &status, 0);
        printf("done\n");
        return code ? code : WIFEXITED(status) ? WEXITSTATUS(status) : 104;
    }
    if (!child)
        return tensor       ? tensor_receiver()
               : part       ? importer_of_part()
               : descriptor ? importer()
                            : reader();
    int code = tensor ? tensor_sender() : descriptor ? exporter() : writer();
    waitpid(child, &status, 0);
    printf("done\n");
    return code ? code : WIFEXITED(status) ? WEXITSTATUS(status) : 104;
}
