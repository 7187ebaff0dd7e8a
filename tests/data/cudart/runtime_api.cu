// Calls the runtime API in every part of it and checks what the CUDA documentation promises. One
// line "FAILED" per promise broken; the exit code counts them. Run on the embedded device by
// tests/unit/device/test_cudart.c, built for CUDA 13 and for CUDA 12; only the check of
// sparse arrays is about that device.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

static int failed;
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failed++;                                                                              \
            printf("FAILED line %d: %s (last error %s)\n", __LINE__, #condition,                   \
                   cudaGetErrorName(cudaPeekAtLastError()));                                       \
        }                                                                                          \
    } while (0)
#define OK(call) EXPECT((call) == cudaSuccess)

enum { N = 1000 };

__device__ int counter = 5;
__constant__ int factors[4] = {1, 2, 3, 4};
__managed__ int managed = 7;

template <typename T> __global__ void scale(T *p, T by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= by;
}
__global__ void count()
{
    atomicAdd(&counter, factors[1]);
}
__global__ void add_managed(int by)
{
    managed += by;
}
__global__ void bad()
{
    *(volatile int *)8 = 1;
}
__global__ void all_blocks(int *p)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0)
        atomicAdd(p, 1);
    grid.sync();
    if (threadIdx.x == 0)
        p[1 + blockIdx.x] = p[0];
}
__global__ void dynamic_shared(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

static void memory()
{
    int host[N], *a = nullptr, *pinned = nullptr, *alias = nullptr;
    OK(cudaMalloc(&a, sizeof host));
    OK(cudaMemset(a, 1, sizeof host));
    OK(cudaMemcpy(host, a, sizeof host, cudaMemcpyDefault));
    EXPECT(host[0] == 0x01010101 && host[N - 1] == 0x01010101);
    EXPECT(cudaMemcpy(host, a, 4, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaGetLastError() == cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaGetLastError() == cudaSuccess);
    OK(cudaMallocHost(&pinned, 64));
    OK(cudaHostGetDevicePointer(&alias, pinned, 0));
    cudaPointerAttributes at;
    OK(cudaPointerGetAttributes(&at, a + 3));
    EXPECT(at.type == cudaMemoryTypeDevice && at.devicePointer == a + 3 && at.device == 0);
    OK(cudaPointerGetAttributes(&at, pinned));
    EXPECT(at.type == cudaMemoryTypeHost && at.hostPointer == pinned);
    OK(cudaPointerGetAttributes(&at, host));
    EXPECT(at.type == cudaMemoryTypeUnregistered);
    OK(cudaFreeHost(pinned));
    OK(cudaFree(a));
    OK(cudaFree(nullptr));
    EXPECT(cudaFree(host) == cudaErrorInvalidValue);
    EXPECT(cudaMalloc(&a, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    OK(cudaMalloc(&a, 0));
    EXPECT(a == nullptr);
    size_t free = 0, total = 0;
    OK(cudaMemGetInfo(&free, &total));
    EXPECT(free > 0 && free <= total);
    OK(cudaMallocManaged(&a, 4 * N));
    OK(cudaPointerGetAttributes(&at, a));
    EXPECT(at.type == cudaMemoryTypeManaged);
    for (int i = 0; i < N; i++)
        a[i] = i;
    scale<int><<<4, 256>>>(a, 3, N);
    OK(cudaDeviceSynchronize());
    EXPECT(a[N - 1] == 3 * (N - 1));
    OK(cudaFree(a));
}

static void pitched()
{
    char host[6][10], back[6][10];
    char *p = nullptr;
    size_t pitch = 0;
    memset(host, 3, sizeof host);
    OK(cudaMallocPitch(&p, &pitch, 10, 6));
    EXPECT(pitch >= 10);
    OK(cudaMemcpy2D(p, pitch, host, 10, 10, 6, cudaMemcpyHostToDevice));
    OK(cudaMemset2D(p, pitch, 4, 5, 3));
    OK(cudaMemcpy2D(back, 10, p, pitch, 10, 6, cudaMemcpyDeviceToHost));
    EXPECT(back[0][0] == 4 && back[2][4] == 4 && back[0][5] == 3 && back[3][0] == 3);
    EXPECT(cudaMemcpy2D(back, 9, p, pitch, 10, 6, cudaMemcpyDeviceToHost) ==
           cudaErrorInvalidPitchValue);
    OK(cudaFree(p));
    cudaPitchedPtr box;
    cudaExtent extent = make_cudaExtent(10, 3, 2);
    OK(cudaMalloc3D(&box, extent));
    OK(cudaMemset3D(box, 9, extent));
    cudaMemcpy3DParms parms = {};
    parms.srcPtr = box;
    parms.dstPtr = make_cudaPitchedPtr(back, 10, 10, 3);
    parms.extent = extent;
    parms.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&parms));
    EXPECT(back[5][9] == 9 && back[0][0] == 9);
    OK(cudaFree(box.ptr));
    cudaGetLastError();
}

static void symbols()
{
    int value = 0, more[2] = {20, 30};
    void *address = nullptr;
    size_t size = 0;
    count<<<1, 10>>>();
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    EXPECT(value == 25);
    OK(cudaMemcpyToSymbol(factors, more, sizeof more, sizeof(int)));
    count<<<1, 1>>>();
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    EXPECT(value == 45);
    OK(cudaGetSymbolAddress(&address, counter));
    OK(cudaGetSymbolSize(&size, factors));
    EXPECT(address && size == sizeof factors);
    EXPECT(cudaMemcpyToSymbol(factors, more, sizeof more, 12) == cudaErrorInvalidValue);
    EXPECT(cudaGetSymbolAddress(&address, &value) == cudaErrorInvalidSymbol);
    cudaGetLastError();
    managed += 1;
    add_managed<<<1, 1>>>(10);
    OK(cudaDeviceSynchronize());
    EXPECT(managed == 18);
}

static void streams()
{
    cudaStream_t a, b;
    cudaEvent_t start, end;
    float milliseconds = -1;
    double *p, host[N];
    int called = 0, priority = 99, least, greatest;
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    OK(cudaStreamCreateWithPriority(&b, cudaStreamDefault, greatest));
    OK(cudaStreamGetPriority(b, &priority));
    EXPECT(priority == greatest);
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    for (int i = 0; i < N; i++)
        host[i] = i;
    OK(cudaMallocAsync(&p, sizeof host, a));
    OK(cudaMemcpyAsync(p, host, sizeof host, cudaMemcpyHostToDevice, a));
    OK(cudaEventRecord(start, a));
    OK(cudaStreamWaitEvent(b, start, 0));
    scale<double><<<4, 256, 0, b>>>(p, 0.5, N);
    OK(cudaLaunchHostFunc(
        b, [](void *user) { ++*(int *)user; }, &called));
    OK(cudaStreamAddCallback(
        b, [](cudaStream_t, cudaError_t status, void *user) { *(int *)user += 10 + status; },
        &called, 0));
    OK(cudaEventRecord(end, b));
    OK(cudaStreamWaitEvent(a, end, 0));
    OK(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, a));
    OK(cudaFreeAsync(p, a));
    OK(cudaStreamSynchronize(a));
    EXPECT(called == 11 && host[10] == 5);
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&milliseconds, start, end));
    EXPECT(milliseconds >= 0);
    OK(cudaStreamQuery(a));
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusActive;
    OK(cudaStreamIsCapturing(a, &capturing));
    EXPECT(capturing == cudaStreamCaptureStatusNone);
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    EXPECT(cudaStreamSynchronize(b) != cudaSuccess);
    cudaGetLastError();
}

