/* A rank starts another one and shares memory with it: spawn [racy | silent]. csan does not know
 * the communicator between the two, so what it orders makes no race certain. With `racy` the child
 * does not wait for its own kernel before it sends. With `silent` the two send nothing: what the
 * parent did before it started the child is what makes it right. */
#include "kernels.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 256, HANDLE_TEXT = 2 * sizeof(cudaIpcMemHandle_t) + 1 };

static void handle_write(const cudaIpcMemHandle_t *handle, char *text)
{
    for (size_t i = 0; i < sizeof *handle; i++)
        sprintf(text + 2 * i, "%02x", ((const unsigned char *)handle)[i]);
}

static void handle_read(const char *text, cudaIpcMemHandle_t *handle)
{
    for (size_t i = 0; i < sizeof *handle; i++) {
        const char digits[] = {text[2 * i], text[2 * i + 1], 0};
        ((unsigned char *)handle)[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
}

static void child(MPI_Comm parent, const char *form, const char *text)
{
    const int racy = strcmp(form, "racy") == 0;
    cudaIpcMemHandle_t handle;
    cudaStream_t stream;
    void *memory;
    float *mine;
    handle_read(text, &handle);
    cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc((void **)&mine, N * sizeof(float));
    launch_copy(mine, memory, N, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    if (strcmp(form, "silent") != 0)
        MPI_Send(mine, N, MPI_FLOAT, 0, 0, parent);
    cudaStreamSynchronize(stream);
    cudaIpcCloseMemHandle(memory);
}

static void parent(const char *program, const char *form)
{
    static float got[N];
    char text[HANDLE_TEXT], own[16];
    char *arguments[] = {own, text, NULL};
    cudaIpcMemHandle_t handle;
    MPI_Comm children;
    float *memory;
    snprintf(own, sizeof own, "%s", form);
    cudaMalloc((void **)&memory, N * sizeof(float));
    cudaIpcGetMemHandle(&handle, memory);
    handle_write(&handle, text);
    launch_fill(memory, N, 3, NULL);
    cudaDeviceSynchronize();
    MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                   MPI_ERRCODES_IGNORE);
    if (strcmp(form, "silent") != 0)
        MPI_Recv(got, N, MPI_FLOAT, 0, 0, children, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&children);
    if (strcmp(form, "right") != 0 || got[N - 1] == 3)
        puts("right");
}

int main(int count, char **arguments)
{
    MPI_Comm from;
    const char *form = count > 1 ? arguments[1] : "right";
    MPI_Init(&count, &arguments);
    MPI_Comm_get_parent(&from);
    if (from == MPI_COMM_NULL) {
        parent(arguments[0], form);
    } else {
        child(from, form, arguments[2]);
        MPI_Comm_disconnect(&from);
    }
    MPI_Finalize();
    return 0;
}
