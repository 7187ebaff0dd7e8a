/* A halo exchange beside computation: halo [DROPPED]. The rows at both ends are computed first, in
 * a stream of their own, and sent while the inner rows are computed. Each synchronization has a
 * number; the one that is named is left out. */
#include "kernels.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 64, ROWS = 8, STEPS = 4 };

static int dropped;
#define UNLESS_DROPPED(number, call)                                                               \
    do {                                                                                           \
        if (dropped != (number))                                                                   \
            call;                                                                                  \
    } while (0)

struct grid {
    float *now, *next;
    cudaStream_t edge, inner;
    cudaEvent_t inner_done;
    int up, down;
};

static float *row(float *p, int number)
{
    return p + number * COLUMNS;
}

static void step(struct grid *grid)
{
    MPI_Request requests[4];
    /* Rows 1 and ROWS: the kernel computes row 1 of what it is given. */
    launch_relax(grid->next, grid->now, 1, COLUMNS, grid->edge);
    launch_relax(row(grid->next, ROWS - 1), row(grid->now, ROWS - 1), 1, COLUMNS, grid->edge);
    launch_relax(row(grid->next, 1), row(grid->now, 1), ROWS - 2, COLUMNS, grid->inner);
    cudaEventRecord(grid->inner_done, grid->inner);
    MPI_Irecv(grid->next, COLUMNS, MPI_FLOAT, grid->up, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(row(grid->next, ROWS + 1), COLUMNS, MPI_FLOAT, grid->down, 0, MPI_COMM_WORLD,
              &requests[1]);
    UNLESS_DROPPED(1, cudaStreamSynchronize(grid->edge));
    MPI_Isend(row(grid->next, 1), COLUMNS, MPI_FLOAT, grid->up, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(row(grid->next, ROWS), COLUMNS, MPI_FLOAT, grid->down, 1, MPI_COMM_WORLD,
              &requests[3]);
    UNLESS_DROPPED(2, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    UNLESS_DROPPED(3, MPI_Waitall(2, requests + 2, MPI_STATUSES_IGNORE));
    UNLESS_DROPPED(4, cudaStreamWaitEvent(grid->edge, grid->inner_done, 0));
    float *other = grid->now;
    grid->now = grid->next;
    grid->next = other;
}

int main(int count, char **arguments)
{
    const int elements = (ROWS + 2) * COLUMNS;
    int rank, size;
    float host[(ROWS + 2) * COLUMNS], sum = 0, all = 0;
    struct grid grid;
    MPI_Init(&count, &arguments);
    dropped = count > 1 ? atoi(arguments[1]) : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    grid.up = (rank + size - 1) % size; /* a ring: no row is at the boundary */
    grid.down = (rank + 1) % size;
    cudaStreamCreateWithFlags(&grid.edge, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&grid.inner, cudaStreamNonBlocking);
    cudaEventCreate(&grid.inner_done);
    cudaMalloc((void **)&grid.now, sizeof host);
    cudaMalloc((void **)&grid.next, sizeof host);
    launch_fill(grid.now, elements, 1, NULL);
    launch_fill(grid.next, elements, 1, NULL);
    cudaDeviceSynchronize();
    for (int i = 0; i < STEPS; i++)
        step(&grid);
    cudaDeviceSynchronize();
    cudaMemcpy(host, grid.now, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = COLUMNS; i < (ROWS + 1) * COLUMNS; i++)
        sum += host[i];
    MPI_Allreduce(&sum, &all, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) /* the average of ones is one */
        printf("%s\n", all == (float)(size * ROWS * COLUMNS) ? "right" : "wrong");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
