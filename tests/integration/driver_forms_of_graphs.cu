// verdict: race
// expect: , 22 races
// options: dedup=0
// flags: -std=c++17
// link: -lcuda
// ways: run
// Each form of what makes a graph, changes it before or after it was instantiated, and launches it.
// A graph that touched p touches q after the change: a set of q in another stream races with its
// launch, and one of p does not.
#include "driver_forms.h"

#include <atomic>

static CUstream stream, other, blocking;
static CUdeviceptr source;
static CUfunction fill;
static CUcontext context;
static std::atomic<int> reached;

static void set(CUdeviceptr p, CUstream in)
{
    DRIVER_CHECK(cuMemsetD8Async(p, 1, BYTES, in));
}

// ---- What nodes do ----

static unsigned value = 3;
static CUdeviceptr target;
static void *arguments[] = {&target, &value};

template <typename PARAMS> static PARAMS kernel(CUdeviceptr p)
{
    PARAMS params = {};
    target = p;
    params.func = fill;
    params.gridDimX = BYTES / 4 / 128;
    params.blockDimX = 128;
    params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    return params;
}

static CUDA_MEMCPY3D_v2 copy(CUdeviceptr p)
{
    CUDA_MEMCPY3D_v2 params = {};
    params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    params.srcDevice = source;
    params.dstDevice = p;
    params.WidthInBytes = params.srcPitch = params.dstPitch = BYTES;
    params.Height = params.srcHeight = params.dstHeight = params.Depth = 1;
    return params;
}

static CUDA_MEMSET_NODE_PARAMS_v1 bytes(CUdeviceptr p)
{
    CUDA_MEMSET_NODE_PARAMS_v1 params = {};
    params.dst = p;
    params.value = 2;
    params.elementSize = 1;
    params.width = params.pitch = BYTES;
    params.height = 1;
    return params;
}

static CUgraphNodeParams any(CUdeviceptr p)
{
    CUgraphNodeParams params = {};
    params.type = CU_GRAPH_NODE_TYPE_MEMSET;
    params.memset.dst = p;
    params.memset.value = 2;
    params.memset.elementSize = 1;
    params.memset.width = params.memset.pitch = BYTES;
    params.memset.height = 1;
    params.memset.ctx = context;
    return params;
}

template <typename PARAMS> static const PARAMS *at(const PARAMS &params)
{
    return &params;
}

// ---- Graphs of one node ----

static CUgraph graph_create()
{
    CUgraph graph;
    DRIVER_CHECK(cuGraphCreate(&graph, 0));
    return graph;
}

static CUgraphNode add_kernel_v1(CUgraph graph, CUdeviceptr p)
{
    CUgraphNode node;
    DRIVER_CHECK(
        cuGraphAddKernelNode(&node, graph, nullptr, 0, at(kernel<CUDA_KERNEL_NODE_PARAMS_v1>(p))));
    return node;
}

static CUgraphNode add_kernel(CUgraph graph, CUdeviceptr p)
{
    CUgraphNode node;
    DRIVER_CHECK(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0,
                                         at(kernel<CUDA_KERNEL_NODE_PARAMS_v2>(p))));
    return node;
}

static CUgraphNode add_copy(CUgraph graph, CUdeviceptr p)
{
    CUgraphNode node;
    DRIVER_CHECK(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, at(copy(p)), context));
    return node;
}

static CUgraphNode add_set(CUgraph graph, CUdeviceptr p)
{
    CUgraphNode node;
    DRIVER_CHECK(cuGraphAddMemsetNode(&node, graph, nullptr, 0, at(bytes(p)), context));
    return node;
}

static CUgraphNode add_any_v1(CUgraph graph, CUdeviceptr p)
{
    CUgraphNode node;
    CUgraphNodeParams params = any(p);
    DRIVER_CHECK(cuGraphAddNode(&node, graph, nullptr, 0, &params));
    return node;
}

static CUgraphNode add_any(CUgraph graph, CUdeviceptr p)
{
    CUgraphNode node;
    CUgraphNodeParams params = any(p);
    DRIVER_CHECK(cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &params));
    return node;
}