static void launches()
{
    int *p, host[64], blocks = 0, grid = 0, block = 0;
    OK(cudaMalloc(&p, 4096));
    OK(cudaMemset(p, 0, 4096));
    void *arguments[] = {&p};
    OK(cudaLaunchCooperativeKernel((void *)all_blocks, 4, 32, arguments, 0, 0));
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 4 && host[1] == 4 && host[4] == 4);
    dynamic_shared<<<1, 64, 64 * sizeof(int)>>>(p);
    OK(cudaGetLastError());
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 63 && host[63] == 0);
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 64;
    config.dynamicSmemBytes = 256;
    OK(cudaLaunchKernelEx(&config, dynamic_shared, p));
    count<<<1, 2048>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    count<<<0, 1>>>();
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    EXPECT(cudaLaunchKernel((void *)host, 1, 1, arguments, 0, 0) == cudaErrorInvalidDeviceFunction);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDeviceFunction);
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, scale<int>));
    EXPECT(attributes.maxThreadsPerBlock > 0 && attributes.ptxVersion > 0);
    OK(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    OK(cudaFuncSetCacheConfig(dynamic_shared, cudaFuncCachePreferL1));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count, 256, 0));
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, count));
    EXPECT(blocks > 0 && grid > 0 && block > 0);
    OK(cudaFree(p));
}

