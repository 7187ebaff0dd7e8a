// Graphs: launches among other work, one exec and several, and what nodes order inside and outside.
#include "litmus.h"

static cudaGraphNode_t kernel_node(struct trial &trial, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count, const void *kernel,
                                   void **arguments)
{
    cudaKernelNodeParams params = {};
    cudaGraphNode_t node = nullptr;
    params.func = (void *)kernel;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    check(trial, cudaGraphAddKernelNode(&node, graph, after, count, &params),
          "cudaGraphAddKernelNode");
    return node;
}

static cudaGraphNode_t first_node(struct trial &trial, cudaGraph_t graph,
                                  const cudaGraphNode_t *after = nullptr, size_t count = 0)
{
    void *arguments[] = {&trial.word, &trial.hold_us};
    return kernel_node(trial, graph, after, count, first_kernel(), arguments);
}

static cudaGraphNode_t second_node(struct trial &trial, cudaGraph_t graph,
                                   const cudaGraphNode_t *after = nullptr, size_t count = 0)
{
    void *arguments[] = {&trial.seen, &trial.word};
    return kernel_node(trial, graph, after, count, second_kernel(), arguments);
}

static cudaGraphNode_t add_node(struct trial &trial, cudaGraph_t graph)
{
    void *arguments[] = {&trial.word, &trial.hold_us};
    return kernel_node(trial, graph, nullptr, 0, add_kernel(), arguments);
}

static cudaGraph_t graph_create(struct trial &trial)
{
    cudaGraph_t graph = nullptr;
    check(trial, cudaGraphCreate(&graph, 0), "cudaGraphCreate");
    return graph;
}

