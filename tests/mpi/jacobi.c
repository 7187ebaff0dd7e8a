/* A Jacobi solver, cut into blocks of rows: jacobi [DROPPED]. Each of its synchronizations has a
 * number; the one that is named is left out. As a whole it is right: csan is silent, and the result
 * is that of one processor. */
#include "kernels.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 64, ROWS = 8 /* of each rank */, STEPS = 5 };

static int dropped;
#define UNLESS_DROPPED(number, call)                                                               \
    do {                                                                                           \
        if (dropped != (number))                                                                   \
            call;                                                                                  \
    } while (0)

/* The whole grid on the host. Its first and last rows are the boundary. */
static void solve_alone(float *grid, int rows)
{
    float *next = malloc((size_t)(rows + 2) * COLUMNS * sizeof *next);
    memcpy(next, grid, (size_t)(rows + 2) * COLUMNS * sizeof *next);
    for (int step = 0; step < STEPS; step++) {
        for (int row = 1; row <= rows; row++)
            for (int column = 0; column < COLUMNS; column++) {
                const int left = column ? column - 1 : column;
                const int right = column < COLUMNS - 1 ? column + 1 : column;
                next[row * COLUMNS + column] =
                    0.25f *
                    (grid[(row - 1) * COLUMNS + column] + grid[(row + 1) * COLUMNS + column] +
                     grid[row * COLUMNS + left] + grid[row * COLUMNS + right]);
            }
        memcpy(grid, next, (size_t)(rows + 2) * COLUMNS * sizeof *next);
    }
    free(next);
}

static float *whole_grid(int rows)
{
    float *grid = calloc((size_t)(rows + 2) * COLUMNS, sizeof *grid);
    for (int column = 0; column < COLUMNS; column++)
        grid[column] = 100;
    return grid;
}

int main(int count, char **arguments)
{
    const size_t bytes = (ROWS + 2) * COLUMNS * sizeof(float);
    int rank, size, wrong = 0;
    float *now, *next, *change, *change_host;
    cudaStream_t stream;
    MPI_Init(&count, &arguments);
    dropped = count > 1 ? atoi(arguments[1]) : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int up = rank ? rank - 1 : MPI_PROC_NULL;
    const int down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    float *grid = whole_grid(ROWS * size);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc((void **)&now, bytes);
    cudaMalloc((void **)&next, bytes);
    cudaMalloc((void **)&change, sizeof(float));
    cudaMallocHost((void **)&change_host, sizeof(float));
    cudaMemcpy(now, grid + rank * ROWS * COLUMNS, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(next, grid + rank * ROWS * COLUMNS, bytes, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize(); /* a copy from pageable memory may still be under way */
    float most = 1;
    for (int step = 0; step < STEPS; step++) {
        launch_relax(next, now, ROWS, COLUMNS, stream);
        UNLESS_DROPPED(1, cudaStreamSynchronize(stream));
        MPI_Sendrecv(next + COLUMNS, COLUMNS, MPI_FLOAT, up, 0, next + (ROWS + 1) * COLUMNS,
                     COLUMNS, MPI_FLOAT, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(next + ROWS * COLUMNS, COLUMNS, MPI_FLOAT, down, 1, next, COLUMNS, MPI_FLOAT,
                     up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        launch_difference(change, next + COLUMNS, now + COLUMNS, ROWS * COLUMNS, stream);
        cudaMemcpyAsync(change_host, change, sizeof(float), cudaMemcpyDeviceToHost, stream);
        UNLESS_DROPPED(2, cudaStreamSynchronize(stream));
        MPI_Allreduce(change_host, &most, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
        float *other = now;
        now = next;
        next = other;
    }
    cudaDeviceSynchronize();
    solve_alone(grid, ROWS * size);
    float *mine = malloc(bytes);
    cudaMemcpy(mine, now, bytes, cudaMemcpyDeviceToHost);
    for (int i = COLUMNS; i < (ROWS + 1) * COLUMNS; i++)
        wrong += fabsf(mine[i] - grid[rank * ROWS * COLUMNS + i]) > 1e-4f;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", wrong || !(most > 0) ? "wrong" : "right");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
