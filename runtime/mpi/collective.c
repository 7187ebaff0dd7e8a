/* Collective calls (MPI 3.1, chapter 5), each in its blocking, nonblocking and, where the MPI has
 * it, persistent form (MPI 4.0, chapter 6). A function says what a call touches; the three forms
 * come from it. */
#include "runtime/mpi/collective.h"

#include <stdlib.h>

/* How many parts have data, but for one rank's own. */
static uint64_t parts(const int *counts, const struct group *group, int but)
{
    uint64_t found = 0;
    for (int i = 0; call_shared.links && i < group->size; i++)
        found += i != but && counts[i] > 0;
    return found;
}

static int *ranks_below(int rank)
{
    int *ranks = malloc(((size_t)rank + 1) * sizeof *ranks);
    for (int i = 0; ranks && i < rank; i++)
        ranks[i] = i;
    return ranks;
}

/* Each rank has a part of each other. */
static void follow_parts(struct call *call, mpi_handle comm, const struct group *group,
                         const int *sent, const int *received)
{
    int *givers = call_shared.links ? ranks_below(group->size) : NULL;
    size_t count = 0;
    if (!givers)
        return;
    for (int i = 0; i < group->size; i++)
        if (i != group->rank && received[i] > 0)
            givers[count++] = i;
    follow_exchange(call, comm, parts(sent, group, group->rank), givers, count);
    free(givers);
}

/* ---- A barrier moves nothing, and orders all ---- */

#define BARRIER_PARAMETERS      mpi_handle comm
#define BARRIER_ARGUMENTS(pass) comm

static void touch_Barrier(struct call *call, BARRIER_PARAMETERS)
{
    follow_all(call, comm, true);
}
FORMS(Barrier, Ibarrier, BARRIER)

/* ---- From one, or to one ---- */

#define BCAST_PARAMETERS      void *buffer, int count, mpi_handle type, int root, mpi_handle comm
#define BCAST_ARGUMENTS(pass) pass(buffer, ARGUMENT_BUFFER), count, type, root, comm

static void touch_Bcast(struct call *call, BCAST_PARAMETERS)
{
    const struct group group = group_of(comm);
    call_collective(call, count, type, root, comm);
    follow_from_root(call, comm, root, count > 0);
    if (group_is_idle(&group, root))
        return;
    call_buffer(call, buffer, count, type, group_is_root(&group, root) ? CSAN_READ : CSAN_WRITE,
                ARGUMENT_BUFFER);
}
FORMS(Bcast, Ibcast, BCAST)

#define REDUCE_PARAMETERS                                                                          \
    const void *sendbuf, void *recvbuf, int count, mpi_handle type, mpi_handle op, int root,       \
        mpi_handle comm
#define REDUCE_ARGUMENTS(pass)                                                                     \
    pass(sendbuf, ARGUMENT_SENDBUF), pass(recvbuf, ARGUMENT_RECVBUF), count, type, op, root, comm

static void touch_Reduce(struct call *call, REDUCE_PARAMETERS)
{
    const struct group group = group_of(comm);
    const bool is_root = group_is_root(&group, root);
    (void)op;
    call_collective(call, count, type, root, comm);
    follow_to_root(call, comm, root, count > 0);
    if (group_is_idle(&group, root))
        return;
    if (!is_root || !group.inter)
        call_reads(call, sendbuf, count, type, ARGUMENT_SENDBUF);
    if (is_root)
        call_writes(call, recvbuf, count, type, ARGUMENT_RECVBUF);
}
FORMS(Reduce, Ireduce, REDUCE)

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
void collective_blocks(struct call *call, const void *base, const int *counts, const int *places,
                       mpi_handle type, int kind, int size, int skip, enum call_argument argument)
{
    const mpi_aint extent = layout_extent(type);
    for (int i = 0; i < size; i++)
        if (i != skip)
            call_buffer(call, at(base, places[i], extent), counts[i], type, kind, argument);
}

