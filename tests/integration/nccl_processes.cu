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
    NCCL(ncclCommInitRank(&comm, 2, id, rank));
    if (is("split"))
        NCCL(ncclCommSplit(comm, 0, rank, &comm, nullptr));
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
    if (is("all_reduce") || is("split") || is("ahead"))
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

static int writer()
{
    launch_fill(stream, memory);
    between();
    if (is("ahead")) // the other rank enqueues its part when this one has gone on
        put(csan_send());
    if (is("written_behind"))
        NCCL(ncclAllReduce(mine, other, N, ncclInt32, ncclSum, comm, stream));
    if (is("written_behind"))
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
    if (is("written_behind"))
        NCCL(ncclAllReduce(mine, other, N, ncclInt32, ncclSum, comm, stream));
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
    stream = nonblocking_stream();
    mine = zeroed();
    other = zeroed();
    connect();
    if (!child)
        return reader();
    const int code = writer();
    waitpid(child, &status, 0);
    printf("done\n");
    return code ? code : WIFEXITED(status) ? WEXITSTATUS(status) : 104;
}
