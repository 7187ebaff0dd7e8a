/* Requests: what may be done with a buffer before the program has waited, and after. */
#include "cases.h"

enum { TAG = 8 };

/* The partner's side of an exchange whose buffers are in host memory. */
static float host_in[4 * N], host_out[4 * N];

static void partner_receives(int count, MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        MPI_Irecv(host_in + i * N, N, MPI_FLOAT, partner, TAG + i, MPI_COMM_WORLD, &requests[i]);
}

/* A kernel writes the buffer while it is sent. */
static void isend_written(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 1);
    MPI_Request request, received;
    partner_receives(1, &received);
    MPI_Isend(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &request);
    if (!racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    launch_fill(p, N, 2, stream);
    if (racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
}

/* Waiting for the device is no wait for the message. */
static void isend_device_synchronized(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 1);
    MPI_Request request, received;
    partner_receives(1, &received);
    MPI_Isend(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &request);
    if (!racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    cudaDeviceSynchronize();
    launch_fill(p, N, 2, stream);
    if (racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
}

/* A kernel that only reads it is right. */
static void isend_read(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 1), *other = device_floats(N, 0);
    MPI_Request request, received;
    partner_receives(1, &received);
    MPI_Isend(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &request);
    if (racy)
        launch_copy(p, other, N, stream);
    else
        launch_copy(other, p, N, stream);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
}

/* It is sent before the kernel has written it. */
static void isend_before_kernel_ends(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    MPI_Request request, received;
    partner_receives(1, &received);
    launch_fill(p, N, 1, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Isend(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
}

/* A kernel reads what has not come yet. */
static void irecv_read(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0), *other = device_floats(N, 0);
    MPI_Request request, sent;
    for (int i = 0; i < N; i++)
        host_out[i] = 5;
    MPI_Irecv(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &request);
    MPI_Isend(host_out, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &sent);
    if (!racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    launch_copy(other, p, N, stream);
    if (racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    if (!racy)
        expect_floats(other, N, 5);
}

/* Small messages, to which an MPI may give one handle: only the first is waited for. */
static void isend_small(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(4, 1);
    MPI_Request sent[4], received[4];
    for (int i = 0; i < 4; i++)
        MPI_Irecv(host_in + i, 1, MPI_FLOAT, partner, TAG + i, MPI_COMM_WORLD, &received[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 4; i++)
        MPI_Isend(p + i, 1, MPI_FLOAT, partner, TAG + i, MPI_COMM_WORLD, &sent[i]);
    MPI_Wait(&sent[2], MPI_STATUS_IGNORE);
    launch_fill(p + 2 + (racy ? 1 : 0), 1, 2, stream);
    MPI_Waitall(4, sent, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, received, MPI_STATUSES_IGNORE);
}

static void waitall(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(N, 0), *out = device_floats(N, 1), *next = device_floats(N, 0);
    MPI_Request requests[2];
    MPI_Irecv(in, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(racy ? 1 : 2, racy ? &requests[1] : requests, MPI_STATUSES_IGNORE);
    launch_copy(next, in, N, stream);
    if (racy)
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    else
        expect_floats(next, N, 1);
}

/* The variables have moved, as in a vector that grew. */
static void waitall_moved(int racy)
{
    cudaStream_t stream = new_stream();
    float *out = device_floats(2 * N, 1);
    MPI_Request first[2], moved[2], received[2];
    partner_receives(2, received);
    for (int i = 0; i < 2; i++)
        MPI_Isend(out + i * N, N, MPI_FLOAT, partner, TAG + i, MPI_COMM_WORLD, &first[i]);
    for (int i = 0; i < 2; i++)
        moved[i] = first[i];
    if (racy)
        launch_fill(out + N, N, 2, stream);
    MPI_Waitall(2, moved, MPI_STATUSES_IGNORE);
    launch_fill(out, 2 * N, 3, stream);
    MPI_Waitall(2, received, MPI_STATUSES_IGNORE);
}

/* The buffer of the request that is not done is used. */
static void waitany(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(2 * N, 0);
    MPI_Request received[2], sent;
    int index = -1;
    for (int i = 0; i < 2; i++)
        MPI_Irecv(in + i * N, N, MPI_FLOAT, partner, TAG + i, MPI_COMM_WORLD, &received[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(host_out, N, MPI_FLOAT, partner, TAG + 1, MPI_COMM_WORLD, &sent);
    MPI_Waitany(2, received, &index, MPI_STATUS_IGNORE);
    expect(index == 1, "another request was done first");
    launch_fill(in + (racy ? 0 : N), N, 1, stream);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(host_out, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &sent);
    MPI_Wait(&received[0], MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void waitsome(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(2 * N, 0);
    MPI_Request received[2], sent;
    int done = 0, indices[2];
    for (int i = 0; i < 2; i++)
        MPI_Irecv(in + i * N, N, MPI_FLOAT, partner, TAG + i, MPI_COMM_WORLD, &received[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(host_out, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &sent);
    MPI_Waitsome(2, received, &done, indices, MPI_STATUSES_IGNORE);
    expect(done == 1 && indices[0] == 0, "other requests were done");
    launch_fill(in + (racy ? N : 0), N, 1, stream);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(host_out, N, MPI_FLOAT, partner, TAG + 1, MPI_COMM_WORLD, &sent);
    MPI_Wait(&received[1], MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void test_until_done(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    MPI_Request request, sent;
    int flag = 0;
    MPI_Irecv(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    expect(!flag, "the message came before it was sent");
    if (racy) /* the answer was no */
        launch_fill(p, N, 1, stream);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(host_out, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &sent);
    while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    launch_fill(p, N, 1, stream);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void testall_and_others(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(3 * N, 1);
    MPI_Request sent[3], received[3];
    int flag = 0, index, done, indices[2];
    partner_receives(3, received);
    for (int i = 0; i < 3; i++)
        MPI_Isend(p + i * N, N, MPI_FLOAT, partner, TAG + i, MPI_COMM_WORLD, &sent[i]);
    while (!flag)
        MPI_Testall(1, sent, &flag, MPI_STATUSES_IGNORE);
    for (flag = 0; !flag;)
        MPI_Testany(1, sent + 1, &index, &flag, MPI_STATUS_IGNORE);
    for (done = 0; !done && !racy;)
        MPI_Testsome(1, sent + 2, &done, indices, MPI_STATUSES_IGNORE);
    launch_fill(p, 3 * N, 2, stream);
    if (racy)
        MPI_Wait(&sent[2], MPI_STATUS_IGNORE);
    MPI_Waitall(3, received, MPI_STATUSES_IGNORE);
}

static void get_status(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 1);
    MPI_Request sent, received;
    int flag = 0;
    partner_receives(1, &received);
    MPI_Isend(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &sent);
    while (!flag && !racy)
        MPI_Request_get_status(sent, &flag, MPI_STATUS_IGNORE);
    launch_fill(p, N, 2, stream);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
}

/* Nobody can wait for a request that was freed. */
static void request_freed(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(2 * N, 1);
    MPI_Request sent, received;
    partner_receives(1, &received);
    MPI_Isend(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &sent);
    if (racy)
        MPI_Request_free(&sent);
    else
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    launch_fill(p, N, 2, stream);
}

static void cancelled(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    MPI_Request request;
    MPI_Irecv(p, N, MPI_FLOAT, partner, TAG + 9, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    if (racy)
        launch_fill(p, N, 1, stream);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    launch_fill(p, N, 1, stream);
}

/* Freed while it is sent. */
static void freed_in_flight(int racy)
{
    float *p = device_floats(N, 1);
    MPI_Request sent, received;
    partner_receives(1, &received);
    MPI_Isend(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &sent);
    if (!racy)
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    cudaFree(p);
    if (racy)
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

/* Two requests, one of which writes what the other sends. */
static void two_requests(int racy)
{
    float *p = device_floats(2 * N, 1);
    MPI_Request requests[2];
    MPI_Isend(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(racy ? p + N / 2 : p + N, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void isend_pinned_copied_over(int racy)
{
    cudaStream_t stream = new_stream();
    float *pinned = pinned_floats(N, 1), *p = device_floats(N, 2);
    MPI_Request sent, received;
    partner_receives(1, &received);
    MPI_Isend(pinned, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &sent);
    if (!racy)
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    cudaMemcpyAsync(pinned, p, N * sizeof(float), cudaMemcpyDeviceToHost, stream);
    if (racy)
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    cudaStreamSynchronize(stream);
}

/* ---- Persistent ---- */

static void persistent_send(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    MPI_Request send, received;
    MPI_Send_init(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &send);
    for (int step = 0; step < 3; step++) {
        partner_receives(1, &received);
        launch_fill(p, N, (float)step, stream);
        if (!racy || step != 1)
            cudaStreamSynchronize(stream);
        MPI_Start(&send);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Wait(&received, MPI_STATUS_IGNORE);
        expect(racy || host_in[N - 1] == (float)step, "another step's data was received");
    }
    MPI_Request_free(&send);
    launch_fill(p, N, 1, stream);
}

static void persistent_both(int racy)
{
    cudaStream_t stream = new_stream();
    float *in = device_floats(N, 0), *out = device_floats(N, 1), *next = device_floats(N, 0);
    MPI_Request requests[2];
    MPI_Recv_init(in, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &requests[1]);
    for (int step = 0; step < 2; step++) {
        MPI_Startall(2, requests);
        if (racy && step == 1)
            launch_copy(next, in, N, stream);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        launch_copy(next, in, N, stream);
        cudaStreamSynchronize(stream);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

const struct mpi_case request_cases[] = {
    {"isend_written", "MPI_Isend", "512 MPI_FLOAT to rank", isend_written},
    {"isend_device_synchronized", "MPI_Isend", NULL, isend_device_synchronized},
    {"isend_read", "MPI_Isend", NULL, isend_read},
    {"isend_before_kernel_ends", "MPI_Isend", NULL, isend_before_kernel_ends},
    {"irecv_read", "MPI_Irecv", "from rank", irecv_read},
    {"isend_small", "MPI_Isend", "1 MPI_FLOAT to rank", isend_small},
    {"waitall", "MPI_Irecv", NULL, waitall},
    {"waitall_moved", "MPI_Isend", NULL, waitall_moved},
    {"waitany", "MPI_Irecv", NULL, waitany},
    {"waitsome", "MPI_Irecv", NULL, waitsome},
    {"test_until_done", "MPI_Irecv", NULL, test_until_done},
    {"testall_and_others", "MPI_Isend", NULL, testall_and_others},
    {"get_status", "MPI_Isend", NULL, get_status},
    {"request_freed", "MPI_Isend", NULL, request_freed},
    {"cancelled", "MPI_Irecv", NULL, cancelled},
    {"freed_in_flight", "MPI_Isend", NULL, freed_in_flight},
    {"two_requests", "MPI_Irecv", NULL, two_requests},
    {"isend_pinned_copied_over", "MPI_Isend", NULL, isend_pinned_copied_over},
    {"persistent_send", "MPI_Start", "MPI_Send_init: ", persistent_send},
    {"persistent_both", "MPI_Startall", "MPI_Recv_init: ", persistent_both},
    {0}};