#define GATHER_PARAMETERS                                                                          \
    const void *sendbuf, int sendcount, mpi_handle sendtype, void *recvbuf, int recvcount,         \
        mpi_handle recvtype, int root, mpi_handle comm
#define GATHER_ARGUMENTS(pass)                                                                     \
    pass(sendbuf, ARGUMENT_SENDBUF), sendcount, sendtype, pass(recvbuf, ARGUMENT_RECVBUF),         \
        recvcount, recvtype, root, comm

static void touch_Gather(struct call *call, GATHER_PARAMETERS)
{
    const struct group group = group_of(comm);
    const bool is_root = group_is_root(&group, root), in_place = IS_IN_PLACE(sendbuf);
    call_collective(call, in_place ? recvcount : sendcount, in_place ? recvtype : sendtype, root,
                    comm);
    follow_to_root(call, comm, root, (is_root ? recvcount : sendcount) > 0);
    if (group_is_idle(&group, root))
        return;
    if (!is_root || !group.inter)
        call_reads(call, sendbuf, sendcount, sendtype, ARGUMENT_SENDBUF);
    if (is_root)
        blocks(call, recvbuf, recvcount, recvtype, CSAN_WRITE, &group, in_place, ARGUMENT_RECVBUF);
}
FORMS(Gather, Igather, GATHER)

static void touch_Scatter(struct call *call, GATHER_PARAMETERS)
{
    const struct group group = group_of(comm);
    const bool is_root = group_is_root(&group, root), in_place = IS_IN_PLACE(recvbuf);
    call_collective(call, in_place ? sendcount : recvcount, in_place ? sendtype : recvtype, root,
                    comm);
    follow_from_root(call, comm, root, (is_root ? sendcount : recvcount) > 0);
    if (group_is_idle(&group, root))
        return;
    if (is_root)
        blocks(call, sendbuf, sendcount, sendtype, CSAN_READ, &group, in_place, ARGUMENT_SENDBUF);
    if (!is_root || !group.inter)
        call_writes(call, recvbuf, recvcount, recvtype, ARGUMENT_RECVBUF);
}
FORMS(Scatter, Iscatter, GATHER)

#define GATHERV_PARAMETERS                                                                         \
    const void *sendbuf, int sendcount, mpi_handle sendtype, void *recvbuf, const int *counts,     \
        const int *places, mpi_handle recvtype, int root, mpi_handle comm
#define GATHERV_ARGUMENTS(pass)                                                                    \
    pass(sendbuf, ARGUMENT_SENDBUF), sendcount, sendtype, pass(recvbuf, ARGUMENT_RECVBUF), counts, \
        places, recvtype, root, comm

static void touch_Gatherv(struct call *call, GATHERV_PARAMETERS)
{
    const struct group group = group_of(comm);
    const bool is_root = group_is_root(&group, root), in_place = IS_IN_PLACE(sendbuf);
    call_collective(call, in_place ? -1 : sendcount, sendtype, root, comm);
    follow_flow(call, comm,
                &(struct follow_flow){.gives = !is_root && sendcount > 0,
                                      .takers = 1,
                                      .givers = is_root ? parts(counts, &group, root) : 0});
    if (group_is_idle(&group, root))
        return;
    if (!is_root || !group.inter)
        call_reads(call, sendbuf, sendcount, sendtype, ARGUMENT_SENDBUF);
    if (is_root)
        collective_blocks(call, recvbuf, counts, places, recvtype, CSAN_WRITE, group.size,
                          in_place ? group.rank : -1, ARGUMENT_RECVBUF);
}
FORMS(Gatherv, Igatherv, GATHERV)

#define SCATTERV_PARAMETERS                                                                        \
    const void *sendbuf, const int *counts, const int *places, mpi_handle sendtype, void *recvbuf, \
        int recvcount, mpi_handle recvtype, int root, mpi_handle comm