// What the two versions have in other forms: those of this version, by the names of its headers.
// What a struct holds must end where that version's struct ends.

#if CUDART_VERSION >= 13000
#define ADD_NODE(node, graph, after, count, params)                                                \
    cudaGraphAddNode(node, graph, after, nullptr, count, params)
#else
#define ADD_NODE(node, graph, after, count, params)                                                \
    cudaGraphAddNode(node, graph, after, count, params)
#endif

template <typename T> struct Guarded {
    T value;
    unsigned char guard[64];

    Guarded()
    {
        memset(guard, 0xa5, sizeof guard);
    }
    bool whole() const
    {
        for (unsigned char byte : guard)
            if (byte != 0xa5)
                return false;
        return true;
    }
};

static int attribute(cudaDeviceAttr which)
{
    int value = -1;
    OK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

static void structs()
{
    Guarded<cudaDeviceProp> properties;
    OK(cudaGetDeviceProperties(&properties.value, 0));
    EXPECT(properties.whole());
    const cudaDeviceProp &p = properties.value;
    EXPECT(p.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount));
    EXPECT(p.maxTexture2D[1] == attribute(cudaDevAttrMaxTexture2DHeight));
    EXPECT(p.memoryBusWidth == attribute(cudaDevAttrGlobalMemoryBusWidth));
    EXPECT(p.sharedMemPerMultiprocessor ==
           (size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
    EXPECT(p.reservedSharedMemPerBlock ==
           (size_t)attribute(cudaDevAttrReservedSharedMemoryPerBlock));
    EXPECT(p.clusterLaunch == attribute(cudaDevAttrClusterLaunch) && p.clusterLaunch == 1);
    EXPECT(p.memoryPoolsSupported == attribute(cudaDevAttrMemoryPoolsSupported));
#if CUDART_VERSION < 13000
    EXPECT(p.clockRate == attribute(cudaDevAttrClockRate));
    EXPECT(p.computeMode == attribute(cudaDevAttrComputeMode));
#endif
    Guarded<cudaPointerAttributes> at;
    int *memory = nullptr;
    OK(cudaMalloc(&memory, 64));
    OK(cudaPointerGetAttributes(&at.value, memory));
    EXPECT(at.whole() && at.value.type == cudaMemoryTypeDevice);
    OK(cudaFree(memory));
}

static void captured_order(cudaStream_t stream, int *p)
{
    cudaGraph_t graph = nullptr, within = nullptr;
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
    const cudaGraphNode_t *last = nullptr;
    cudaGraphNode_t from[4], to[4], first = nullptr;
    size_t count = 0;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    scale<int><<<1, 1, 0, stream>>>(p, 2, 1);
    scale<int><<<1, 1, 0, stream>>>(p, 3, 1);
#if CUDART_VERSION >= 13000
    const cudaGraphEdgeData *edges = nullptr;
    OK(cudaStreamGetCaptureInfo(stream, &status, &id, &within, &last, &edges, &count));
    OK(cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0,
                                           cudaStreamSetCaptureDependencies));
#else
    OK(cudaStreamGetCaptureInfo(stream, &status, &id, &within, &last, &count));
    OK(cudaStreamUpdateCaptureDependencies(stream, nullptr, 0, cudaStreamSetCaptureDependencies));
#endif
    EXPECT(status == cudaStreamCaptureStatusActive && within && count == 1);
    scale<int><<<1, 1, 0, stream>>>(p, 5, 1); // after nothing now
    OK(cudaStreamEndCapture(stream, &graph));
    count = 4;
#if CUDART_VERSION >= 13000
    OK(cudaGraphGetEdges(graph, from, to, nullptr, &count));
#else
    OK(cudaGraphGetEdges(graph, from, to, &count));
#endif
    EXPECT(count == 1);
    first = from[0];
    count = 4;
#if CUDART_VERSION >= 13000
    OK(cudaGraphNodeGetDependentNodes(first, to, nullptr, &count));
    EXPECT(count == 1);
    OK(cudaGraphRemoveDependencies(graph, &first, to, nullptr, 1));
    OK(cudaGraphAddDependencies(graph, to, &first, nullptr, 1));
    OK(cudaGraphNodeGetDependencies(first, from, nullptr, &count));
#else
    OK(cudaGraphNodeGetDependentNodes(first, to, &count));
    EXPECT(count == 1);
    OK(cudaGraphRemoveDependencies(graph, &first, to, 1));
    OK(cudaGraphAddDependencies(graph, to, &first, 1));
    OK(cudaGraphNodeGetDependencies(first, from, &count));
#endif
    EXPECT(count == 1 && from[0] == to[0]);
    OK(cudaGraphDestroy(graph));
}

static void moved(cudaStream_t stream)
{
    int *managed_memory = nullptr, *a = nullptr, host[4] = {1, 2, 3, 4}, back[4] = {};
    OK(cudaMallocManaged(&managed_memory, 4096));
    OK(cudaMalloc(&a, sizeof host));
    void *to[] = {a}, *from[] = {host};
    size_t bytes[] = {sizeof host}, which[] = {0};
    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
#if CUDART_VERSION >= 13000
    cudaMemLocation here = {};
    here.type = cudaMemLocationTypeDevice;
    cudaMemLocation at_host = {};
    at_host.type = cudaMemLocationTypeHost;
    OK(cudaMemAdvise(managed_memory, 4096, cudaMemAdviseSetPreferredLocation, here));
    OK(cudaMemPrefetchAsync(managed_memory, 4096, here, 0, stream));
    OK(cudaMemPrefetchAsync(managed_memory, 4096, at_host, 0, stream));
    OK(cudaMemcpyBatchAsync(to, from, bytes, 1, &how, which, 1, stream));
#else
    size_t failed_at = 0;
    OK(cudaMemAdvise(managed_memory, 4096, cudaMemAdviseSetPreferredLocation, 0));
    OK(cudaMemPrefetchAsync(managed_memory, 4096, 0, stream));
    OK(cudaMemPrefetchAsync(managed_memory, 4096, cudaCpuDeviceId, stream));
    OK(cudaMemcpyBatchAsync(to, from, bytes, 1, &how, which, 1, &failed_at, stream));
    OK(cudaThreadSynchronize());
    EXPECT(cudaMemcpyBatchAsync(to, from, bytes, 1, &how, which, 0, &failed_at, stream) !=
           cudaSuccess);
    EXPECT(failed_at == (size_t)-1);
    cudaGetLastError();
#endif
    OK(cudaMemcpyAsync(back, a, sizeof back, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT(back[0] == 1 && back[3] == 4);
    OK(cudaFree(managed_memory));
    OK(cudaFree(a));
}

static void forms()
{
    cudaStream_t stream;
    int *p = nullptr;
    structs();
    OK(cudaMalloc(&p, 4));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    captured_order(stream, p);
    moved(stream);
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(p));
}

static void devices()
{
    int n = 0, value = 0, version = 0;
    cudaDeviceProp properties;
    OK(cudaGetDeviceCount(&n));
    EXPECT(n == 1);
    OK(cudaSetDevice(0));
    EXPECT(cudaSetDevice(7) == cudaErrorInvalidDevice);
    cudaGetLastError();
    OK(cudaGetDeviceProperties(&properties, 0));
    EXPECT(properties.major == 9 && properties.warpSize == 32 && properties.name[0]);
    EXPECT(properties.maxThreadsPerBlock == 1024 && properties.totalGlobalMem > 0);
    EXPECT(properties.sharedMemPerBlock == 49152);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(value == properties.multiProcessorCount);
    OK(cudaRuntimeGetVersion(&version));
    EXPECT(version == CUDART_VERSION);
    OK(cudaDriverGetVersion(&version));
    EXPECT(version >= CUDART_VERSION);
    size_t limit = 0;
    OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault, &found));
    EXPECT(function && found == cudaDriverEntryPointSuccess);
    EXPECT(!strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument"));
    EXPECT(!strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress"));
    EXPECT(!strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code"));
}

static void threads()
{
    std::vector<std::thread> all;
    int wrong[4] = {};
    for (int t = 0; t < 4; t++)
        all.emplace_back([t, &wrong] {
            int *p, host[N] = {};
            cudaStream_t s;
            wrong[t] |= cudaStreamCreate(&s) || cudaMalloc(&p, sizeof host);
            for (int i = 0; i < N; i++)
                host[i] = t + 1;
            wrong[t] |= cudaMemcpyAsync(p, host, sizeof host, cudaMemcpyHostToDevice, s);
            scale<int><<<4, 256, 0, s>>>(p, 2, N);
            wrong[t] |= cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, s);
            wrong[t] |= cudaStreamSynchronize(s);
            wrong[t] |= host[N - 1] != 2 * (t + 1);
            count<<<1, 2048>>>(); // this thread's error is nobody else's
            wrong[t] |= cudaPeekAtLastError() != cudaErrorInvalidConfiguration;
        });
    for (auto &thread : all)
        thread.join();
    EXPECT(!wrong[0] && !wrong[1] && !wrong[2] && !wrong[3]);
    EXPECT(cudaPeekAtLastError() == cudaSuccess);
}

static void sticky()
{
    int *p;
    bad<<<1, 1>>>();
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaMalloc(&p, 4) == cudaErrorIllegalAddress);
    OK(cudaDeviceReset());
    EXPECT(cudaGetLastError() == cudaSuccess);
    int value = 0;
    OK(cudaMalloc(&p, 4));
    count<<<1, 1>>>();
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    EXPECT(value == 7); // variables begin anew
}

// ---- Graphs ----

static void count_call(void *counter)
{
    ++*(int *)counter;
}

__device__ int graph_variable[4];

__global__ void add_to(int *p, int value)
{
    p[threadIdx.x] += value;
}

static void graphs()
{
    enum { COUNT = 32 };
    int *p = nullptr, host[COUNT] = {}, called = 0, amount = 3;
    size_t count = 0;
    cudaStream_t a;
    cudaGraph_t graph, captured;
    cudaGraphExec_t exec;
    cudaGraphNode_t set, kernel, copy, function, found[8];
    OK(cudaStreamCreate(&a));
    OK(cudaMalloc(&p, sizeof host));
    OK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams zero = {};
    zero.dst = p;
    zero.elementSize = 4;
    zero.value = 1;
    zero.width = COUNT;
    zero.height = 1;
    OK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zero));
    cudaKernelNodeParams launch = {};
    void *arguments[] = {&p, &amount};
    launch.func = (void *)add_to;
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(COUNT);
    launch.kernelParams = arguments;
    OK(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host, p, sizeof host,
                                cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {count_call, &called};
    OK(cudaGraphAddHostNode(&function, graph, &copy, 1, &call));
    OK(cudaGraphGetNodes(graph, nullptr, &count));
    EXPECT(count == 4);
    count = 8;
    OK(cudaGraphGetRootNodes(graph, found, &count));
    EXPECT(count == 1 && found[0] == set);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, a));
    OK(cudaStreamSynchronize(a));
    EXPECT(called == 1 && host[5] == 4);
    amount = 10;
    OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch));
    OK(cudaGraphLaunch(exec, a));
    OK(cudaStreamSynchronize(a));
    EXPECT(called == 2 && host[5] == 11);
    cudaKernelNodeParams node_params = {};
    OK(cudaGraphKernelNodeGetParams(kernel, &node_params));
    EXPECT(node_params.blockDim.x == COUNT && *(int *)node_params.kernelParams[1] == 3);
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    add_to<<<1, COUNT, 0, a>>>(p, 1);
    EXPECT(cudaStreamSynchronize(a) == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaGetLastError() == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(a, &captured) == cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaGetLastError() == cudaErrorStreamCaptureInvalidated && captured == nullptr);
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
    OK(cudaFree(nullptr));
    OK(cudaStreamEndCapture(a, &captured));
    OK(cudaGraphDestroy(captured));
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    EXPECT(cudaFree(nullptr) == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaStreamEndCapture(a, &captured) == cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
    cudaGraphNodeParams any = {};
    any.type = cudaGraphNodeTypeKernel;
    any.kernel.func = (void *)add_to;
    any.kernel.gridDim = dim3(1);
    any.kernel.blockDim = dim3(COUNT);
    any.kernel.kernelParams = arguments;
    OK(ADD_NODE(&found[0], graph, &function, 1, &any));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));

    // copies to and from variables, in the graph and in the exec
    int in[4] = {1, 2, 3, 4}, other[4] = {5, 6, 7, 8}, out[4] = {};
    cudaGraphNode_t to, from;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, graph_variable, in, sizeof in, 0,
                                      cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, out, graph_variable, sizeof out, 0,
                                        cudaMemcpyDeviceToHost));
    OK(cudaGraphMemcpyNodeSetParamsToSymbol(to, graph_variable, other, sizeof other, 0,
                                            cudaMemcpyHostToDevice));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, a));
    OK(cudaStreamSynchronize(a));
    EXPECT(out[0] == 5 && out[3] == 8);
    OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, graph_variable, in, sizeof in, 0,
                                                cudaMemcpyHostToDevice));
    OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, out, graph_variable, 8, 8,
                                                  cudaMemcpyDeviceToHost));
    OK(cudaGraphMemcpyNodeSetParamsFromSymbol(from, out, graph_variable, sizeof out, 0,
                                              cudaMemcpyDeviceToHost));
    OK(cudaGraphLaunch(exec, a));
    OK(cudaStreamSynchronize(a));
    EXPECT(out[0] == 3 && out[1] == 4 && out[3] == 8);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(p));
    OK(cudaStreamDestroy(a));
}

