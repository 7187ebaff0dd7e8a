/* A rank starts another one and shares memory with it: spawn [racy]. csan does not know the
 * communicator between the two, so what it orders makes no race certain. With `racy` the child
 * does not wait for its own kernel before it sends. */
#include "kernels.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { N = 256 };

static void child(MPI_Comm parent, int racy)
{
    cudaIpcMemHandle_t handle;
    cudaStream_t stream;
    void *memory;
    float *mine;
    MPI_Recv(&handle, sizeof handle, MPI_BYTE, 0, 0, parent, MPI_STATUS_IGNORE);
    cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc((void **)&mine, N * sizeof(float));
    launch_copy(mine, memory, N, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Send(mine, N, MPI_FLOAT, 0, 0, parent);
    cudaStreamSynchronize(stream);
    cudaIpcCloseMemHandle(memory);
}

static void parent(const char *program, int racy)
{
    static float got[N];
    char *arguments[] = {"racy", NULL};
    cudaIpcMemHandle_t handle;
    MPI_Comm children;
    float *memory;
    cudaMalloc((void **)&memory, N * sizeof(float));
    launch_fill(memory, N, 3, NULL);
    cudaDeviceSynchronize();
    cudaIpcGetMemHandle(&handle, memory);
    MPI_Comm_spawn(program, racy ? arguments : MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF,
                   &children, MPI_ERRCODES_IGNORE);
    MPI_Send(&handle, sizeof handle, MPI_BYTE, 0, 0, children);
    MPI_Recv(got, N, MPI_FLOAT, 0, 0, children, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&children);
    if (racy || got[N - 1] == 3)
        puts("right");
}

int main(int count, char **arguments)
{
    MPI_Comm from;
    const int racy = count > 1 && strcmp(arguments[1], "racy") == 0;
    MPI_Init(&count, &arguments);
    MPI_Comm_get_parent(&from);
    if (from == MPI_COMM_NULL) {
        parent(arguments[0], racy);
    } else {
        child(from, racy);
        MPI_Comm_disconnect(&from);
    }
    MPI_Finalize();
    return 0;
}