#define SCATTERV_ARGUMENTS(pass)                                                                   \
    pass(sendbuf, ARGUMENT_SENDBUF), counts, places, sendtype, pass(recvbuf, ARGUMENT_RECVBUF),    \
        recvcount, recvtype, root, comm

static void touch_Scatterv(struct call *call, SCATTERV_PARAMETERS)
{
    const struct group group = group_of(comm);
    const bool is_root = group_is_root(&group, root), in_place = IS_IN_PLACE(recvbuf);
    call_collective(call, in_place ? -1 : recvcount, recvtype, root, comm);
    const uint64_t takers = is_root ? parts(counts, &group, root) : 0;
    follow_flow(call, comm,
                &(struct follow_flow){
                    .gives = takers != 0, .takers = takers, .givers = !is_root && recvcount > 0});
    if (group_is_idle(&group, root))
        return;
    if (is_root)
        collective_blocks(call, sendbuf, counts, places, sendtype, CSAN_READ, group.size,
                          in_place ? group.rank : -1, ARGUMENT_SENDBUF);
    if (!is_root || !group.inter)
        call_writes(call, recvbuf, recvcount, recvtype, ARGUMENT_RECVBUF);
}
FORMS(Scatterv, Iscatterv, SCATTERV)

/* ---- All reduce ---- */

#define ALLREDUCE_PARAMETERS                                                                       \
    const void *sendbuf, void *recvbuf, int count, mpi_handle type, mpi_handle op, mpi_handle comm
#define ALLREDUCE_ARGUMENTS(pass)                                                                  \
    pass(sendbuf, ARGUMENT_SENDBUF), pass(recvbuf, ARGUMENT_RECVBUF), count, type, op, comm

static void touch_Allreduce(struct call *call, ALLREDUCE_PARAMETERS)
{
    (void)op;
    call_collective(call, count, type, CALL_NO_ROOT, comm);
    follow_all(call, comm, count > 0);
    call_reads(call, sendbuf, count, type, ARGUMENT_SENDBUF);
    call_writes(call, recvbuf, count, type, ARGUMENT_RECVBUF);
}

/* Each rank has data of those before it. */
static void follow_scan(struct call *call, mpi_handle comm, bool moves)
{
    const struct group group = group_of(comm);
    int *givers = call_shared.links ? ranks_below(group.rank) : NULL;
    follow_exchange(call, comm, moves ? (uint64_t)(group.size - 1 - group.rank) : 0, givers,
                    moves && givers ? (size_t)group.rank : 0);
    free(givers);
}

static void touch_Scan(struct call *call, ALLREDUCE_PARAMETERS)
{
    (void)op;
    call_collective(call, count, type, CALL_NO_ROOT, comm);
    follow_scan(call, comm, count > 0);
    call_reads(call, sendbuf, count, type, ARGUMENT_SENDBUF);
    call_writes(call, recvbuf, count, type, ARGUMENT_RECVBUF);
}
FORMS(Allreduce, Iallreduce, ALLREDUCE)
FORMS(Scan, Iscan, ALLREDUCE)

/* Rank 0 receives nothing. */
static void touch_Exscan(struct call *call, ALLREDUCE_PARAMETERS)
{
    const bool first = group_of(comm).rank == 0;
    (void)op;
    call_collective(call, count, type, CALL_NO_ROOT, comm);
    follow_scan(call, comm, count > 0);
    if (first && IS_IN_PLACE(sendbuf))
        call_reads(call, recvbuf, count, type, ARGUMENT_RECVBUF);
    call_reads(call, sendbuf, count, type, ARGUMENT_SENDBUF);
    if (!first)
        call_writes(call, recvbuf, count, type, ARGUMENT_RECVBUF);
}
FORMS(Exscan, Iexscan, ALLREDUCE)