// Bytes 0, 1, 2... through an array and back, by each form of copy.
static void copies_of_arrays(cudaArray_t a, cudaArray_t b)
{
    enum { W = 5, H = 4, ROW = W * 8 };
    unsigned char from[ROW * H], to[ROW * H];
    for (int i = 0; i < ROW * H; i++)
        from[i] = (unsigned char)i;
    OK(cudaMemcpy2DToArray(a, 0, 0, from, ROW, ROW, H, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, ROW, H));
    OK(cudaMemcpy2DFromArray(to, ROW, b, 0, 0, ROW, H, cudaMemcpyDeviceToHost));
    EXPECT(memcmp(from, to, sizeof to) == 0);
    memset(to, 0, sizeof to);
    OK(cudaMemcpyToArray(b, 8, 1, from, ROW * 2, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromArray(to, b, 8, 1, ROW * 2, cudaMemcpyDeviceToHost));
    EXPECT(memcmp(from, to, ROW * 2) == 0);
    OK(cudaMemcpyArrayToArray(a, 16, 0, b, 8, 1, ROW * 2));
    OK(cudaMemcpyFromArray(to, a, 16, 0, ROW * 2, cudaMemcpyDeviceToHost));
    EXPECT(memcmp(from, to, ROW * 2) == 0);
    cudaMemcpy3DParms p = {};
    p.srcArray = a;
    p.srcPos = make_cudaPos(2, 0, 0); // elements
    p.dstPtr = make_cudaPitchedPtr(to, 8, 8, 1);
    p.extent = make_cudaExtent(1, 1, 1);
    p.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&p));
    EXPECT(memcmp(from, to, 8) == 0);
    EXPECT(cudaMemcpy2DToArray(a, 8, 0, from, ROW, ROW, H, cudaMemcpyHostToDevice) ==
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpy2DToArray(a, 0, 0, from, ROW, ROW, H, cudaMemcpyDeviceToHost) ==
           cudaErrorInvalidMemcpyDirection);
    cudaGetLastError();
}

