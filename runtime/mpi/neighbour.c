/* Collective calls among neighbours (MPI 3.1, 7.6): exchanges with those of the topology. */
#include "runtime/mpi/collective.h"

#include <stdlib.h>

struct neighbours {
    int in, out;
};

static struct neighbours neighbours_of(mpi_handle comm)
{
    struct neighbours found = {0, 0};
    int dims = 0, weighted, rank = 0;
    int kind = abi.undefined;
    if (PMPI(Topo_test)(comm, &kind) != MPI_OK || kind == abi.undefined)
        return found;
    if (kind == abi.topology_cart && PMPI(Cartdim_get)(comm, &dims) == MPI_OK) {
        found.in = found.out = 2 * dims;
    } else if (kind == abi.topology_graph && PMPI(Comm_rank)(comm, &rank) == MPI_OK) {
        PMPI(Graph_neighbors_count)(comm, rank, &found.in);
        found.out = found.in;
    } else if (kind == abi.topology_dist_graph) {
        PMPI(Dist_graph_neighbors_count)(comm, &found.in, &found.out, &weighted);
    }
    return found;
}

/* The ranks that give to the calling one, and how many it gives to; of a grid, but for those that
 * are not there. */
struct around {
    int *in;
    size_t in_count;
    uint64_t out;
};

static bool counts_at(const int *counts, int edge, bool all)
{
    return counts ? counts[edge] > 0 : all;
}

static void around_grid(mpi_handle comm, int dims, struct around *around, const int *sent,
                        const int *received, bool all)
{
    for (int edge = 0; edge < 2 * dims; edge++) {
        int before, behind;
        if (PMPI(Cart_shift)(comm, edge / 2, 1, &before, &behind) != MPI_OK)
            return;
        const int peer = edge % 2 ? behind : before;
        if (peer == abi.proc_null)
            continue;
        around->out += counts_at(sent, edge, all);
        if (counts_at(received, edge, all))
            around->in[around->in_count++] = peer;
    }
}

static void around_list(struct around *around, struct neighbours among, const int *sent,
                        const int *received, bool all)
{
    for (int i = 0; i < among.out; i++)
        around->out += counts_at(sent, i, all);
    for (int i = 0; i < among.in; i++)
        if (counts_at(received, i, all))
            around->in[around->in_count++] = around->in[i];
}

/* The calling rank exchanges with its neighbours. Counts of edges, or NULL: `all` have data. */
static void follow_neighbours(struct call *call, mpi_handle comm, const int *sent,
                              const int *received, bool all)
{
    const struct neighbours among = neighbours_of(comm);
    const size_t room = (size_t)among.in + (size_t)among.out + 1;
    int kind = abi.undefined, rank = 0;
    if (!call_shared.links)
        return;
    struct around around = {malloc(4 * room * sizeof *around.in), 0, 0};
    if (!around.in)
        return;
    PMPI(Topo_test)(comm, &kind);
    PMPI(Comm_rank)(comm, &rank);
    if (kind == abi.topology_cart) {
        around_grid(comm, among.in / 2, &around, sent, received, all);
    } else {
        if (kind == abi.topology_graph)
            PMPI(Graph_neighbors)(comm, rank, among.in, around.in);
        else
            PMPI(Dist_graph_neighbors)
        (comm, among.in, around.in, around.in + room, among.out, around.in + 2 * room,
         around.in + 3 * room);
        around_list(&around, among, sent, received, all);
    }
    follow_exchange(call, comm, around.out, around.in, around.in_count);
    free(around.in);
}

static void touch_Neighbor_allgather(struct call *call, ALLGATHER_PARAMETERS)
{
    const struct neighbours among = neighbours_of(comm);
    call_collective(call, sendcount, sendtype, CALL_NO_ROOT, comm);
    follow_neighbours(call, comm, NULL, NULL, sendcount > 0);
    call_reads(call, sendbuf, among.out ? sendcount : 0, sendtype, ARGUMENT_SENDBUF);
    call_writes(call, recvbuf, (int64_t)recvcount * among.in, recvtype, ARGUMENT_RECVBUF);
}
FORMS(Neighbor_allgather, Ineighbor_allgather, ALLGATHER)

static void touch_Neighbor_alltoall(struct call *call, ALLGATHER_PARAMETERS)
{
    const struct neighbours among = neighbours_of(comm);
    call_collective(call, sendcount, sendtype, CALL_NO_ROOT, comm);
    follow_neighbours(call, comm, NULL, NULL, sendcount > 0);
    call_reads(call, sendbuf, (int64_t)sendcount * among.out, sendtype, ARGUMENT_SENDBUF);
    call_writes(call, recvbuf, (int64_t)recvcount * among.in, recvtype, ARGUMENT_RECVBUF);
}
FORMS(Neighbor_alltoall, Ineighbor_alltoall, ALLGATHER)

static void touch_Neighbor_allgatherv(struct call *call, ALLGATHERV_PARAMETERS)
{
    const struct neighbours among = neighbours_of(comm);
    call_collective(call, sendcount, sendtype, CALL_NO_ROOT, comm);
    follow_neighbours(call, comm, NULL, counts, sendcount > 0);
    call_reads(call, sendbuf, among.out ? sendcount : 0, sendtype, ARGUMENT_SENDBUF);
    collective_blocks(call, recvbuf, counts, places, recvtype, CSAN_WRITE, among.in, -1,
                      ARGUMENT_RECVBUF);
}
FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, ALLGATHERV)

static void touch_Neighbor_alltoallv(struct call *call, ALLTOALLV_PARAMETERS)
{
    const struct neighbours among = neighbours_of(comm);
    call_collective(call, -1, recvtype, CALL_NO_ROOT, comm);
    follow_neighbours(call, comm, sendcounts, recvcounts, true);
    collective_blocks(call, sendbuf, sendcounts, sendplaces, sendtype, CSAN_READ, among.out, -1,
                      ARGUMENT_SENDBUF);
    collective_blocks(call, recvbuf, recvcounts, recvplaces, recvtype, CSAN_WRITE, among.in, -1,
                      ARGUMENT_RECVBUF);
}
FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, ALLTOALLV)

#define NEIGHBOR_W_PARAMETERS      EXCHANGE_W(mpi_aint)
#define NEIGHBOR_W_ARGUMENTS(pass) ALLTOALLW_ARGUMENTS(pass)

static void touch_Neighbor_alltoallw(struct call *call, NEIGHBOR_W_PARAMETERS)
{
    const struct neighbours among = neighbours_of(comm);
    call_collective(call, -1, 0, CALL_NO_ROOT, comm);
    follow_neighbours(call, comm, sendcounts, recvcounts, true);
    for (int i = 0; i < among.out; i++)
        call_reads(call, at(sendbuf, sendplaces[i], 1), sendcounts[i],
                   handle_at(sendtypes, (size_t)i), ARGUMENT_SENDBUF);
    for (int i = 0; i < among.in; i++)
        call_writes(call, at(recvbuf, recvplaces[i], 1), recvcounts[i],
                    handle_at(recvtypes, (size_t)i), ARGUMENT_RECVBUF);
}
FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, NEIGHBOR_W)