static cudaGraphExec_t instantiate(struct trial &trial, cudaGraph_t graph)
{
    cudaGraphExec_t exec = nullptr;
    check(trial, cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
    return exec;
}

static void launch(struct trial &trial, cudaGraphExec_t exec, cudaStream_t stream)
{
    check(trial, cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
}

static void finish(struct trial &trial, cudaGraph_t graph, cudaGraphExec_t exec)
{
    TRY(cudaDeviceSynchronize());
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
}

// Builds a graph, launches it in a stream, and ends it when all is done.
static void run_graph(struct trial &trial, cudaGraph_t graph)
{
    cudaGraphExec_t exec = instantiate(trial, graph);
    launch(trial, exec, trial.a);
    finish(trial, graph, exec);
}

static void graph_is_first(struct trial &trial, cudaStream_t in, cudaStream_t then)
{
    cudaGraph_t graph = graph_create(trial);
    first_node(trial, graph);
    cudaGraphExec_t exec = instantiate(trial, graph);
    launch(trial, exec, in);
    second(trial, then);
    finish(trial, graph, exec);
}

static void graph_is_second(struct trial &trial, cudaStream_t before, cudaStream_t in)
{
    cudaGraph_t graph = graph_create(trial);
    second_node(trial, graph);
    cudaGraphExec_t exec = instantiate(trial, graph);
    first(trial, before);
    launch(trial, exec, in);
    finish(trial, graph, exec);
}

// Both nodes in a child graph or the second beside it.
static void child_graph(struct trial &trial, bool edge)
{
    cudaGraph_t inner = graph_create(trial), outer = graph_create(trial);
    cudaGraphNode_t child = nullptr;
    first_node(trial, inner);
    TRY(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
    second_node(trial, outer, &child, edge);
    run_graph(trial, outer);
    TRY(cudaGraphDestroy(inner));
}

// A node records an event; a stream outside waits for it.
static void record_node(struct trial &trial, bool after)
{
    cudaGraph_t graph = graph_create(trial);
    cudaGraphNode_t node = first_node(trial, graph), record = nullptr;
    TRY(cudaGraphAddEventRecordNode(&record, graph, &node, after, trial.event));
    cudaGraphExec_t exec = instantiate(trial, graph);
    launch(trial, exec, trial.a);
    TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
    second(trial, trial.b);
    finish(trial, graph, exec);
}

// A node waits for an event that was recorded after A outside.
static void wait_node(struct trial &trial, bool before)
{
    cudaGraph_t graph = graph_create(trial);
    cudaGraphNode_t wait = nullptr;
    TRY(cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, trial.event));
    second_node(trial, graph, &wait, before);
    cudaGraphExec_t exec = instantiate(trial, graph);
    first(trial, trial.a);
    TRY(cudaEventRecord(trial.event, trial.a));
    launch(trial, exec, trial.b);
    finish(trial, graph, exec);
}

static void captured(struct trial &trial, bool joined)
{
    cudaGraph_t graph = nullptr;
    TRY(cudaStreamBeginCapture(trial.a, cudaStreamCaptureModeThreadLocal));
    TRY(cudaEventRecord(trial.event, trial.a));
    TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
    first(trial, trial.b);
    if (joined) {
        TRY(cudaEventRecord(trial.event_too, trial.b));
        TRY(cudaStreamWaitEvent(trial.a, trial.event_too, 0));
    }
    second(trial, trial.a);
    if (!joined) {
        TRY(cudaEventRecord(trial.event_too, trial.b));
        TRY(cudaStreamWaitEvent(trial.a, trial.event_too, 0));
    }
    TRY(cudaStreamEndCapture(trial.a, &graph));
    run_graph(trial, graph);
}

static void one_exec_twice(struct trial &trial, cudaStream_t x, cudaStream_t y)
{
    cudaGraph_t graph = graph_create(trial);
    add_node(trial, graph);
    cudaGraphExec_t exec = instantiate(trial, graph);
    launch(trial, exec, x);
    launch(trial, exec, y);
    trial.additions = 2;
    finish(trial, graph, exec);
}

static const char *const structure = "Programming Guide, CUDA Graphs, Graph Structure";
static const char *const launching = "Driver API, cuGraphLaunch";

static const struct rule table[] = {
    {"graph is A, B in its stream", PROMISED, launching,
     [](struct trial &trial) { graph_is_first(trial, trial.a, trial.a); }},
    {"graph is A, B in another stream", NOTHING, launching,
     [](struct trial &trial) { graph_is_first(trial, trial.a, trial.b); }},
    {"graph is A in a blocking stream, B in the legacy stream", PROMISED, launching,
     [](struct trial &trial) { graph_is_first(trial, trial.blocking, cudaStreamLegacy); }},
    {"graph is A in the legacy stream, B in a blocking stream", PROMISED, launching,
     [](struct trial &trial) { graph_is_first(trial, cudaStreamLegacy, trial.blocking); }},
    {"graph is B, A in its stream", PROMISED, launching,
     [](struct trial &trial) { graph_is_second(trial, trial.a, trial.a); }},
    {"graph is B, A in another stream", NOTHING, launching,
     [](struct trial &trial) { graph_is_second(trial, trial.a, trial.b); }},
    {"one exec in two streams", PROMISED, launching,
     [](struct trial &trial) { one_exec_twice(trial, trial.a, trial.b); }},
    {"two execs of one graph in two streams", NOTHING, launching,
     [](struct trial &trial) {
         cudaGraph_t graph = graph_create(trial);
         add_node(trial, graph);
         cudaGraphExec_t exec = instantiate(trial, graph), exec_too = instantiate(trial, graph);
         launch(trial, exec, trial.a);
         launch(trial, exec_too, trial.b);
         trial.additions = 2;
         TRY(cudaDeviceSynchronize());
         TRY(cudaGraphExecDestroy(exec_too));
         finish(trial, graph, exec);
     }},
    {"two execs of one graph in one stream", PROMISED, launching,
     [](struct trial &trial) {
         cudaGraph_t graph = graph_create(trial);
         add_node(trial, graph);
         cudaGraphExec_t exec = instantiate(trial, graph), exec_too = instantiate(trial, graph);
         launch(trial, exec, trial.a);
         launch(trial, exec_too, trial.a);
         trial.additions = 2;
         TRY(cudaDeviceSynchronize());
         TRY(cudaGraphExecDestroy(exec_too));
         finish(trial, graph, exec);
     }},
    {"cudaGraphInstantiate between A and B", NOTHING, "nothing is said",
     [](struct trial &trial) {
         cudaGraph_t graph = graph_create(trial);
         add_node(trial, graph);
         first(trial, trial.a);
         cudaGraphExec_t exec = instantiate(trial, graph);
         second(trial, trial.b);
         finish(trial, graph, exec);
     }},
    {"cudaGraphUpload between A and B", NOTHING, "nothing is said",
     [](struct trial &trial) {
         cudaGraph_t graph = graph_create(trial);
         add_node(trial, graph);
         cudaGraphExec_t exec = instantiate(trial, graph);
         first(trial, trial.a);
         TRY(cudaGraphUpload(exec, trial.blocking));
         second(trial, trial.b);
         finish(trial, graph, exec);
     }},
    {"cudaGraphExecDestroy while the graph is A", NOTHING, "Runtime API, cudaGraphExecDestroy",
     [](struct trial &trial) {
         cudaGraph_t graph = graph_create(trial);
         first_node(trial, graph);
         cudaGraphExec_t exec = instantiate(trial, graph);
         launch(trial, exec, trial.a);
         TRY(cudaGraphExecDestroy(exec));
         second(trial, trial.b);
         TRY(cudaDeviceSynchronize());
         TRY(cudaGraphDestroy(graph));
     }},
    {"cudaGraphExecUpdate while the graph is A", NOTHING, "nothing is said",
     [](struct trial &trial) {
         cudaGraph_t graph = graph_create(trial);
         cudaGraphExecUpdateResultInfo info;
         first_node(trial, graph);
         cudaGraphExec_t exec = instantiate(trial, graph);
         launch(trial, exec, trial.a);
         TRY(cudaGraphExecUpdate(exec, graph, &info));
         second(trial, trial.b);
         finish(trial, graph, exec);
     }},
    {"capture of other work between A and B", NOTHING, "nothing is said",
     [](struct trial &trial) {
         cudaGraph_t graph = nullptr;
         first(trial, trial.a);
         TRY(cudaStreamBeginCapture(trial.blocking, cudaStreamCaptureModeThreadLocal));
         hold(trial, trial.blocking);
         TRY(cudaStreamEndCapture(trial.blocking, &graph));
         second(trial, trial.b);
         TRY(cudaGraphDestroy(graph));
     }},
    {"host node behind A, B waits for its stream", PROMISED, launching,
     [](struct trial &trial) {
         cudaGraph_t graph = graph_create(trial);
         cudaGraphNode_t node = first_node(trial, graph), host = nullptr;
         cudaHostNodeParams params = {[](void *) {}, nullptr};
         TRY(cudaGraphAddHostNode(&host, graph, &node, 1, &params));
         cudaGraphExec_t exec = instantiate(trial, graph);
         launch(trial, exec, trial.a);
         TRY(cudaEventRecord(trial.event, trial.a));
         TRY(cudaStreamWaitEvent(trial.b, trial.event, 0));
         second(trial, trial.b);
         finish(trial, graph, exec);
     }},
    {"nodes with an edge", PROMISED, structure,
     [](struct trial &trial) {
         cudaGraph_t graph = graph_create(trial);
         cudaGraphNode_t node = first_node(trial, graph);
         second_node(trial, graph, &node, 1);
         run_graph(trial, graph);
     }},
    {"nodes without an edge", NOTHING, structure,
     [](struct trial &trial) {
         cudaGraph_t graph = graph_create(trial);
         first_node(trial, graph);
         second_node(trial, graph);
         run_graph(trial, graph);
     }},
    {"nodes joined through an empty node", PROMISED, structure,
     [](struct trial &trial) {
         cudaGraph_t graph = graph_create(trial);
         cudaGraphNode_t node = first_node(trial, graph), empty = nullptr;
         TRY(cudaGraphAddEmptyNode(&empty, graph, &node, 1));
         second_node(trial, graph, &empty, 1);
         run_graph(trial, graph);
     }},
    {"child graph with A, B behind it", PROMISED, structure,
     [](struct trial &trial) { child_graph(trial, true); }},
    {"child graph with A, B beside it", NOTHING, structure,
     [](struct trial &trial) { child_graph(trial, false); }},
    {"event record node behind A, waited for outside", PROMISED,
     "Driver API, cuGraphAddEventRecordNode",
     [](struct trial &trial) { record_node(trial, true); }},
    {"event record node beside A, waited for outside", NOTHING,
     "Driver API, cuGraphAddEventRecordNode",
     [](struct trial &trial) { record_node(trial, false); }},
    {"event wait node before B, recorded outside", PROMISED, "Driver API, cuGraphAddEventWaitNode",
     [](struct trial &trial) { wait_node(trial, true); }},
    {"event wait node beside B, recorded outside", NOTHING, "Driver API, cuGraphAddEventWaitNode",
     [](struct trial &trial) { wait_node(trial, false); }},
    {"captured fork with A, joined before B", PROMISED,
     "Programming Guide, Cross-stream Dependencies and Events",
     [](struct trial &trial) { captured(trial, true); }},
    {"captured fork with A, joined after B", NOTHING,
     "Programming Guide, Cross-stream Dependencies and Events",
     [](struct trial &trial) { captured(trial, false); }},
};

struct rules graph_rules()
{
    return {table, sizeof table / sizeof *table};
}
