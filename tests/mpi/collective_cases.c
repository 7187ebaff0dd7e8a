/* Collective calls in their three forms, and MPI_IN_PLACE. */
#include "cases.h"

#include <stdlib.h>

/* The kernel that the call has to wait for, in `stream`. */
static void settle(int racy, cudaStream_t stream)
{
    if (!racy)
        cudaStreamSynchronize(stream);
}

static void bcast(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    if (rank == 0)
        launch_fill(p, N, 4, stream);
    else
        rank_is_right();
    settle(racy, stream);
    MPI_Bcast(p, N, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (!racy)
        expect_floats(p, N, 4);
}

/* The ranks that receive still write. */
static void bcast_receivers(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 4);
    if (rank == 0)
        rank_is_right();
    else
        launch_fill(p, N, 1, stream);
    settle(racy, stream);
    MPI_Bcast(p, N, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void reduce(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(N, 0), *out = device_floats(N, 0);
    launch_fill(in, N, 1, stream);
    settle(racy, stream);
    MPI_Reduce(in, out, N, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!racy && rank == 0)
        expect_floats(out, N, (float)size);
}

static void allreduce_in_place(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    launch_fill(p, N, 1, stream);
    settle(racy, stream);
    MPI_Allreduce(MPI_IN_PLACE, p, N, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (!racy)
        expect_floats(p, N, (float)size);
}

static void iallreduce(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(N, 1), *out = device_floats(N, 0), *next = device_floats(N, 0);
    MPI_Request request;
    MPI_Iallreduce(in, out, N, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (!racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    launch_copy(next, out, N, stream);
    if (racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    else
        expect_floats(next, N, (float)size);
}

static void gather(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(N, (float)rank), *out = device_floats(N * size, 0);
    if (rank == 0)
        launch_fill(out + N, N, 9, stream); /* the block of rank 1 */
    else
        rank_is_right();
    settle(racy, stream);
    MPI_Gather(in, N, MPI_FLOAT, out, N, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (!racy && rank == 0)
        expect_floats(out + N, N, 1);
}

/* In place the root's own block is not touched. */
static void gather_in_place(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(N, (float)rank), *out = device_floats(N * size, 0);
    if (rank == 0)
        launch_fill(out + (racy ? N : 0), N, 9, stream);
    else
        rank_is_right();
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : in, N, MPI_FLOAT, out, N, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

/* Block i has i + 1 elements, and leaves a gap. */
static void gatherv(int racy)
{
    cudaStream_t stream = new_stream();
    int *counts = calloc((size_t)size, sizeof *counts),
        *places = calloc((size_t)size, sizeof *places);
    float *in = device_floats(N, (float)rank), *out = device_floats(N * size, 7);
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        places[i] = i * N;
    }
    if (rank == 0)
        launch_fill(out + (racy ? 0 : 1), N - 1, 9, stream);
    else
        rank_is_right();
    MPI_Gatherv(in, counts[rank], MPI_FLOAT, out, counts, places, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (!racy && rank == 0)
        expect_floats(out + N, 2, 1);
    free(counts);
    free(places);
}

static void scatter(int racy)
{
    cudaStream_t stream = new_stream();
    float *all = device_floats(N * size, 0), *own = device_floats(N, 0);
    if (rank == 0)
        launch_fill(all, N * size, 3, stream);
    else
        rank_is_right();
    settle(racy, stream);
    MPI_Scatter(all, N, MPI_FLOAT, own, N, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (!racy)
        expect_floats(own, N, 3);
}

static void scatterv_in_place(int racy)
{
    cudaStream_t stream = new_stream();
    int *counts = calloc((size_t)size, sizeof *counts),
        *places = calloc((size_t)size, sizeof *places);
    float *all = device_floats(N * size, 3), *own = device_floats(N, 0);
    for (int i = 0; i < size; i++) {
        counts[i] = N;
        places[i] = i * N;
    }
    if (rank == 0)
        launch_fill(all + (racy ? N : 0), N, 3, stream); /* its own block stays where it is */
    else
        rank_is_right();
    MPI_Scatterv(all, counts, places, MPI_FLOAT, rank == 0 ? MPI_IN_PLACE : own, N, MPI_FLOAT, 0,
                 MPI_COMM_WORLD);
    free(counts);
    free(places);
}

static void allgather(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(N, 0), *all = device_floats(N * size, 0);
    launch_fill(in, N, (float)rank, stream);
    settle(racy, stream);
    MPI_Allgather(in, N, MPI_FLOAT, all, N, MPI_FLOAT, MPI_COMM_WORLD);
    if (!racy)
        expect_floats(all + N, N, 1);
}

static void allgatherv_in_place(int racy)
{
    cudaStream_t stream = new_stream();
    int *counts = calloc((size_t)size, sizeof *counts),
        *places = calloc((size_t)size, sizeof *places);
    float *all = device_floats(N * size, (float)rank), *other = device_floats(N, 0);
    for (int i = 0; i < size; i++) {
        counts[i] = N;
        places[i] = i * N;
    }
    /* The own block is read, which another reader does not mind. */
    if (racy)
        launch_fill(all + rank * N, N, (float)rank, stream);
    else
        launch_copy(other, all + rank * N, N, stream);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_FLOAT,
                   MPI_COMM_WORLD);
    if (!racy)
        expect_floats(all + N, N, 1);
    free(counts);
    free(places);
}

static void alltoall(int racy)
{
    cudaStream_t stream = new_stream();
    float *out = device_floats(N * size, (float)rank), *in = device_floats(N * size, 0);
    launch_fill(in + N, N, 9, stream);
    settle(racy, stream);
    MPI_Alltoall(out, N, MPI_FLOAT, in, N, MPI_FLOAT, MPI_COMM_WORLD);
    if (!racy)
        expect_floats(in + N, N, 1);
}

static void ialltoallv(int racy)
{
    cudaStream_t stream = new_stream();
    int *counts = calloc((size_t)size, sizeof *counts),
        *places = calloc((size_t)size, sizeof *places);
    float *out = device_floats(N * size, (float)rank), *in = device_floats(N * size, 0);
    MPI_Request request;
    for (int i = 0; i < size; i++) {
        counts[i] = N / 2;
        places[i] = i * N;
    }
    MPI_Ialltoallv(out, counts, places, MPI_FLOAT, in, counts, places, MPI_FLOAT, MPI_COMM_WORLD,
                   &request);
    launch_fill(in + (racy ? 0 : N / 2), N / 2, 9, stream); /* between two blocks */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!racy)
        expect_floats(in + N, N / 2, 1);
    free(counts);
    free(places);
}

static void alltoallw(int racy)
{
    cudaStream_t stream = new_stream();
    int *counts = calloc((size_t)size, sizeof *counts),
        *places = calloc((size_t)size, sizeof *places);
    MPI_Datatype *types = calloc((size_t)size, sizeof *types);
    float *out = device_floats(N * size, (float)rank), *in = device_floats(N * size, 0);
    for (int i = 0; i < size; i++) {
        counts[i] = N;
        places[i] = i * N * (int)sizeof(float);
        types[i] = MPI_FLOAT;
    }
    launch_fill(out, N * size, (float)rank, stream);
    settle(racy, stream);
    MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD);
    if (!racy)
        expect_floats(in + N, N, 1);
    free(counts);
    free(places);
    free(types);
}

static void scan(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(N, 1), *out = device_floats(N, 0);
    launch_fill(in, N, 1, stream);
    settle(racy, stream);
    MPI_Scan(in, out, N, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (!racy)
        expect_floats(out, N, (float)rank + 1);
}

/* Rank 0 receives nothing. */
static void exscan(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(N, 1), *out = device_floats(N, 0);
    if (rank == 0)
        rank_is_right();
    if (racy || rank == 0)
        launch_fill(out, N, 1, stream);
    MPI_Exscan(in, out, N, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (!racy && rank)
        expect_floats(out, N, (float)rank);
}

static void reduce_scatter_block(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(N * size, 1), *out = device_floats(N, 0);
    launch_fill(in + N * (size - 1), N, 1, stream);
    settle(racy, stream);
    MPI_Reduce_scatter_block(in, out, N, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (!racy)
        expect_floats(out, N, (float)size);
}

static void reduce_scatter(int racy)
{
    cudaStream_t stream = new_stream();
    int *counts = calloc((size_t)size, sizeof *counts);
    float *in = device_floats(N * size, 1), *out = device_floats(N, 0);
    for (int i = 0; i < size; i++)
        counts[i] = N;
    launch_fill(in, N, 1, stream);
    settle(racy, stream);
    MPI_Reduce_scatter(in, out, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    free(counts);
}

/* On a ring. */
static void neighbor_alltoall(int racy)
{
    cudaStream_t stream = new_stream();
    float *out = device_floats(2 * N, (float)rank), *in = device_floats(2 * N, 0);
    MPI_Comm ring;
    int period = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &ring);
    launch_fill(out + N, N, (float)rank, stream);
    settle(racy, stream);
    MPI_Neighbor_alltoall(out, N, MPI_FLOAT, in, N, MPI_FLOAT, ring);
    if (!racy)
        expect_floats(in, N, (float)((rank + size - 1) % size));
    MPI_Comm_free(&ring);
}

/* Each has blocks of its own size for its neighbours; the call comes before the kernel has ended.
 */
static void neighbor_call(int racy, void (*call)(float *from, float *into, MPI_Comm ring))
{
    cudaStream_t stream = new_stream();
    float *from = device_floats(2 * N, (float)rank), *into = device_floats(2 * N, 0);
    MPI_Comm ring;
    int period = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &ring);
    launch_fill(from, N, (float)rank, stream);
    settle(racy, stream);
    call(from, into, ring);
    if (!racy)
        expect_floats(into + N, N / 2, (float)((rank + size - 1) % size));
    MPI_Comm_free(&ring);
}

static const int neighbor_counts[2] = {N / 2, N / 2}, neighbor_places[2] = {N, 0};

static void by_allgather(float *from, float *into, MPI_Comm ring)
{
    MPI_Neighbor_allgather(from, N / 2, MPI_FLOAT, into + N, N / 2, MPI_FLOAT, ring);
}
static void by_allgatherv(float *from, float *into, MPI_Comm ring)
{
    MPI_Neighbor_allgatherv(from, N / 2, MPI_FLOAT, into, neighbor_counts, neighbor_places,
                            MPI_FLOAT, ring);
}
static void by_alltoallv(float *from, float *into, MPI_Comm ring)
{
    MPI_Neighbor_alltoallv(from, neighbor_counts, neighbor_places, MPI_FLOAT, into, neighbor_counts,
                           neighbor_places, MPI_FLOAT, ring);
}
static void by_alltoallw(float *from, float *into, MPI_Comm ring)
{
    const MPI_Aint bytes[2] = {N * sizeof(float), 0};
    const MPI_Datatype types[2] = {MPI_FLOAT, MPI_FLOAT};
    MPI_Neighbor_alltoallw(from, neighbor_counts, bytes, types, into, neighbor_counts, bytes, types,
                           ring);
}

static void neighbor_allgather(int racy)
{
    neighbor_call(racy, by_allgather);
}
static void neighbor_allgatherv(int racy)
{
    neighbor_call(racy, by_allgatherv);
}
static void neighbor_alltoallv(int racy)
{
    neighbor_call(racy, by_alltoallv);
}
static void neighbor_alltoallw(int racy)
{
    neighbor_call(racy, by_alltoallw);
}

static void reduce_local(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(N, 1), *out = device_floats(N, 1);
    launch_fill(in, N, 1, stream);
    settle(racy, stream);
    MPI_Reduce_local(in, out, N, MPI_FLOAT, MPI_SUM);
    if (!racy)
        expect_floats(out, N, 2);
}

const struct mpi_case collective_cases[] = {
    {"bcast", "MPI_Bcast", "512 MPI_FLOAT, root 0, MPI_COMM_WORLD", bcast},
    {"bcast_receivers", "MPI_Bcast", NULL, bcast_receivers},
    {"reduce", "MPI_Reduce", "root 0", reduce},
    {"allreduce_in_place", "MPI_Allreduce", "512 MPI_FLOAT, MPI_COMM_WORLD", allreduce_in_place},
    {"iallreduce", "MPI_Iallreduce", NULL, iallreduce},
    {"gather", "MPI_Gather", NULL, gather},
    {"gather_in_place", "MPI_Gather", NULL, gather_in_place},
    {"gatherv", "MPI_Gatherv", NULL, gatherv},
    {"scatter", "MPI_Scatter", NULL, scatter},
    {"scatterv_in_place", "MPI_Scatterv", NULL, scatterv_in_place},
    {"allgather", "MPI_Allgather", NULL, allgather},
    {"allgatherv_in_place", "MPI_Allgatherv", NULL, allgatherv_in_place},
    {"alltoall", "MPI_Alltoall", NULL, alltoall},
    {"ialltoallv", "MPI_Ialltoallv", NULL, ialltoallv},
    {"alltoallw", "MPI_Alltoallw", NULL, alltoallw},
    {"scan", "MPI_Scan", NULL, scan},
    {"exscan", "MPI_Exscan", NULL, exscan},
    {"reduce_scatter_block", "MPI_Reduce_scatter_block", NULL, reduce_scatter_block},
    {"reduce_scatter", "MPI_Reduce_scatter", NULL, reduce_scatter},
    {"neighbor_alltoall", "MPI_Neighbor_alltoall", NULL, neighbor_alltoall},
    {"neighbor_allgather", "MPI_Neighbor_allgather", NULL, neighbor_allgather},
    {"neighbor_allgatherv", "MPI_Neighbor_allgatherv", NULL, neighbor_allgatherv},
    {"neighbor_alltoallv", "MPI_Neighbor_alltoallv", NULL, neighbor_alltoallv},
    {"neighbor_alltoallw", "MPI_Neighbor_alltoallw", NULL, neighbor_alltoallw},
    {"reduce_local", "MPI_Reduce_local", NULL, reduce_local},
    {0}};
