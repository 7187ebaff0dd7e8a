/* A rank that is killed: what it did until then is in its recording. */
#include "kernels.h"

#include <mpi.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    const struct timespec while_csan_writes = {.tv_nsec = 500000000};
    int rank;
    float *p;
    cudaStream_t stream;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    cudaMalloc((void **)&p, 4096);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    launch_fill(p, 1024, 1, stream);
    MPI_Bcast(p, 1024, MPI_FLOAT, 1, MPI_COMM_WORLD);
    nanosleep(&while_csan_writes, NULL);
    if (rank == 1)
        kill(getpid(), SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