/* In place the input is all of recvbuf, and the output its beginning. */
static void reduce_scatter(struct call *call, const void *sendbuf, void *recvbuf, int64_t all,
                           int64_t own, mpi_handle type)
{
    if (IS_IN_PLACE(sendbuf))
        call_reads(call, recvbuf, all, type, ARGUMENT_RECVBUF);
    call_reads(call, sendbuf, all, type, ARGUMENT_SENDBUF);
    call_writes(call, recvbuf, own, type, ARGUMENT_RECVBUF);
}

#define REDUCE_BLOCK_PARAMETERS                                                                    \
    const void *sendbuf, void *recvbuf, int recvcount, mpi_handle type, mpi_handle op,             \
        mpi_handle comm
#define REDUCE_BLOCK_ARGUMENTS(pass)                                                               \
    pass(sendbuf, ARGUMENT_SENDBUF), pass(recvbuf, ARGUMENT_RECVBUF), recvcount, type, op, comm

static void touch_Reduce_scatter_block(struct call *call, REDUCE_BLOCK_PARAMETERS)
{
    const struct group group = group_of(comm);
    (void)op;
    call_collective(call, recvcount, type, CALL_NO_ROOT, comm);
    follow_all(call, comm, recvcount > 0);
    reduce_scatter(call, sendbuf, recvbuf, (int64_t)recvcount * group.size, recvcount, type);
}
FORMS(Reduce_scatter_block, Ireduce_scatter_block, REDUCE_BLOCK)

#define REDUCE_SCATTER_PARAMETERS                                                                  \
    const void *sendbuf, void *recvbuf, const int *counts, mpi_handle type, mpi_handle op,         \
        mpi_handle comm
#define REDUCE_SCATTER_ARGUMENTS(pass)                                                             \
    pass(sendbuf, ARGUMENT_SENDBUF), pass(recvbuf, ARGUMENT_RECVBUF), counts, type, op, comm

static void touch_Reduce_scatter(struct call *call, REDUCE_SCATTER_PARAMETERS)
{
    const struct group group = group_of(comm);
    int64_t all = 0;
    (void)op;
    for (int i = 0; i < group.size; i++)
        all += counts[i];
    call_collective(call, counts[group.rank], type, CALL_NO_ROOT, comm);
    follow_flow(call, comm,
                &(struct follow_flow){.gives = all > 0,
                                      .takers = parts(counts, &group, -1),
                                      .givers = counts[group.rank] > 0 ? (uint64_t)group.size : 0});
    reduce_scatter(call, sendbuf, recvbuf, all, counts[group.rank], type);
}
FORMS(Reduce_scatter, Ireduce_scatter, REDUCE_SCATTER)

/* ---- All to all ---- */

static void touch_Allgather(struct call *call, ALLGATHER_PARAMETERS)
{
    const struct group group = group_of(comm);
    const bool in_place = IS_IN_PLACE(sendbuf);
    call_collective(call, recvcount, recvtype, CALL_NO_ROOT, comm);
    follow_all(call, comm, recvcount > 0);
    call_reads(call, sendbuf, sendcount, sendtype, ARGUMENT_SENDBUF);
    if (in_place)
        call_reads(call, at(recvbuf, (int64_t)recvcount * group.rank, layout_extent(recvtype)),
                   recvcount, recvtype, ARGUMENT_RECVBUF);
    blocks(call, recvbuf, recvcount, recvtype, CSAN_WRITE, &group, in_place, ARGUMENT_RECVBUF);
}
FORMS(Allgather, Iallgather, ALLGATHER)

static void touch_Alltoall(struct call *call, ALLGATHER_PARAMETERS)
{
    const struct group group = group_of(comm);
    call_collective(call, recvcount, recvtype, CALL_NO_ROOT, comm);
    follow_all(call, comm, recvcount > 0);
    if (!IS_IN_PLACE(sendbuf))
        blocks(call, sendbuf, sendcount, sendtype, CSAN_READ, &group, false, ARGUMENT_SENDBUF);
    blocks(call, recvbuf, recvcount, recvtype, CSAN_WRITE, &group, false, ARGUMENT_RECVBUF);
}
FORMS(Alltoall, Ialltoall, ALLGATHER)

