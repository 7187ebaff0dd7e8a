// verdict: none
// library: nccl
// Two ranks of NCCL in two processes, and a window that each has. Rank 0 puts into rank 1's, whose
// kernels read and write it; the argument says what comes between. By itself each is right; `csan
// merge --order` sees both (tests/shell/test_interprocess.sh).
#include "collectives.h"
#include "process_pair.h"
#include <sys/wait.h>
#include <unistd.h>

enum { PARTS = 2, PART = N / PARTS };

static int rank;
static ncclComm_t comm;
static cudaStream_t stream, second;
static ncclWindow_t window, spare, of_source;
static int *source, *memory, *result;

static void connect()
{
    ncclUniqueId id;
    if (rank == 0) {
        NCCL(ncclGetUniqueId(&id));
        put(id);
    } else {
        id = get<ncclUniqueId>();
    }
    join_two_ranks(&comm, id, rank);
}

// Its kernel uses the other rank's window: of the kind 1, NCCL_WIN_COLL_SYMMETRIC.
static bool uses_kernel()
{
    return is("kernel") || is("kernel_early");
}

// The library has windows of such memory alone.
static int *allocated(size_t count = N)
{
    void *p;
    NCCL(ncclMemAlloc(&p, count * sizeof(int)));
    CHECK(cudaMemset(p, 0, count * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    return (int *)p;
}

// Of bare signals: until NCCL 2.31 there is none but 0.
static int other_signal()
{
    return is("bare_signal") || is("signal_first") ? 2 : 0;
}

// A window may be a part of an allocation. In a group its handle is there at the end. What is put
// must lie in a window of the kind 1.
static void register_windows()
{
    if (is("group"))
        NCCL(ncclGroupStart());
    if (is("second_window") || is("other_window"))
        NCCL(ncclCommWindowRegister(comm, result, N * sizeof(int), &spare, 0));
    NCCL(ncclCommWindowRegister(comm, memory + N, N * sizeof(int), &window, uses_kernel()));
    NCCL(ncclCommWindowRegister(comm, source, N * sizeof(int), &of_source, 1));
    if (is("group"))
        NCCL(ncclGroupEnd());
}

static void put_part(int part, int signal, cudaStream_t on)
{
    ncclWindow_t to = is("other_window") ? spare : window;
    NCCL(ncclPutSignal(source, PART, ncclInt32, 1, to, part * PART * sizeof(int), signal, 0, 0,
                       comm, on));
}

static void wait_for(int count, int signal, int peer)
{
    ncclWaitSignalDesc_t what = {count, peer, signal, 0};
    NCCL(ncclWaitSignal(1, &what, comm, stream));
}

static void put_by_graph()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    put_part(0, 0, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
}

static void write_there()
{
    void *there;
    NCCL(ncclGetPeerDevicePointer(window, 0, 1, &there));
    launch_fill(stream, (int *)there);
    if (is("kernel"))
        NCCL(ncclSignal(1, 0, 0, 0, comm, stream));
}

static void writer()
{
    if (is("reused") || is("reused_early") || is("signal_of_reader"))
        put_part(0, 0, stream);
    if (is("reused") || is("signal_of_reader"))
        wait_for(1, 0, 1);
    if (is("signal_first") || is("signal_first_same_index"))
        NCCL(ncclSignal(1, other_signal(), 0, 0, comm, stream));
    if (is("kernel_early"))
        NCCL(ncclSignal(1, 0, 0, 0, comm, stream));
    if (is("captured"))
        put_by_graph();
    else if (uses_kernel())
        write_there();
    else
        put_part(0, 0, stream);
    if (is("two_puts") || is("one_of_two"))
        put_part(1, 0, second);
    if (is("bare_signal") || is("bare_signal_same_index"))
        NCCL(ncclSignal(1, other_signal(), 0, 0, comm, stream));
}

// Its kernels use the window's memory by their own pointer.
static void read_window(int part, int parts)
{
    launch_copy(stream, result, memory + N + part * PART, parts * PART);
}

// Its wait comes behind what it should order. A put to a rank that never waits for a signal does
// not end.
static bool waits_late()
{
    return is("no_wait") || is("other_part") || is("other_window") || is("captured");
}

static void reader()
{
    const bool both = is("two_puts") || is("one_of_two");
    if (is("reused") || is("reused_early") || is("signal_of_reader")) {
        wait_for(1, 0, 0);
        if (is("signal_of_reader")) // before what the signal is to cover
            NCCL(ncclSignal(0, 0, 0, 0, comm, stream));
        read_window(0, 1);
        if (is("reused"))
            NCCL(ncclSignal(0, 0, 0, 0, comm, stream));
        return;
    }
    if (is("bare_signal") || is("signal_first"))
        wait_for(1, other_signal(), 0);
    else if (is("bare_signal_same_index")) // the put's and the bare one
        wait_for(2, 0, 0);
    else if (!waits_late())
        wait_for(both && !is("one_of_two") ? 2 : 1, 0, 0);
    read_window(is("other_part") ? 1 : 0, both ? 2 : 1);
    if (waits_late())
        wait_for(1, 0, 0);
}

int main(int count, char **arguments)
{
    int there[2], back[2], status = -1;
    mode = count > 1 ? arguments[1] : "waited";
    if (!ncclPutSignal) {
        printf("done\n");
        return 0;
    }
    if (pipe(there) || pipe(back))
        return 100;
    const pid_t child = fork();
    rank = child == 0;
    from = child ? back[0] : there[0];
    to = child ? there[1] : back[1];
    setenv("RANK", child ? "0" : "1", 1);
    use_device_of(rank);
    stream = nonblocking_stream();
    second = nonblocking_stream();
    source = allocated();
    memory = allocated(2 * N);
    result = allocated();
    connect();
    register_windows();
    if (rank == 0)
        writer();
    else
        reader();
    CHECK(cudaDeviceSynchronize());
    if (is("deregistered"))
        NCCL(ncclCommWindowDeregister(comm, window));
    put('e'); // NCCL refuses what is sent to a rank that has ended
    get<char>();
    if (!child)
        return 0;
    waitpid(child, &status, 0);
    printf("done\n");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 104;
}
