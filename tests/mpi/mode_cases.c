/* All modes of sends that start a request, receives that take what comes, and messages between the
 * two groups of an intercommunicator. */
#include "cases.h"

enum { TAG = 12 };

typedef int start_send(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static char room[4 * (N * sizeof(float) + MPI_BSEND_OVERHEAD)];

static void buffer_attach(void)
{
    MPI_Buffer_attach(room, sizeof room);
}
static void buffer_detach(void)
{
    void *back;
    int bytes;
    MPI_Buffer_detach(&back, &bytes);
}

/* A kernel writes what is still being sent. The receive is there first, as a ready send wants. */
static void written_in_flight(int racy, start_send *send)
{
    static float got[N];
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, (float)rank + 1);
    MPI_Request received, sent;
    MPI_Irecv(got, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &received);
    MPI_Barrier(MPI_COMM_WORLD);
    send(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &sent);
    if (!racy)
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    launch_fill(p, N, 9, stream);
    cudaStreamSynchronize(stream);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    expect(racy || got[N - 1] == (float)partner + 1, "another value was received");
}

/* The same of a persistent request, in its second round. */
static void persistent_in_flight(int racy, start_send *init)
{
    static float got[N];
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    MPI_Request received, send;
    init(p, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &send);
    for (int round = 0; round < 2; round++) {
        MPI_Irecv(got, N, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &received);
        MPI_Barrier(MPI_COMM_WORLD);
        launch_fill(p, N, (float)(rank + round), stream);
        cudaStreamSynchronize(stream);
        MPI_Start(&send);
        if (racy && round)
            launch_fill(p, N, 9, stream);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Wait(&received, MPI_STATUS_IGNORE);
        cudaStreamSynchronize(stream);
        expect(racy || got[N - 1] == (float)(partner + round), "another round's value");
    }
    MPI_Request_free(&send);
}

static void issend(int racy)
{
    written_in_flight(racy, MPI_Issend);
}
static void irsend(int racy)
{
    written_in_flight(racy, MPI_Irsend);
}
static void ibsend(int racy)
{
    buffer_attach();
    written_in_flight(racy, MPI_Ibsend);
    buffer_detach();
}
static void ssend_init(int racy)
{
    persistent_in_flight(racy, MPI_Ssend_init);
}
static void rsend_init(int racy)
{
    persistent_in_flight(racy, MPI_Rsend_init);
}
static void bsend_init(int racy)
{
    buffer_attach();
    persistent_in_flight(racy, MPI_Bsend_init);
    buffer_detach();
}

/* ---- Receives that take what comes ---- */

static float words[N];

/* Only what came was written: the message is half as long as the receive. */
static void irecv_any(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0), *next = device_floats(N, 0);
    MPI_Request received, sent;
    MPI_Status status;
    int count = 0;
    for (int i = 0; i < N / 2; i++)
        words[i] = (float)rank + 1;
    MPI_Irecv(p, N, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &received);
    MPI_Isend(words, N / 2, MPI_FLOAT, partner, TAG + 1, MPI_COMM_WORLD, &sent);
    if (!racy)
        MPI_Wait(&received, &status);
    launch_copy(next, p, N / 2, stream);
    cudaStreamSynchronize(stream);
    if (racy)
        MPI_Wait(&received, &status);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Get_count(&status, MPI_FLOAT, &count);
    expect(status.MPI_SOURCE == partner && status.MPI_TAG == TAG + 1 && count == N / 2,
           "the status says something else");
    if (!racy)
        expect_floats(next, N / 2, (float)partner + 1);
}