static CUgraphNode add_child(CUgraph graph, CUdeviceptr p)
{
    CUgraphNode node;
    CUgraph child = graph_create();
    add_set(child, p);
    DRIVER_CHECK(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    return node;
}

static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec;
    DRIVER_CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

// ---- Changes ----

static void launch_against_sets(CUgraphExec exec, CUdeviceptr p, CUdeviceptr q)
{
    DRIVER_CHECK(cuGraphLaunch(exec, stream));
    set(p, other);
    set(q, other);
    DRIVER_CHECK(cuCtxSynchronize());
}

template <typename ADD, typename CHANGE> static void graph_changes(ADD add, CHANGE change)
{
    CUgraph graph = graph_create();
    CUdeviceptr p = device_bytes(), q = device_bytes();
    DRIVER_CHECK(change(add(graph, p), q));
    launch_against_sets(instantiate(graph), p, q);
}

template <typename ADD, typename CHANGE> static void exec_changes(ADD add, CHANGE change)
{
    CUgraph graph = graph_create();
    CUdeviceptr p = device_bytes(), q = device_bytes();
    CUgraphNode node = add(graph, p);
    CUgraphExec exec = instantiate(graph);
    DRIVER_CHECK(change(exec, node, q));
    launch_against_sets(exec, p, q);
}

static void changes_of_graphs()
{
    graph_changes(add_kernel_v1, [](CUgraphNode node, CUdeviceptr q) {
        return cuGraphKernelNodeSetParams(node, at(kernel<CUDA_KERNEL_NODE_PARAMS_v1>(q)));
    });
    graph_changes(add_kernel, [](CUgraphNode node, CUdeviceptr q) {
        return cuGraphKernelNodeSetParams_v2(node, at(kernel<CUDA_KERNEL_NODE_PARAMS_v2>(q)));
    });
    graph_changes(add_copy, [](CUgraphNode node, CUdeviceptr q) {
        return cuGraphMemcpyNodeSetParams(node, at(copy(q)));
    });
    graph_changes(add_set, [](CUgraphNode node, CUdeviceptr q) {
        return cuGraphMemsetNodeSetParams(node, at(bytes(q)));
    });
    graph_changes(add_any_v1, [](CUgraphNode node, CUdeviceptr q) {
        CUgraphNodeParams params = any(q);
        return cuGraphNodeSetParams(node, &params);
    });
    CUgraph graph = graph_create();
    CUdeviceptr p = device_bytes(), q = device_bytes();
    CUgraphNode gone = add_set(graph, p);
    add_set(graph, q);
    DRIVER_CHECK(cuGraphDestroyNode(gone));
    launch_against_sets(instantiate(graph), p, q);
}

static void changes_of_execs()
{
    exec_changes(add_kernel_v1, [](CUgraphExec exec, CUgraphNode node, CUdeviceptr q) {
        return cuGraphExecKernelNodeSetParams(exec, node,
                                              at(kernel<CUDA_KERNEL_NODE_PARAMS_v1>(q)));
    });
    exec_changes(add_kernel, [](CUgraphExec exec, CUgraphNode node, CUdeviceptr q) {
        return cuGraphExecKernelNodeSetParams_v2(exec, node,
                                                 at(kernel<CUDA_KERNEL_NODE_PARAMS_v2>(q)));
    });
    exec_changes(add_copy, [](CUgraphExec exec, CUgraphNode node, CUdeviceptr q) {
        return cuGraphExecMemcpyNodeSetParams(exec, node, at(copy(q)), context);
    });
    exec_changes(add_set, [](CUgraphExec exec, CUgraphNode node, CUdeviceptr q) {
        return cuGraphExecMemsetNodeSetParams(exec, node, at(bytes(q)), context);
    });
    exec_changes(add_any, [](CUgraphExec exec, CUgraphNode node, CUdeviceptr q) {
        CUgraphNodeParams params = any(q);
        return cuGraphExecNodeSetParams(exec, node, &params);
    });
    exec_changes(add_child, [](CUgraphExec exec, CUgraphNode node, CUdeviceptr q) {
        CUgraph child = graph_create();
        add_set(child, q);
        return cuGraphExecChildGraphNodeSetParams(exec, node, child);
    });
    exec_changes(add_set, [](CUgraphExec exec, CUgraphNode, CUdeviceptr q) {
        CUgraph whole = graph_create();
        CUgraphNode error;
        CUgraphExecUpdateResult result;
        add_set(whole, q);
        return cuGraphExecUpdate(exec, whole, &error, &result);
    });
    exec_changes(add_set, [](CUgraphExec exec, CUgraphNode, CUdeviceptr q) {
        CUgraph whole = graph_create();
        CUgraphExecUpdateResultInfo info;
        add_set(whole, q);
        return cuGraphExecUpdate_v2(exec, whole, &info);
    });
}

// ---- Instantiations and launches ----

template <typename INSTANTIATE> static void instantiated(INSTANTIATE how)
{
    CUgraph graph = graph_create();
    CUgraphExec exec;
    CUdeviceptr q = device_bytes();
    add_set(graph, q);
    DRIVER_CHECK(how(&exec, graph));
    launch_against_sets(exec, device_bytes(), q);
}

static CUDA_GRAPH_INSTANTIATE_PARAMS plain;

static void instantiations()
{
    instantiated([](CUgraphExec *exec, CUgraph graph) {
        return cuGraphInstantiate(exec, graph, nullptr, nullptr, 0);
    });
    instantiated([](CUgraphExec *exec, CUgraph graph) {
        return cuGraphInstantiate_v2(exec, graph, nullptr, nullptr, 0);
    });
    instantiated([](CUgraphExec *exec, CUgraph graph) {
        return cuGraphInstantiateWithParams(exec, graph, &plain);
    });
    instantiated([](CUgraphExec *exec, CUgraph graph) {
        return cuGraphInstantiateWithParams_ptsz(exec, graph, &plain);
    });
}

// In stream 0, before a set in a blocking stream, which follows the legacy stream alone.
static void launches()
{
    for (auto launch : {cuGraphLaunch, cuGraphLaunch_ptsz}) {
        CUgraph graph = graph_create();
        CUdeviceptr q = device_bytes();
        add_set(graph, q);
        DRIVER_CHECK(launch(instantiate(graph), 0));
        set(q, blocking);
        DRIVER_CHECK(cuCtxSynchronize());
    }
}

// In stream 0, of a graph that was launched in another stream: what comes next there is behind that
// launch, and that launch was not behind what came before.
static void uploads()
{
    for (auto upload : {cuGraphUpload, cuGraphUpload_ptsz}) {
        CUgraph graph = graph_create();
        CUdeviceptr p = device_bytes(), q = device_bytes();
        bool per_thread = upload == cuGraphUpload_ptsz;
        auto set_in_0 = [=](CUdeviceptr to) {
            DRIVER_CHECK((per_thread ? cuMemsetD8Async_ptsz : cuMemsetD8Async)(to, 1, BYTES, 0));
        };
        add_set(graph, p);
        add_set(graph, q);
        CUgraphExec exec = instantiate(graph);
        set_in_0(p);
        DRIVER_CHECK(cuGraphLaunch(exec, stream));
        DRIVER_CHECK(upload(exec, 0));
        set_in_0(q);
        DRIVER_CHECK(cuCtxSynchronize());
    }
}

// ---- Nodes that order, and the end of a graph's own memory ----

static void function_before(void *) {}

static void function_after(void *)
{
    reached = 1;
}

// The host waits for the function that the node has after the change.
static void host_node_changes(bool in_exec)
{
    CUgraph graph = graph_create();
    CUdeviceptr p = device_bytes();
    CUgraphNode first = add_set(graph, p), node;
    const CUDA_HOST_NODE_PARAMS_v1 before = {function_before, nullptr},
                                   after = {function_after, nullptr};
    DRIVER_CHECK(cuGraphAddHostNode(&node, graph, &first, 1, &before));
    if (!in_exec)
        DRIVER_CHECK(cuGraphHostNodeSetParams(node, &after));
    CUgraphExec exec = instantiate(graph);
    if (in_exec)
        DRIVER_CHECK(cuGraphExecHostNodeSetParams(exec, node, &after));
    DRIVER_CHECK(cuGraphLaunch(exec, stream));
    while (!reached)
        ;
    reached = 0;
    set(p, other);
    DRIVER_CHECK(cuCtxSynchronize());
}

// Another stream sets p before the graph's wait and after its record, by the events that the nodes
// have after the change.
static void event_nodes_change()
{
    CUgraph graph = graph_create();
    CUdeviceptr p = device_bytes();
    CUgraphNode wait, middle, record;
    CUevent before, waited, recorded;
    for (CUevent *event : {&before, &waited, &recorded})
        DRIVER_CHECK(cuEventCreate(event, CU_EVENT_DISABLE_TIMING));
    DRIVER_CHECK(cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, before));
    DRIVER_CHECK(cuGraphAddMemsetNode(&middle, graph, &wait, 1, at(bytes(p)), context));
    DRIVER_CHECK(cuGraphAddEventRecordNode(&record, graph, &middle, 1, before));
    CUgraphExec exec = instantiate(graph);
    DRIVER_CHECK(cuGraphExecEventWaitNodeSetEvent(exec, wait, waited));
    DRIVER_CHECK(cuGraphExecEventRecordNodeSetEvent(exec, record, recorded));
    set(p, other);
    DRIVER_CHECK(cuEventRecord(waited, other));
    DRIVER_CHECK(cuGraphLaunch(exec, stream));
    DRIVER_CHECK(cuStreamWaitEvent(other, recorded, 0));
    set(p, other);
    DRIVER_CHECK(cuCtxSynchronize());
}

// The free waits for the allocation, not for the set.
static void memory_ends_early()
{
    CUgraph graph = graph_create();
    CUgraphNode born, middle, gone;
    CUDA_MEM_ALLOC_NODE_PARAMS_v1 params = {};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = BYTES;
    DRIVER_CHECK(cuGraphAddMemAllocNode(&born, graph, nullptr, 0, &params));
    DRIVER_CHECK(cuGraphAddMemsetNode(&middle, graph, &born, 1, at(bytes(params.dptr)), context));
    DRIVER_CHECK(cuGraphAddMemFreeNode(&gone, graph, &born, 1, params.dptr));
    instantiate(graph);
}

int main()
{
    CUmodule module;
    context = context_make_current();
    stream = nonblocking_stream();
    other = nonblocking_stream();
    DRIVER_CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    DRIVER_CHECK(cuModuleLoadData(&module, driver_ptx));
    DRIVER_CHECK(cuModuleGetFunction(&fill, module, "driver_fill"));
    source = device_bytes();
    changes_of_graphs();
    changes_of_execs();
    instantiations();
    launches();
    uploads();
    host_node_changes(false);
    host_node_changes(true);
    event_nodes_change();
    memory_ends_early();
    printf("done\n");
    return 0;
}
