/* Collective calls (MPI 3.1, chapter 5), each in its blocking, nonblocking and, where the MPI has
 * it, persistent form (MPI 4.0, chapter 6). A function says what a call touches; the three forms
 * come from it. */
#include "runtime/mpi/call.h"
#include "runtime/mpi/exported.h"
#include "runtime/mpi/functions.h"
#include "runtime/mpi/group.h"
#include "runtime/mpi/request.h"

/* `parameters`, `names` of them, and `views`: the names with buffers as MPI can use them. */
#define BLOCKING(name, parameters, names, views)                                                   \
    EXPORTED int MPI_##name(parameters);                                                           \
    int MPI_##name(parameters)                                                                     \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, "MPI_" #name))                                                      \
            return PMPI(name)(names);                                                              \
        touch_##name(&call, names);                                                                \
        call_touches(&call);                                                                       \
        call_inside();                                                                             \
        return call_end(&call, PMPI(name)(views));                                                 \
    }                                                                                              \
    ALSO_PMPI(name)

#define FORMS(name, started, parameters, names, views)                                             \
    EXPORTED int MPI_##name(parameters);                                                           \
    int MPI_##name(parameters)                                                                     \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, "MPI_" #name))                                                      \
            return PMPI(name)(names);                                                              \
        touch_##name(&call, names);                                                                \
        call_touches(&call);                                                                       \
        call_inside();                                                                             \
        return call_end(&call, PMPI(name)(views));                                                 \
    }                                                                                              \
    ALSO_PMPI(name)                                                                                \
    EXPORTED int MPI_##started(parameters, void *request);                                         \
    int MPI_##started(parameters, void *request)                                                   \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, "MPI_" #started))                                                   \
            return PMPI(started)(names, request);                                                  \
        touch_##name(&call, names);                                                                \
        call_starts(&call);                                                                        \
        call_inside();                                                                             \
        const int result = PMPI(started)(views, request);                                          \
        request_started(&call, result, request);                                                   \
        return call_end(&call, result);                                                            \
    }                                                                                              \
    ALSO_PMPI(started)                                                                             \
    EXPORTED int MPI_##name##_init(parameters, mpi_handle info, void *request);                    \
    int MPI_##name##_init(parameters, mpi_handle info, void *request)                              \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, "MPI_" #name "_init"))                                              \
            return PMPI(name##_init)(names, info, request);                                        \
        touch_##name(&call, names);                                                                \
        call_inside();                                                                             \
        const int result = PMPI(name##_init)(views, info, request);                                \
        request_made(&call, result, request);                                                      \
        return call_end(&call, result);                                                            \
    }                                                                                              \
    ALSO_PMPI(name##_init)

#define IS_IN_PLACE(buffer) ((const void *)(buffer) == abi.in_place)

static const void *at(const void *base, int64_t elements, mpi_aint extent)
{
    return (const char *)base + elements * extent;
}

/* ---- From one, or to one ---- */

#define BCAST       void *buffer, int count, mpi_handle type, int root, mpi_handle comm
#define BCAST_NAMES buffer, count, type, root, comm
#define BCAST_VIEWS call_usable(&call, buffer, ARGUMENT_BUFFER), count, type, root, comm

static void touch_Bcast(struct call *call, BCAST)
{
    const struct group group = group_of(comm);
    call_collective(call, count, type, root, comm);
    if (group_is_idle(&group, root))
        return;
    call_buffer(call, buffer, count, type, group_is_root(&group, root) ? CSAN_READ : CSAN_WRITE,
                ARGUMENT_BUFFER);
}
FORMS(Bcast, Ibcast, BCAST, BCAST_NAMES, BCAST_VIEWS)

#define REDUCE                                                                                     \
    const void *sendbuf, void *recvbuf, int count, mpi_handle type, mpi_handle op, int root,       \
        mpi_handle comm
#define REDUCE_NAMES sendbuf, recvbuf, count, type, op, root, comm
#define REDUCE_VIEWS                                                                               \
    call_usable(&call, sendbuf, ARGUMENT_SENDBUF), call_usable(&call, recvbuf, ARGUMENT_RECVBUF),  \
        count, type, op, root, comm

static void touch_Reduce(struct call *call, REDUCE)
{
    const struct group group = group_of(comm);
    const bool is_root = group_is_root(&group, root);
    (void)op;
    call_collective(call, count, type, root, comm);
    if (group_is_idle(&group, root))
        return;
    if (!is_root || !group.inter)
        call_reads(call, sendbuf, count, type, ARGUMENT_SENDBUF);
    if (is_root)
        call_writes(call, recvbuf, count, type, ARGUMENT_RECVBUF);
}
FORMS(Reduce, Ireduce, REDUCE, REDUCE_NAMES, REDUCE_VIEWS)

/* Blocks of `count` elements, one of each rank, but for the calling rank's where it is in place. */
static void blocks(struct call *call, const void *base, int64_t count, mpi_handle type, int kind,
                   const struct group *group, bool but_own, enum call_argument argument)
{
    if (!but_own) {
        call_buffer(call, base, count * group->size, type, kind, argument);
        return;
    }
    const mpi_aint extent = layout_extent(type);
    call_buffer(call, base, count * group->rank, type, kind, argument);
    call_buffer(call, at(base, count * (group->rank + 1), extent),
                count * (group->size - group->rank - 1), type, kind, argument);
}

/* Blocks of several sizes. `skip`: a rank that takes no part, or -1. */
static void blocks_v(struct call *call, const void *base, const int *counts, const int *places,
                     mpi_handle type, int kind, int size, int skip, enum call_argument argument)
{
    const mpi_aint extent = layout_extent(type);
    for (int i = 0; i < size; i++)
        if (i != skip)
            call_buffer(call, at(base, places[i], extent), counts[i], type, kind, argument);
}

#define GATHER                                                                                     \
    const void *sendbuf, int sendcount, mpi_handle sendtype, void *recvbuf, int recvcount,         \
        mpi_handle recvtype, int root, mpi_handle comm
#define GATHER_NAMES sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm
#define GATHER_VIEWS                                                                               \
    call_usable(&call, sendbuf, ARGUMENT_SENDBUF), sendcount, sendtype,                            \
        call_usable(&call, recvbuf, ARGUMENT_RECVBUF), recvcount, recvtype, root, comm

static void touch_Gather(struct call *call, GATHER)
{
    const struct group group = group_of(comm);
    const bool is_root = group_is_root(&group, root), in_place = IS_IN_PLACE(sendbuf);
    call_collective(call, in_place ? recvcount : sendcount, in_place ? recvtype : sendtype, root,
                    comm);
    if (group_is_idle(&group, root))
        return;
    if (!is_root || !group.inter)
        call_reads(call, sendbuf, sendcount, sendtype, ARGUMENT_SENDBUF);
    if (is_root)
        blocks(call, recvbuf, recvcount, recvtype, CSAN_WRITE, &group, in_place, ARGUMENT_RECVBUF);
}
FORMS(Gather, Igather, GATHER, GATHER_NAMES, GATHER_VIEWS)

static void touch_Scatter(struct call *call, GATHER)
{
    const struct group group = group_of(comm);
    const bool is_root = group_is_root(&group, root), in_place = IS_IN_PLACE(recvbuf);
    call_collective(call, in_place ? sendcount : recvcount, in_place ? sendtype : recvtype, root,
                    comm);
    if (group_is_idle(&group, root))
        return;
    if (is_root)
        blocks(call, sendbuf, sendcount, sendtype, CSAN_READ, &group, in_place, ARGUMENT_SENDBUF);
    if (!is_root || !group.inter)
        call_writes(call, recvbuf, recvcount, recvtype, ARGUMENT_RECVBUF);
}
FORMS(Scatter, Iscatter, GATHER, GATHER_NAMES, GATHER_VIEWS)

#define GATHERV                                                                                    \
    const void *sendbuf, int sendcount, mpi_handle sendtype, void *recvbuf, const int *counts,     \
        const int *places, mpi_handle recvtype, int root, mpi_handle comm
#define GATHERV_NAMES sendbuf, sendcount, sendtype, recvbuf, counts, places, recvtype, root, comm
#define GATHERV_VIEWS                                                                              \
    call_usable(&call, sendbuf, ARGUMENT_SENDBUF), sendcount, sendtype,                            \
        call_usable(&call, recvbuf, ARGUMENT_RECVBUF), counts, places, recvtype, root, comm

static void touch_Gatherv(struct call *call, GATHERV)
{
    const struct group group = group_of(comm);
    const bool is_root = group_is_root(&group, root), in_place = IS_IN_PLACE(sendbuf);
    call_collective(call, in_place ? -1 : sendcount, sendtype, root, comm);
    if (group_is_idle(&group, root))
        return;
    if (!is_root || !group.inter)
        call_reads(call, sendbuf, sendcount, sendtype, ARGUMENT_SENDBUF);
    if (is_root)
        blocks_v(call, recvbuf, counts, places, recvtype, CSAN_WRITE, group.size,
                 in_place ? group.rank : -1, ARGUMENT_RECVBUF);
}
FORMS(Gatherv, Igatherv, GATHERV, GATHERV_NAMES, GATHERV_VIEWS)

#define SCATTERV                                                                                   \
    const void *sendbuf, const int *counts, const int *places, mpi_handle sendtype, void *recvbuf, \
        int recvcount, mpi_handle recvtype, int root, mpi_handle comm
#define SCATTERV_NAMES sendbuf, counts, places, sendtype, recvbuf, recvcount, recvtype, root, comm
#define SCATTERV_VIEWS                                                                             \
    call_usable(&call, sendbuf, ARGUMENT_SENDBUF), counts, places, sendtype,                       \
        call_usable(&call, recvbuf, ARGUMENT_RECVBUF), recvcount, recvtype, root, comm

static void touch_Scatterv(struct call *call, SCATTERV)
{
    const struct group group = group_of(comm);
    const bool is_root = group_is_root(&group, root), in_place = IS_IN_PLACE(recvbuf);
    call_collective(call, in_place ? -1 : recvcount, recvtype, root, comm);
    if (group_is_idle(&group, root))
        return;
    if (is_root)
        blocks_v(call, sendbuf, counts, places, sendtype, CSAN_READ, group.size,
                 in_place ? group.rank : -1, ARGUMENT_SENDBUF);
    if (!is_root || !group.inter)
        call_writes(call, recvbuf, recvcount, recvtype, ARGUMENT_RECVBUF);
}
FORMS(Scatterv, Iscatterv, SCATTERV, SCATTERV_NAMES, SCATTERV_VIEWS)

/* ---- All reduce ---- */

#define ALLREDUCE                                                                                  \
    const void *sendbuf, void *recvbuf, int count, mpi_handle type, mpi_handle op, mpi_handle comm
#define ALLREDUCE_NAMES sendbuf, recvbuf, count, type, op, comm
#define ALLREDUCE_VIEWS                                                                            \
    call_usable(&call, sendbuf, ARGUMENT_SENDBUF), call_usable(&call, recvbuf, ARGUMENT_RECVBUF),  \
        count, type, op, comm

static void touch_Allreduce(struct call *call, ALLREDUCE)
{
    (void)op;
    call_collective(call, count, type, CALL_NO_ROOT, comm);
    call_reads(call, sendbuf, count, type, ARGUMENT_SENDBUF);
    call_writes(call, recvbuf, count, type, ARGUMENT_RECVBUF);
}
#define touch_Scan touch_Allreduce
FORMS(Allreduce, Iallreduce, ALLREDUCE, ALLREDUCE_NAMES, ALLREDUCE_VIEWS)
FORMS(Scan, Iscan, ALLREDUCE, ALLREDUCE_NAMES, ALLREDUCE_VIEWS)

/* Rank 0 receives nothing. */
static void touch_Exscan(struct call *call, ALLREDUCE)
{
    const bool first = group_of(comm).rank == 0;
    (void)op;
    call_collective(call, count, type, CALL_NO_ROOT, comm);
    if (first && IS_IN_PLACE(sendbuf))
        call_reads(call, recvbuf, count, type, ARGUMENT_RECVBUF);
    call_reads(call, sendbuf, count, type, ARGUMENT_SENDBUF);
    if (!first)
        call_writes(call, recvbuf, count, type, ARGUMENT_RECVBUF);
}
FORMS(Exscan, Iexscan, ALLREDUCE, ALLREDUCE_NAMES, ALLREDUCE_VIEWS)

/* In place the input is all of recvbuf, and the output its beginning. */
static void reduce_scatter(struct call *call, const void *sendbuf, void *recvbuf, int64_t all,
                           int64_t own, mpi_handle type)
{
    if (IS_IN_PLACE(sendbuf))
        call_reads(call, recvbuf, all, type, ARGUMENT_RECVBUF);
    call_reads(call, sendbuf, all, type, ARGUMENT_SENDBUF);
    call_writes(call, recvbuf, own, type, ARGUMENT_RECVBUF);
}

#define REDUCE_BLOCK                                                                               \
    const void *sendbuf, void *recvbuf, int recvcount, mpi_handle type, mpi_handle op,             \
        mpi_handle comm
#define REDUCE_BLOCK_NAMES sendbuf, recvbuf, recvcount, type, op, comm
#define REDUCE_BLOCK_VIEWS                                                                         \
    call_usable(&call, sendbuf, ARGUMENT_SENDBUF), call_usable(&call, recvbuf, ARGUMENT_RECVBUF),  \
        recvcount, type, op, comm

static void touch_Reduce_scatter_block(struct call *call, REDUCE_BLOCK)
{
    const struct group group = group_of(comm);
    (void)op;
    call_collective(call, recvcount, type, CALL_NO_ROOT, comm);
    reduce_scatter(call, sendbuf, recvbuf, (int64_t)recvcount * group.size, recvcount, type);
}
FORMS(Reduce_scatter_block, Ireduce_scatter_block, REDUCE_BLOCK, REDUCE_BLOCK_NAMES,
      REDUCE_BLOCK_VIEWS)

#define REDUCE_SCATTER                                                                             \
    const void *sendbuf, void *recvbuf, const int *counts, mpi_handle type, mpi_handle op,         \
        mpi_handle comm
#define REDUCE_SCATTER_NAMES sendbuf, recvbuf, counts, type, op, comm
#define REDUCE_SCATTER_VIEWS                                                                       \
    call_usable(&call, sendbuf, ARGUMENT_SENDBUF), call_usable(&call, recvbuf, ARGUMENT_RECVBUF),  \
        counts, type, op, comm

static void touch_Reduce_scatter(struct call *call, REDUCE_SCATTER)
{
    const struct group group = group_of(comm);
    int64_t all = 0;
    (void)op;
    for (int i = 0; i < group.size; i++)
        all += counts[i];
    call_collective(call, counts[group.rank], type, CALL_NO_ROOT, comm);
    reduce_scatter(call, sendbuf, recvbuf, all, counts[group.rank], type);
}
FORMS(Reduce_scatter, Ireduce_scatter, REDUCE_SCATTER, REDUCE_SCATTER_NAMES, REDUCE_SCATTER_VIEWS)

/* ---- All to all ---- */

#define ALLGATHER                                                                                  \
    const void *sendbuf, int sendcount, mpi_handle sendtype, void *recvbuf, int recvcount,         \
        mpi_handle recvtype, mpi_handle comm
#define ALLGATHER_NAMES sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm
#define ALLGATHER_VIEWS                                                                            \
    call_usable(&call, sendbuf, ARGUMENT_SENDBUF), sendcount, sendtype,                            \
        call_usable(&call, recvbuf, ARGUMENT_RECVBUF), recvcount, recvtype, comm

static void touch_Allgather(struct call *call, ALLGATHER)
{
    const struct group group = group_of(comm);
    const bool in_place = IS_IN_PLACE(sendbuf);
    call_collective(call, recvcount, recvtype, CALL_NO_ROOT, comm);
    call_reads(call, sendbuf, sendcount, sendtype, ARGUMENT_SENDBUF);
    if (in_place)
        call_reads(call, at(recvbuf, (int64_t)recvcount * group.rank, layout_extent(recvtype)),
                   recvcount, recvtype, ARGUMENT_RECVBUF);
    blocks(call, recvbuf, recvcount, recvtype, CSAN_WRITE, &group, in_place, ARGUMENT_RECVBUF);
}
FORMS(Allgather, Iallgather, ALLGATHER, ALLGATHER_NAMES, ALLGATHER_VIEWS)

static void touch_Alltoall(struct call *call, ALLGATHER)
{
    const struct group group = group_of(comm);
    call_collective(call, recvcount, recvtype, CALL_NO_ROOT, comm);
    if (!IS_IN_PLACE(sendbuf))
        blocks(call, sendbuf, sendcount, sendtype, CSAN_READ, &group, false, ARGUMENT_SENDBUF);
    blocks(call, recvbuf, recvcount, recvtype, CSAN_WRITE, &group, false, ARGUMENT_RECVBUF);
}
FORMS(Alltoall, Ialltoall, ALLGATHER, ALLGATHER_NAMES, ALLGATHER_VIEWS)

#define ALLGATHERV                                                                                 \
    const void *sendbuf, int sendcount, mpi_handle sendtype, void *recvbuf, const int *counts,     \
        const int *places, mpi_handle recvtype, mpi_handle comm
#define ALLGATHERV_NAMES sendbuf, sendcount, sendtype, recvbuf, counts, places, recvtype, comm
#define ALLGATHERV_VIEWS                                                                           \
    call_usable(&call, sendbuf, ARGUMENT_SENDBUF), sendcount, sendtype,                            \
        call_usable(&call, recvbuf, ARGUMENT_RECVBUF), counts, places, recvtype, comm

static void touch_Allgatherv(struct call *call, ALLGATHERV)
{
    const struct group group = group_of(comm);
    const bool in_place = IS_IN_PLACE(sendbuf);
    call_collective(call, in_place ? -1 : sendcount, sendtype, CALL_NO_ROOT, comm);
    call_reads(call, sendbuf, sendcount, sendtype, ARGUMENT_SENDBUF);
    if (in_place)
        call_reads(call, at(recvbuf, places[group.rank], layout_extent(recvtype)),
                   counts[group.rank], recvtype, ARGUMENT_RECVBUF);
    blocks_v(call, recvbuf, counts, places, recvtype, CSAN_WRITE, group.size,
             in_place ? group.rank : -1, ARGUMENT_RECVBUF);
}
FORMS(Allgatherv, Iallgatherv, ALLGATHERV, ALLGATHERV_NAMES, ALLGATHERV_VIEWS)

#define ALLTOALLV                                                                                  \
    const void *sendbuf, const int *sendcounts, const int *sendplaces, mpi_handle sendtype,        \
        void *recvbuf, const int *recvcounts, const int *recvplaces, mpi_handle recvtype,          \
        mpi_handle comm
#define ALLTOALLV_NAMES                                                                            \
    sendbuf, sendcounts, sendplaces, sendtype, recvbuf, recvcounts, recvplaces, recvtype, comm
#define ALLTOALLV_VIEWS                                                                            \
    call_usable(&call, sendbuf, ARGUMENT_SENDBUF), sendcounts, sendplaces, sendtype,               \
        call_usable(&call, recvbuf, ARGUMENT_RECVBUF), recvcounts, recvplaces, recvtype, comm

static void touch_Alltoallv(struct call *call, ALLTOALLV)
{
    const struct group group = group_of(comm);
    call_collective(call, -1, recvtype, CALL_NO_ROOT, comm);
    if (!IS_IN_PLACE(sendbuf))
        blocks_v(call, sendbuf, sendcounts, sendplaces, sendtype, CSAN_READ, group.size, -1,
                 ARGUMENT_SENDBUF);
    blocks_v(call, recvbuf, recvcounts, recvplaces, recvtype, CSAN_WRITE, group.size, -1,
             ARGUMENT_RECVBUF);
}
FORMS(Alltoallv, Ialltoallv, ALLTOALLV, ALLTOALLV_NAMES, ALLTOALLV_VIEWS)

/* Places are in bytes, and each block has its own datatype. */
#define ALLTOALLW                                                                                  \
    const void *sendbuf, const int *sendcounts, const int *sendplaces, const void *sendtypes,      \
        void *recvbuf, const int *recvcounts, const int *recvplaces, const void *recvtypes,        \
        mpi_handle comm
#define ALLTOALLW_NAMES                                                                            \
    sendbuf, sendcounts, sendplaces, sendtypes, recvbuf, recvcounts, recvplaces, recvtypes, comm
#define ALLTOALLW_VIEWS                                                                            \
    call_usable(&call, sendbuf, ARGUMENT_SENDBUF), sendcounts, sendplaces, sendtypes,              \
        call_usable(&call, recvbuf, ARGUMENT_RECVBUF), recvcounts, recvplaces, recvtypes, comm

static void blocks_w(struct call *call, const void *base, const int *counts, const int *places,
                     const void *types, int kind, int size, enum call_argument argument)
{
    for (int i = 0; i < size; i++)
        call_buffer(call, at(base, places[i], 1), counts[i], handle_at(types, (size_t)i), kind,
                    argument);
}

static void touch_Alltoallw(struct call *call, ALLTOALLW)
{
    const struct group group = group_of(comm);
    call_collective(call, -1, 0, CALL_NO_ROOT, comm);
    if (!IS_IN_PLACE(sendbuf))
        blocks_w(call, sendbuf, sendcounts, sendplaces, sendtypes, CSAN_READ, group.size,
                 ARGUMENT_SENDBUF);
    blocks_w(call, recvbuf, recvcounts, recvplaces, recvtypes, CSAN_WRITE, group.size,
             ARGUMENT_RECVBUF);
}
FORMS(Alltoallw, Ialltoallw, ALLTOALLW, ALLTOALLW_NAMES, ALLTOALLW_VIEWS)

/* ---- Among neighbours (MPI 3.1, 7.6): exchanges with those of the topology ---- */

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

static void touch_Neighbor_allgather(struct call *call, ALLGATHER)
{
    const struct neighbours among = neighbours_of(comm);
    call_collective(call, sendcount, sendtype, CALL_NO_ROOT, comm);
    call_reads(call, sendbuf, among.out ? sendcount : 0, sendtype, ARGUMENT_SENDBUF);
    call_writes(call, recvbuf, (int64_t)recvcount * among.in, recvtype, ARGUMENT_RECVBUF);
}
FORMS(Neighbor_allgather, Ineighbor_allgather, ALLGATHER, ALLGATHER_NAMES, ALLGATHER_VIEWS)

static void touch_Neighbor_alltoall(struct call *call, ALLGATHER)
{
    const struct neighbours among = neighbours_of(comm);
    call_collective(call, sendcount, sendtype, CALL_NO_ROOT, comm);
    call_reads(call, sendbuf, (int64_t)sendcount * among.out, sendtype, ARGUMENT_SENDBUF);
    call_writes(call, recvbuf, (int64_t)recvcount * among.in, recvtype, ARGUMENT_RECVBUF);
}
FORMS(Neighbor_alltoall, Ineighbor_alltoall, ALLGATHER, ALLGATHER_NAMES, ALLGATHER_VIEWS)

static void touch_Neighbor_allgatherv(struct call *call, ALLGATHERV)
{
    const struct neighbours among = neighbours_of(comm);
    call_collective(call, sendcount, sendtype, CALL_NO_ROOT, comm);
    call_reads(call, sendbuf, among.out ? sendcount : 0, sendtype, ARGUMENT_SENDBUF);
    blocks_v(call, recvbuf, counts, places, recvtype, CSAN_WRITE, among.in, -1, ARGUMENT_RECVBUF);
}
FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, ALLGATHERV, ALLGATHERV_NAMES, ALLGATHERV_VIEWS)

static void touch_Neighbor_alltoallv(struct call *call, ALLTOALLV)
{
    const struct neighbours among = neighbours_of(comm);
    call_collective(call, -1, recvtype, CALL_NO_ROOT, comm);
    blocks_v(call, sendbuf, sendcounts, sendplaces, sendtype, CSAN_READ, among.out, -1,
             ARGUMENT_SENDBUF);
    blocks_v(call, recvbuf, recvcounts, recvplaces, recvtype, CSAN_WRITE, among.in, -1,
             ARGUMENT_RECVBUF);
}
FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, ALLTOALLV, ALLTOALLV_NAMES, ALLTOALLV_VIEWS)