/* Probed, so that the rest of the buffer may be used at once. */
static void probe_recv_less(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    MPI_Request sent;
    MPI_Status status;
    int count = 0;
    MPI_Isend(words, N / 2, MPI_FLOAT, partner, TAG + 2, MPI_COMM_WORLD, &sent);
    MPI_Probe(MPI_ANY_SOURCE, TAG + 2, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_FLOAT, &count);
    launch_fill(racy ? p + count - 1 : p + count, N - count, 1, stream);
    MPI_Recv(p, N, MPI_FLOAT, status.MPI_SOURCE, TAG + 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    cudaStreamSynchronize(stream);
}

static void imrecv(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0), *next = device_floats(N, 0);
    MPI_Request sent, received;
    MPI_Message message;
    int flag = 0;
    for (int i = 0; i < N; i++)
        words[i] = (float)rank + 3;
    MPI_Isend(words, N, MPI_FLOAT, partner, TAG + 3, MPI_COMM_WORLD, &sent);
    while (!flag)
        MPI_Improbe(partner, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(p, N, MPI_FLOAT, &message, &received);
    if (!racy)
        MPI_Wait(&received, MPI_STATUS_IGNORE);
    launch_copy(next, p, N, stream);
    cudaStreamSynchronize(stream);
    if (racy)
        MPI_Wait(&received, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    if (!racy)
        expect_floats(next, N, (float)partner + 3);
}

/* A receive that was cancelled has written nothing, once that is known. */
static void cancelled_is_known(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    MPI_Request received;
    MPI_Status status;
    int cancelled = 0, flag = 0;
    MPI_Irecv(p, N, MPI_FLOAT, MPI_ANY_SOURCE, TAG + 9, MPI_COMM_WORLD, &received);
    MPI_Cancel(&received);
    while (!flag && !racy)
        MPI_Test(&received, &flag, &status);
    launch_fill(p, N, 1, stream);
    cudaStreamSynchronize(stream);
    if (racy)
        MPI_Wait(&received, &status);
    MPI_Test_cancelled(&status, &cancelled);
    expect(cancelled, "it was not cancelled");
}

/* ---- Between groups: the ranks below half of all, and the others ---- */

static MPI_Comm between(MPI_Comm *local)
{
    MPI_Comm inter;
    const int upper = rank >= size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, local);
    MPI_Intercomm_create(*local, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, TAG, &inter);
    return inter;
}

static void inter_send(int racy)
{
    MPI_Comm local, inter = between(&local);
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0), *got = device_floats(N, 0);
    MPI_Request received;
    int other;
    MPI_Comm_rank(inter, &other); /* the one with the same rank in the other group */
    MPI_Irecv(got, N, MPI_FLOAT, other, TAG, inter, &received);
    launch_fill(p, N, (float)rank + 1, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Send(p, N, MPI_FLOAT, other, TAG, inter);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    if (!racy)
        expect_floats(got, N, (float)((rank + size / 2) % size) + 1);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

/* The lower group's first rank gives; the upper group takes. */
static void inter_bcast(int racy)
{
    MPI_Comm local, inter = between(&local);
    cudaStream_t stream = new_stream();
    const int upper = rank >= size / 2, idle = !upper && rank;
    float *p = device_floats(N, 0);
    if (idle)
        rank_is_right();
    launch_fill(p, N, 4, stream);
    if (!racy || idle)
        cudaStreamSynchronize(stream);
    MPI_Bcast(p, N, MPI_FLOAT, upper ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    cudaStreamSynchronize(stream);
    if (!racy)
        expect_floats(p, N, 4);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

static void inter_allreduce(int racy)
{
    MPI_Comm local, inter = between(&local);
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0), *sum = device_floats(N, 0);
    launch_fill(p, N, 1, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Allreduce(p, sum, N, MPI_FLOAT, MPI_SUM, inter);
    cudaStreamSynchronize(stream);
    if (!racy)
        expect_floats(sum, N, (float)(size / 2));
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

const struct mpi_case mode_cases[] = {
    {"issend", "MPI_Issend", "512 MPI_FLOAT to rank", issend},
    {"irsend", "MPI_Irsend", NULL, irsend},
    {"ibsend", "MPI_Ibsend", NULL, ibsend},
    {"ssend_init", "MPI_Start", "MPI_Ssend_init: ", ssend_init},
    {"rsend_init", "MPI_Start", "MPI_Rsend_init: ", rsend_init},
    {"bsend_init", "MPI_Start", "MPI_Bsend_init: ", bsend_init},
    {"irecv_any", "MPI_Irecv", "from any rank, any tag", irecv_any},
    {"probe_recv_less", "MPI_Recv", "256 MPI_FLOAT from rank", probe_recv_less},
    {"imrecv", "MPI_Imrecv", NULL, imrecv},
    {"cancelled_is_known", "MPI_Irecv", NULL, cancelled_is_known},
    {"inter_send", "MPI_Send", NULL, inter_send},
    {"inter_bcast", "MPI_Bcast", NULL, inter_bcast},
    {"inter_allreduce", "MPI_Allreduce", NULL, inter_allreduce},
    {0}};