static void touch_Allgatherv(struct call *call, ALLGATHERV_PARAMETERS)
{
    const struct group group = group_of(comm);
    const bool in_place = IS_IN_PLACE(sendbuf);
    call_collective(call, in_place ? -1 : sendcount, sendtype, CALL_NO_ROOT, comm);
    follow_flow(call, comm,
                &(struct follow_flow){.gives = counts[group.rank] > 0,
                                      .takers = (uint64_t)group.size,
                                      .givers = parts(counts, &group, -1)});
    call_reads(call, sendbuf, sendcount, sendtype, ARGUMENT_SENDBUF);
    if (in_place)
        call_reads(call, at(recvbuf, places[group.rank], layout_extent(recvtype)),
                   counts[group.rank], recvtype, ARGUMENT_RECVBUF);
    collective_blocks(call, recvbuf, counts, places, recvtype, CSAN_WRITE, group.size,
                      in_place ? group.rank : -1, ARGUMENT_RECVBUF);
}
FORMS(Allgatherv, Iallgatherv, ALLGATHERV)

static void touch_Alltoallv(struct call *call, ALLTOALLV_PARAMETERS)
{
    const struct group group = group_of(comm);
    call_collective(call, -1, recvtype, CALL_NO_ROOT, comm);
    follow_parts(call, comm, &group, IS_IN_PLACE(sendbuf) ? recvcounts : sendcounts, recvcounts);
    if (!IS_IN_PLACE(sendbuf))
        collective_blocks(call, sendbuf, sendcounts, sendplaces, sendtype, CSAN_READ, group.size,
                          -1, ARGUMENT_SENDBUF);
    collective_blocks(call, recvbuf, recvcounts, recvplaces, recvtype, CSAN_WRITE, group.size, -1,
                      ARGUMENT_RECVBUF);
}
FORMS(Alltoallv, Ialltoallv, ALLTOALLV)

static void blocks_w(struct call *call, const void *base, const int *counts, const int *places,
                     const void *types, int kind, int size, enum call_argument argument)
{
    for (int i = 0; i < size; i++)
        call_buffer(call, at(base, places[i], 1), counts[i], handle_at(types, (size_t)i), kind,
                    argument);
}

static void touch_Alltoallw(struct call *call, ALLTOALLW_PARAMETERS)
{
    const struct group group = group_of(comm);
    call_collective(call, -1, 0, CALL_NO_ROOT, comm);
    follow_parts(call, comm, &group, IS_IN_PLACE(sendbuf) ? recvcounts : sendcounts, recvcounts);
    if (!IS_IN_PLACE(sendbuf))
        blocks_w(call, sendbuf, sendcounts, sendplaces, sendtypes, CSAN_READ, group.size,
                 ARGUMENT_SENDBUF);
    blocks_w(call, recvbuf, recvcounts, recvplaces, recvtypes, CSAN_WRITE, group.size,
             ARGUMENT_RECVBUF);
}
FORMS(Alltoallw, Ialltoallw, ALLTOALLW)

/* ---- Of one rank alone ---- */

#define REDUCE_LOCAL_PARAMETERS                                                                    \
    const void *inbuf, void *inoutbuf, int count, mpi_handle type, mpi_handle op
#define REDUCE_LOCAL_ARGUMENTS(pass)                                                               \
    pass(inbuf, ARGUMENT_INBUF), pass(inoutbuf, ARGUMENT_OUTBUF), count, type, op

static void touch_Reduce_local(struct call *call, REDUCE_LOCAL_PARAMETERS)
{
    (void)op;
    call_peer(call, count, type, NULL, 0, CALL_NO_TAG, 0);
    call_reads(call, inbuf, count, type, ARGUMENT_INBUF);
    call_writes(call, inoutbuf, count, type, ARGUMENT_OUTBUF);
}
BLOCKING(Reduce_local, REDUCE_LOCAL, touch_Reduce_local)