static void arrays()
{
    cudaArray_t a, b, level;
    cudaMipmappedArray_t mipmap;
    cudaExtent extent;
    unsigned flags;
    cudaChannelFormatDesc pairs = cudaCreateChannelDesc<float2>(), got;
    OK(cudaMallocArray(&a, &pairs, 5, 4, cudaArraySurfaceLoadStore));
    OK(cudaMallocArray(&b, &pairs, 5, 4));
    OK(cudaArrayGetInfo(&got, &extent, &flags, a));
    EXPECT(got.x == 32 && got.y == 32 && got.z == 0 && got.f == cudaChannelFormatKindFloat);
    EXPECT(extent.width == 5 && extent.height == 4 && extent.depth == 0);
    EXPECT(flags == cudaArraySurfaceLoadStore);
    copies_of_arrays(a, b);
    OK(cudaMallocMipmappedArray(&mipmap, &pairs, make_cudaExtent(8, 4, 0), 3));
    OK(cudaGetMipmappedArrayLevel(&level, mipmap, 2));
    OK(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
    EXPECT(extent.width == 2 && extent.height == 1 && extent.depth == 0);
    EXPECT(cudaGetMipmappedArrayLevel(&level, mipmap, 3) == cudaErrorInvalidValue);
    OK(cudaFreeMipmappedArray(mipmap));
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));
    EXPECT(cudaFreeArray(b) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaMalloc3DArray(&a, &pairs, make_cudaExtent(256, 256, 0), cudaArraySparse) ==
           cudaErrorNotSupported);
    EXPECT(cudaGetLastError() == cudaErrorNotSupported);
}

int main()
{
    devices();
    memory();
    pitched();
    symbols();
    streams();
    launches();
    threads();
    graphs();
    forms();
    arrays();
    sticky();
    if (!failed)
        printf("passed\n");
    return failed;
}
