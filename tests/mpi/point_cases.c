/* Blocking sends and receives. */
#include "cases.h"

enum { TAG = 7 };

/* A kernel writes what is sent. */
static void send_after_kernel(int racy, float *p,
                              int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm))
{
    cudaStream_t stream = new_stream();
    float *got = device_floats(N, 0);
    MPI_Request request;
    MPI_Irecv(got, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    launch_fill(p, N, (float)rank + 1, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    send(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!racy)
        expect_floats(got, N, (float)partner + 1);
}

static void send_device(int racy)
{
    send_after_kernel(racy, device_floats(N, 0), MPI_Send);
}
static void send_managed(int racy)
{
    send_after_kernel(racy, managed_floats(N, 0), MPI_Send);
}
static void send_pinned(int racy)
{
    send_after_kernel(racy, pinned_floats(N, 0), MPI_Send);
}
static void ssend_device(int racy)
{
    send_after_kernel(racy, device_floats(N, 0), MPI_Ssend);
}
static void rsend_device(int racy)
{
    send_after_kernel(racy, device_floats(N, 0), MPI_Rsend);
}

static void bsend_device(int racy)
{
    static char room[N * sizeof(float) + MPI_BSEND_OVERHEAD];
    void *back;
    int bytes;
    MPI_Buffer_attach(room, sizeof room);
    send_after_kernel(racy, device_floats(N, 0), MPI_Bsend);
    MPI_Buffer_detach(&back, &bytes);
}

/* A copy into pageable memory, which is sent. */
static void send_pageable(int racy)
{
    static float host[N];
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, (float)rank + 1), *got = device_floats(N, 0);
    MPI_Request request;
    MPI_Irecv(got, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &request);
    cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Send(host, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!racy)
        expect_floats(got, N, (float)partner + 1);
}

/* The event is recorded before the kernel. */
static void send_event_too_early(int racy)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event;
    float *p = device_floats(N, 0), *got = device_floats(N, 0);
    cudaEventCreate(&event);
    if (racy)
        cudaEventRecord(event, stream);
    launch_fill(p, N, 1, stream);
    if (!racy)
        cudaEventRecord(event, stream);
    cudaEventSynchronize(event);
    MPI_Sendrecv(p, N, MPI_FLOAT, partner, TAG, got, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* A kernel still reads what is received over. */
static void recv_over_kernel(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0), *other = device_floats(N, 0);
    MPI_Request request;
    static float host[N];
    MPI_Isend(host, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &request);
    launch_copy(other, p, N, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Recv(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Only half of the buffer is received: a kernel may work on the other half. */
static void recv_less(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    MPI_Status status;
    MPI_Request request;
    static float host[N];
    int count;
    MPI_Isend(host, N / 2, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &request);
    launch_fill(p + N / 2 - (racy ? 1 : 0), N / 2, 1, stream);
    MPI_Recv(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_FLOAT, &count);
    expect(count == N / 2, "another count was received");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void mrecv_over_kernel(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    MPI_Request request;
    MPI_Message message;
    static float host[N];
    MPI_Isend(host, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &request);
    launch_fill(p, N, 1, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Mprobe(partner, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(p, N, MPI_FLOAT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!racy)
        expect_floats(p, N, 0);
}

static void sendrecv_device(int racy)
{
    cudaStream_t stream = new_stream();
    float *out = device_floats(N, 0), *in = device_floats(N, 0);
    launch_fill(out, N, (float)rank + 1, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Sendrecv(out, N, MPI_FLOAT, partner, TAG, in, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (!racy)
        expect_floats(in, N, (float)partner + 1);
}

static void sendrecv_replace_device(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    launch_fill(p, N, (float)rank + 1, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Sendrecv_replace(p, N, MPI_FLOAT, partner, TAG, partner, TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    if (!racy)
        expect_floats(p, N, (float)partner + 1);
}

/* A kernel in another half of the memory, and nobody to send to: both are no race. */
static void nobody_there(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    launch_fill(p, N / 2, 1, stream);
    MPI_Send(p, N, MPI_FLOAT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    MPI_Sendrecv(p + N / 2, N / 4, MPI_FLOAT, partner, TAG, p + N / 2 + N / 4 - (racy ? N / 2 : 0),
                 N / 4, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

const struct mpi_case point_cases[] = {
    {"send_device", "MPI_Send", "512 MPI_FLOAT to rank", send_device},
    {"send_managed", "MPI_Send", "tag 7, MPI_COMM_WORLD", send_managed},
    {"send_pinned", "MPI_Send", NULL, send_pinned},
    {"send_pageable", "MPI_Send", NULL, send_pageable},
    {"ssend_device", "MPI_Ssend", NULL, ssend_device},
    {"bsend_device", "MPI_Bsend", NULL, bsend_device},
    {"rsend_device", "MPI_Rsend", NULL, rsend_device},
    {"send_event_too_early", "MPI_Sendrecv", NULL, send_event_too_early},
    {"recv_over_kernel", "MPI_Recv", "512 MPI_FLOAT from rank", recv_over_kernel},
    {"recv_less", "MPI_Recv", "256 MPI_FLOAT from rank", recv_less},
    {"mrecv_over_kernel", "MPI_Mrecv", NULL, mrecv_over_kernel},
    {"sendrecv_device", "MPI_Sendrecv", NULL, sendrecv_device},
    {"sendrecv_replace_device", "MPI_Sendrecv_replace", NULL, sendrecv_replace_device},
    {"nobody_there", "MPI_Sendrecv", NULL, nobody_there},
    {0}};