#define NEIGHBOR_W                                                                                 \
    const void *sendbuf, const int *sendcounts, const mpi_aint *sendplaces, const void *sendtypes, \
        void *recvbuf, const int *recvcounts, const mpi_aint *recvplaces, const void *recvtypes,   \
        mpi_handle comm

static void touch_Neighbor_alltoallw(struct call *call, NEIGHBOR_W)
{
    const struct neighbours among = neighbours_of(comm);
    call_collective(call, -1, 0, CALL_NO_ROOT, comm);
    for (int i = 0; i < among.out; i++)
        call_reads(call, at(sendbuf, sendplaces[i], 1), sendcounts[i],
                   handle_at(sendtypes, (size_t)i), ARGUMENT_SENDBUF);
    for (int i = 0; i < among.in; i++)
        call_writes(call, at(recvbuf, recvplaces[i], 1), recvcounts[i],
                    handle_at(recvtypes, (size_t)i), ARGUMENT_RECVBUF);
}
FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, NEIGHBOR_W, ALLTOALLW_NAMES, ALLTOALLW_VIEWS)

/* ---- Of one rank alone ---- */

#define REDUCE_LOCAL       const void *inbuf, void *inoutbuf, int count, mpi_handle type, mpi_handle op
#define REDUCE_LOCAL_NAMES inbuf, inoutbuf, count, type, op
#define REDUCE_LOCAL_VIEWS                                                                         \
    call_usable(&call, inbuf, ARGUMENT_INBUF), call_usable(&call, inoutbuf, ARGUMENT_OUTBUF),      \
        count, type, op

static void touch_Reduce_local(struct call *call, REDUCE_LOCAL)
{
    (void)op;
    call_peer(call, count, type, NULL, 0, CALL_NO_TAG, 0);
    call_reads(call, inbuf, count, type, ARGUMENT_INBUF);
    call_writes(call, inoutbuf, count, type, ARGUMENT_OUTBUF);
}
BLOCKING(Reduce_local, REDUCE_LOCAL, REDUCE_LOCAL_NAMES, REDUCE_LOCAL_VIEWS)
