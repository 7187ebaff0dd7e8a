// verdict: none
// library: nccl
// Two ranks of NCCL in two processes, and memory of rank 0 that both have. Rank 0's kernel writes
// it, and rank 1's reads it; the argument says which call comes between. By itself each is right;
// `csan merge --order` sees both (tests/shell/test_interprocess.sh).
#include "collectives.h"
#include "process_pair.h"
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

static int rank;
static ncclComm_t comm;
static cudaStream_t stream;
static int *mine, *other, *memory;
static ncclWindow_t windows[2];

static void connect()
{
    ncclUniqueId id;
    cudaIpcMemHandle_t handle;
    if (rank == 0) {
        memory = zeroed();
        NCCL(ncclGetUniqueId(&id));
        CHECK(cudaIpcGetMemHandle(&handle, memory));
        put(id);
        put(handle);
    } else {
        id = get<ncclUniqueId>();
        handle = get<cudaIpcMemHandle_t>();
        CHECK(cudaIpcOpenMemHandle((void **)&memory, handle, cudaIpcMemLazyEnablePeerAccess));
    }
    join_two_ranks(&comm, id, rank);
    if (is("ahead")) { // a communicator's first call connects the ranks, and waits for the other
        NCCL(ncclAllReduce(mine, other, N, ncclInt32, ncclSum, comm, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    if (is("split"))
        NCCL(ncclCommSplit(comm, 0, rank, &comm, nullptr));
}

// The library has windows of its own memory alone.
static int *windowed(int which)
{
    void *p;
    NCCL(ncclMemAlloc(&p, N * sizeof(int)));
    CHECK(cudaMemset(p, 0, N * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    NCCL(ncclCommWindowRegister(comm, p, N * sizeof(int), &windows[which], 1));
    return (int *)p;
}

static bool in_windows()
{
    return (is("registered") || is("registered_behind")) && ncclCommWindowRegister;
}

static void broadcast(int root)
{
    NCCL(ncclBroadcast(mine, mine, N, ncclInt32, root, comm, stream));
}

// In a group with its receive first: each rank gives before it takes.
static void exchange()
{
    NCCL(ncclGroupStart());
    NCCL(ncclRecv(other, N, ncclInt32, 1 - rank, comm, stream));
    NCCL(ncclSend(mine, N, ncclInt32, 1 - rank, comm, stream));
    NCCL(ncclGroupEnd());
}

static void between()
{
    if (is("all_reduce") || is("split") || is("ahead") || is("registered"))
        NCCL(ncclAllReduce(mine, other, N, ncclInt32, ncclSum, comm, stream));
    if (is("broadcast"))
        broadcast(0);
    if (is("broadcast_of_reader"))
        broadcast(1);
    if (is("reduce"))
        NCCL(ncclReduce(mine, other, N, ncclInt32, ncclSum, 1, comm, stream));
    if (is("reduce_to_writer"))
        NCCL(ncclReduce(mine, other, N, ncclInt32, ncclSum, 0, comm, stream));
    if (is("exchange"))
        exchange();
    if (is("send") && rank == 0)
        NCCL(ncclSend(mine, N, ncclInt32, 1, comm, stream));
    if (is("send") && rank == 1)
        NCCL(ncclRecv(mine, N, ncclInt32, 0, comm, stream));
}

// A graph of what `work` does in the stream.
static cudaGraphExec_t captured(void (*work)())
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    work();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

static void all_reduce()
{
    NCCL(ncclAllReduce(mine, other, N, ncclInt32, ncclSum, comm, stream));
}

static void reduce_to_writer()
{
    NCCL(ncclReduce(mine, other, N, ncclInt32, ncclSum, 0, comm, stream));
}

static void two_calls()
{
    all_reduce();
    exchange();
}

// The kernels lie in the graph as well: before the call, or behind it.
static void used_before()
{
    if (rank == 0)
        launch_fill(stream, memory);
    all_reduce();
    if (rank == 1)
        launch_copy(stream, other, memory);
}

static void used_behind()
{
    all_reduce();
    if (rank == 0)
        launch_fill(stream, memory);
    else
        launch_copy(stream, other, memory);
}

static void launch_graph(void (*work)(), int times)
{
    cudaGraphExec_t exec = captured(work);
    for (int i = 0; i < times; i++)
        CHECK(cudaGraphLaunch(exec, stream));
}

// The one writes before the second of two launches, the other reads behind one of them.
static void launch_of_two()
{
    cudaGraphExec_t exec = captured(all_reduce);
    CHECK(cudaGraphLaunch(exec, stream));
    if (rank == 0)
        launch_fill(stream, memory);
    if (rank == 1 && is("graph_first"))
        launch_copy(stream, mine, memory);
    CHECK(cudaGraphLaunch(exec, stream));
    if (rank == 1)
        launch_copy(stream, mine, memory);
}

static void with_graph()
{
    if (is("graph") || is("graph_two_calls"))
        launch_graph(is("graph") ? all_reduce : two_calls, 1);
    if (is("graph_reduce_to_writer"))
        launch_graph(reduce_to_writer, 1);
    if (is("graph_inside") || is("graph_again"))
        launch_graph(used_before, is("graph_again") ? 2 : 1);
    if (is("graph_behind"))
        launch_graph(used_behind, 1);
    if (is("graph_second") || is("graph_first"))
        launch_of_two();
}

// Those whose kernels come before the graph and behind it.
static bool graph_is_between()
{
    return is("graph") || is("graph_two_calls") || is("graph_reduce_to_writer");
}

static int writer()
{
    const bool graph_only = strncmp(mode, "graph", 5) == 0 && !graph_is_between();
    if (!graph_only)
        launch_fill(stream, memory);
    between();
    with_graph();
    if (is("ahead")) // the other rank enqueues its part when this one has gone on
        put(csan_send());
    if (is("written_behind") || is("registered_behind"))
        NCCL(ncclAllReduce(mine, other, N, ncclInt32, ncclSum, comm, stream));
    if (is("written_behind") || is("registered_behind"))
        launch_fill(stream, memory);
    get<char>();
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(memory));
    return 0;
}

static int reader()
{
    if (is("ahead"))
        csan_receive(get<uint64_t>());
    between();
    if (is("written_behind") || is("registered_behind"))
        NCCL(ncclAllReduce(mine, other, N, ncclInt32, ncclSum, comm, stream));
    with_graph();
    if (strncmp(mode, "graph", 5) != 0 || graph_is_between())
        launch_copy(stream, other, memory);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaIpcCloseMemHandle(memory));
    put('c');
    return 0;
}

int main(int count, char **arguments)
{
    int there[2], back[2], status = -1;
    mode = count > 1 ? arguments[1] : "all_reduce";
    if (pipe(there) || pipe(back))
        return 100;
    const pid_t child = fork();
    rank = child == 0;
    from = child ? back[0] : there[0];
    to = child ? there[1] : back[1];
    setenv("RANK", child ? "0" : "1", 1);
    use_device_of(rank);
    stream = nonblocking_stream();
    mine = zeroed();
    other = zeroed();
    connect();
    if (in_windows()) {
        mine = windowed(0);
        other = windowed(1);
    }
    if (!child)
        return reader();
    const int code = writer();
    waitpid(child, &status, 0);
    printf("done\n");
    return code ? code : WIFEXITED(status) ? WEXITSTATUS(status) : 104;
}
