/* Memory that ranks share by CUDA's handles: shared ORDER [racy | none]. Rank 0's memory is written
 * by one side and read by the other, and ORDER is the call of MPI that comes between. In the form
 * `racy` the writer's kernel is waited for after the call only; in the form `none` the call is left
 * out. Each rank by itself is right in all of them. */
#include "kernels.h"
#include "shared_orders.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Rank 0 comes before the others ---- */

static void by_send(void)
{
    int word = 0;
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Send(&word, 1, MPI_INT, i, TAG, comm);
    if (rank)
        MPI_Recv(&word, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE);
}

static void by_any(void)
{
    int word = 0;
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Send(&word, 1, MPI_INT, i, i, comm);
    if (rank)
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
}

/* The second message is the one that counts; its receive is posted second and over first. */
static void by_second(void)
{
    int words[2] = {0, 0}, index;
    MPI_Request requests[2];
    if (rank == 0) {
        for (int i = 1; i < size; i++)
            MPI_Send(&words[1], 1, MPI_INT, i, TAG, comm);
        return;
    }
    MPI_Irecv(&words[0], 1, MPI_INT, 0, TAG, comm, &requests[0]);
    MPI_Irecv(&words[1], 1, MPI_INT, 0, TAG, comm, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
}

/* What comes before by_second: the first message, which says nothing of the kernel. */
static void before_second(void)
{
    int word = 0;
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Send(&word, 1, MPI_INT, i, TAG, comm);
}

static void by_isend(void)
{
    int word = 0, flag = 0;
    MPI_Request request, *requests = calloc((size_t)size, sizeof *requests);
    if (rank == 0) {
        for (int i = 1; i < size; i++)
            MPI_Isend(&word, 1, MPI_INT, i, TAG, comm, &requests[i - 1]);
        MPI_Waitall(size - 1, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &request);
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    free(requests);
}

static void by_persistent(void)
{
    int word = 0;
    MPI_Request request;
    for (int i = 1; i < size; i++) {
        if (rank == 0)
            MPI_Send_init(&word, 1, MPI_INT, i, TAG, comm, &request);
        else if (rank == i)
            MPI_Recv_init(&word, 1, MPI_INT, 0, TAG, comm, &request);
        else
            continue;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
}

static void by_probe(void)
{
    MPI_Status status;
    if (rank == 0) {
        by_send();
        return;
    }
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
}

static void behind_probe(void)
{
    int word;
    if (rank)
        MPI_Recv(&word, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE);
}

static void by_iprobe(void)
{
    int flag = 0;
    if (rank == 0)
        by_send();
    while (rank && !flag)
        MPI_Iprobe(0, TAG, comm, &flag, MPI_STATUS_IGNORE);
}

static void by_mprobe(void)
{
    int word = 0, flag = 0;
    MPI_Message message;
    if (rank == 0) {
        by_send();
        return;
    }
    while (!flag)
        MPI_Improbe(0, TAG, comm, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void by_bcast(void)
{
    int word = 0;
    MPI_Bcast(&word, 1, MPI_INT, 0, comm);
}

static void by_ibcast(void)
{
    int word = 0;
    MPI_Request request;
    MPI_Ibcast(&word, 1, MPI_INT, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void by_scatter(void)
{
    int word, *words = calloc((size_t)size, sizeof *words);
    MPI_Scatter(words, 1, MPI_INT, &word, 1, MPI_INT, 0, comm);
    free(words);
}

static void by_scatterv(void)
{
    int word, *words = calloc(3 * (size_t)size, sizeof *words);
    for (int i = 0; i < size; i++) {
        words[size + i] = 1;
        words[2 * size + i] = i;
    }
    MPI_Scatterv(words, words + size, words + 2 * size, MPI_INT, &word, 1, MPI_INT, 0, comm);
    free(words);
}

static void by_scan(void)
{
    int word = 0, sum;
    MPI_Scan(&word, &sum, 1, MPI_INT, MPI_SUM, comm);
}

/* ---- The others come before rank 0 ---- */

static void by_gather(void)
{
    int word = 0, *words = calloc((size_t)size, sizeof *words);
    MPI_Gather(&word, 1, MPI_INT, words, 1, MPI_INT, 0, comm);
    free(words);
}

static void by_gatherv(void)
{
    int word = 0, *words = calloc(3 * (size_t)size, sizeof *words);
    for (int i = 0; i < size; i++) {
        words[size + i] = 1;
        words[2 * size + i] = i;
    }
    MPI_Gatherv(&word, 1, MPI_INT, words, words + size, words + 2 * size, MPI_INT, 0, comm);
    free(words);
}

static void by_reduce(void)
{
    int word = 0, sum;
    MPI_Reduce(&word, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
}

static void by_waitsome(void)
{
    int word = 0, done, left = size - 1;
    int *words = calloc(2 * (size_t)size, sizeof *words);
    MPI_Request *requests = calloc((size_t)size, sizeof *requests);
    if (rank)
        MPI_Send(&word, 1, MPI_INT, 0, TAG, comm);
    for (int i = 0; rank == 0 && i < left; i++)
        MPI_Irecv(words + i, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, requests + i);
    while (rank == 0 && left) {
        MPI_Waitsome(size - 1, requests, &done, words + size, MPI_STATUSES_IGNORE);
        left -= done;
    }
    free(words);
    free(requests);
}

/* ---- Both ---- */

static void by_barrier(void)
{
    MPI_Barrier(comm);
}

static void by_ibarrier(void)
{
    MPI_Request request;
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void by_allreduce(void)
{
    int word = 0, sum;
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm);
}

static void by_alltoallv(void)
{
    int *words = calloc(4 * (size_t)size, sizeof *words);
    for (int i = 0; i < size; i++) {
        words[2 * size + i] = 1;
        words[3 * size + i] = i;
    }
    MPI_Alltoallv(words, words + 2 * size, words + 3 * size, MPI_INT, words + size,
                  words + 2 * size, words + 3 * size, MPI_INT, comm);
    free(words);
}

static void by_allgatherv(void)
{
    int word = 0, *words = calloc(3 * (size_t)size, sizeof *words);
    for (int i = 0; i < size; i++) {
        words[size + i] = 1;
        words[2 * size + i] = i;
    }
    MPI_Allgatherv(&word, 1, MPI_INT, words, words + size, words + 2 * size, MPI_INT, comm);
    free(words);
}

/* Each rank passes on what its neighbour before it knows. */
static void by_sendrecv(void)
{
    int word = 0, other;
    for (int i = 1; i < size; i++)
        MPI_Sendrecv(&word, 1, MPI_INT, (rank + 1) % size, TAG, &other, 1, MPI_INT,
                     (rank + size - 1) % size, TAG, comm, MPI_STATUS_IGNORE);
}

static void by_neighbours(void)
{
    int word = 0, words[2];
    for (int i = 0; i < size; i++)
        MPI_Neighbor_allgather(&word, 1, MPI_INT, words, 1, MPI_INT, comm);
}

/* ---- Between two groups: rank 0, and the others ---- */

static void by_inter(void)
{
    int word = 0;
    for (int i = 0; i < size - 1 && rank == 0; i++)
        MPI_Send(&word, 1, MPI_INT, i, TAG, comm);
    if (rank)
        MPI_Recv(&word, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE);
}

/* The other way there are as many messages between the same numbers. */
static void by_inter_up(void)
{
    int word = 0;
    MPI_Request request;
    if (rank == 0) {
        for (int i = 0; i < size - 1; i++)
            MPI_Recv(&word, 1, MPI_INT, i, TAG, comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Isend(&word, 1, MPI_INT, 0, TAG, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void by_inter_bcast(void)
{
    int word = 0;
    MPI_Bcast(&word, 1, MPI_INT, rank ? 0 : MPI_ROOT, comm);
}

static void by_inter_reduce(void)
{
    int word = 0, sum;
    MPI_Reduce(&word, &sum, 1, MPI_INT, MPI_SUM, rank ? 0 : MPI_ROOT, comm);
}

static void by_inter_allreduce(void)
{
    int word = 0, sum;
    MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm);
}

#if MPI_VERSION >= 4
static void by_large_send(void)
{
    int word = 0;
    for (int i = 1; i < size && rank == 0; i++)
        MPI_Send_c(&word, 1, MPI_INT, i, TAG, comm);
    if (rank)
        MPI_Recv_c(&word, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE);
}

static void by_partitions(void)
{
    int word = 0;
    MPI_Request request;
    for (int i = 1; i < size; i++) {
        if (rank == 0)
            MPI_Psend_init(&word, 1, 1, MPI_INT, i, TAG, comm, MPI_INFO_NULL, &request);
        else if (rank == i)
            MPI_Precv_init(&word, 1, 1, MPI_INT, 0, TAG, comm, MPI_INFO_NULL, &request);
        else
            continue;
        MPI_Start(&request);
        if (rank == 0)
            MPI_Pready(0, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
}

static MPI_Session session = MPI_SESSION_NULL;
static void comm_of_session(void)
{
    MPI_Group all;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "csan", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&all);
}
#endif

/* Both are in a group with nobody of the other one: a call of that group orders nothing. */
static void by_own_group(void)
{
    MPI_Comm own;
    MPI_Comm_split(MPI_COMM_SELF, 0, 0, &own);
    MPI_Barrier(own);
    MPI_Comm_free(&own);
}

/* ---- What orders nothing of rank 0's ---- */

static void by_bcast_of_last(void)
{
    int word = 0;
    MPI_Bcast(&word, 1, MPI_INT, size - 1, comm);
}

static void by_no_elements(void)
{
    int word = 0, sum;
    MPI_Allreduce(&word, &sum, 0, MPI_INT, MPI_SUM, comm);
}

static const struct order {
    const char *name;
    void (*make)(void);
    int up; /* the others write, and rank 0 reads */
    void (*before)(void), (*behind)(void);
} orders[] = {{"send", by_send, 0, NULL, NULL},
              {"any", by_any, 0, NULL, NULL},
              {"second", by_second, 0, before_second, NULL},
              {"isend", by_isend, 0, NULL, NULL},
              {"persistent", by_persistent, 0, NULL, NULL},
              {"probe", by_probe, 0, NULL, behind_probe},
              {"iprobe", by_iprobe, 0, NULL, behind_probe},
              {"mprobe", by_mprobe, 0, NULL, NULL},
              {"bcast", by_bcast, 0, NULL, NULL},
              {"ibcast", by_ibcast, 0, NULL, NULL},
              {"scatter", by_scatter, 0, NULL, NULL},
              {"scatterv", by_scatterv, 0, NULL, NULL},
              {"scan", by_scan, 0, NULL, NULL},
              {"gather", by_gather, 1, NULL, NULL},
              {"gatherv", by_gatherv, 1, NULL, NULL},
              {"reduce", by_reduce, 1, NULL, NULL},
              {"waitsome", by_waitsome, 1, NULL, NULL},
              {"barrier", by_barrier, 0, NULL, NULL},
              {"ibarrier", by_ibarrier, 1, NULL, NULL},
              {"allreduce", by_allreduce, 0, NULL, NULL},
              {"alltoallv", by_alltoallv, 1, NULL, NULL},
              {"allgatherv", by_allgatherv, 0, NULL, NULL},
              {"sendrecv", by_sendrecv, 0, NULL, NULL},
              {"neighbours", by_neighbours, 1, NULL, NULL},
              {"fence", by_fence, 0, before_window, NULL},
              {"ssend", by_ssend, 0, NULL, NULL},
              {"issend", by_issend, 0, NULL, NULL},
              {"send_to_first", by_send_to_first, 0, NULL, NULL},
              {"posted", by_posted, 0, before_posted, NULL},
              {"matched", by_matched, 0, before_matched, NULL},
              {"complete", by_complete, 0, before_window, NULL},
              {"post", by_post, 0, before_window, NULL},
              {"post_put", by_post_put, 0, before_window, NULL},
              {"lock", by_lock, 0, before_window, NULL},
              {"lock_shared", by_lock_shared, 0, before_window, NULL},
              {"flush_barrier", by_flush_barrier, 0, before_window, NULL},
              {"flush_alone", by_flush_alone, 0, before_window, NULL},
              {"win_free", by_win_free, 0, before_window, NULL},
              {"value", by_value, 0, before_window, NULL},
              {"word", by_word, 0, before_shared_window, NULL},
              {"word_shared", by_word_shared, 0, before_shared_window, NULL},
              {"word_alone", by_word_alone, 0, before_shared_window, NULL},
              {"shared_fence", by_shared_fence, 0, before_shared_window, NULL},
              {"exposed", by_exposed, 0, before_shared_window, behind_exposed},
              {"flag_synced", by_flag_synced, 0, before_shared_window, NULL},
              {"flag_alone", by_flag_alone, 0, before_shared_window, NULL},
              {"inter", by_inter, 0, NULL, NULL},
              {"inter_up", by_inter_up, 1, NULL, NULL},
              {"inter_bcast", by_inter_bcast, 0, NULL, NULL},
              {"inter_reduce", by_inter_reduce, 1, NULL, NULL},
              {"inter_allreduce", by_inter_allreduce, 1, NULL, NULL},
              {"inter_barrier", by_barrier, 0, NULL, NULL},
              {"inter_copied", by_inter, 0, NULL, NULL},
              {"merged", by_send, 0, NULL, NULL},
              {"idup", by_send, 0, NULL, NULL},
              {"create_group", by_send, 0, NULL, NULL},
              {"connected", by_inter, 0, NULL, NULL},
#if MPI_VERSION >= 4
              {"large_send", by_large_send, 0, NULL, NULL},
              {"partitions", by_partitions, 0, NULL, NULL},
              {"session", by_send, 0, NULL, NULL},
#endif
              {"by_create", by_send, 0, NULL, NULL},
              {"by_split_type", by_bcast, 0, NULL, NULL},
              {"by_cart_sub", by_send, 0, NULL, NULL},
              {"by_graph", by_allreduce, 0, NULL, NULL},
              {"by_dist_graph", by_send, 0, NULL, NULL},
              {"by_adjacent", by_send, 0, NULL, NULL},
              {"by_dup_with_info", by_send, 0, NULL, NULL},
              {"own_group", by_own_group, 0, NULL, NULL},
              {"bcast_of_last", by_bcast_of_last, 0, NULL, NULL},
              {"no_elements", by_no_elements, 0, NULL, NULL}};

static const struct order *order_of(const char *name)
{
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strcmp(orders[i].name, name) == 0)
            return &orders[i];
    return NULL;
}

static MPI_Comm groups_make(void)
{
    MPI_Comm own, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank != 0, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank ? 0 : 1, TAG, &both);
    MPI_Comm_free(&own);
    return both;
}

/* By a port, as if the two groups had been started apart. */
static void comm_by_port(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm own;
    MPI_Comm_split(MPI_COMM_WORLD, rank != 0, rank, &own);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, own, &comm);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, own, &comm);
    MPI_Comm_free(&own);
}

/* Once more: the first is another one with the same ranks. */
static void comm_by_group(void)
{
    MPI_Group all;
    MPI_Comm first;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_create_group(MPI_COMM_WORLD, all, TAG, &first);
    MPI_Comm_create_group(MPI_COMM_WORLD, all, TAG, &comm);
    MPI_Group_free(&all);
    MPI_Comm_free(&first);
}

static void comm_of_groups(const char *name)
{
    MPI_Comm first = groups_make();
    comm = groups_make();
    MPI_Comm_free(&first);
    if (strcmp(name, "merged") == 0) {
        first = comm;
        MPI_Intercomm_merge(first, rank != 0, &comm);
        MPI_Comm_free(&first);
    } else if (strcmp(name, "inter_copied") == 0) {
        first = comm;
        MPI_Comm_dup(first, &comm);
        MPI_Comm_free(&first);
    }
}

/* All ranks, by each other function that makes a communicator. */
static int comm_by_maker(const char *name)
{
    const int dims[2] = {1, size}, periods[2] = {0, 0}, remain[2] = {0, 1};
    const int before = (rank + size - 1) % size, behind = (rank + 1) % size, one = 1;
    int index[64], edges[64];
    MPI_Comm grid;
    MPI_Group all;
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    if (strcmp(name, "by_create") == 0) {
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Comm_create(MPI_COMM_WORLD, all, &comm);
        MPI_Group_free(&all);
    } else if (strcmp(name, "by_split_type") == 0) {
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm);
    } else if (strcmp(name, "by_cart_sub") == 0) {
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
        MPI_Cart_sub(grid, remain, &comm);
        MPI_Comm_free(&grid);
    } else if (strcmp(name, "by_graph") == 0) {
        MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
    } else if (strcmp(name, "by_dist_graph") == 0) {
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &behind, MPI_UNWEIGHTED,
                              MPI_INFO_NULL, 0, &comm);
    } else if (strcmp(name, "by_adjacent") == 0) {
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &behind,
                                       MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    } else if (strcmp(name, "by_dup_with_info") == 0) {
        MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    } else {
        return 0;
    }
    return 1;
}

/* The communicators in between have other numbers of ranks, or the same ones once more. */
static void comm_choose(const char *name)
{
    int dims[1] = {0}, periods[1] = {1};
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_free(&half);
    if (strcmp(name, "neighbours") == 0) {
        MPI_Dims_create(size, 1, dims);
        MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
    } else if (strncmp(name, "inter", 5) == 0 || strcmp(name, "merged") == 0) {
        comm_of_groups(name);
    } else if (strcmp(name, "connected") == 0) {
        comm_by_port();
#if MPI_VERSION >= 4
    } else if (strcmp(name, "session") == 0) {
        comm_of_session();
#endif
    } else if (strcmp(name, "create_group") == 0) {
        comm_by_group();
    } else if (strcmp(name, "idup") == 0) {
        MPI_Request request;
        MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strcmp(name, "bcast") != 0 && !comm_by_maker(name)) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
}

static float *memory_share(void)
{
    void *memory = NULL;
    cudaIpcMemHandle_t handle;
    if (rank == 0) {
        cudaMalloc(&memory, (size_t)size * N * sizeof(float));
        cudaIpcGetMemHandle(&handle, memory);
    }
    MPI_Bcast(&handle, sizeof handle, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank)
        cudaIpcOpenMemHandle(&memory, handle, cudaIpcMemLazyEnablePeerAccess);
    return memory;
}

int main(int count, char **arguments)
{
    cudaStream_t stream;
    float *mine;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const struct order *order = order_of(count > 1 ? arguments[1] : "send");
    const char *form = count > 2 ? arguments[2] : "";
    const int racy = strcmp(form, "racy") == 0, none = strcmp(form, "none") == 0;
    if (!order)
        MPI_Abort(MPI_COMM_WORLD, 1);
    comm_choose(order->name);
    float *memory = memory_share();
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc((void **)&mine, N * sizeof(float));
    if (order->before)
        order->before();
    const int writes = order->up ? rank != 0 : rank == 0;
    if (writes)
        launch_fill(memory + N * rank, N, 1, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    if (!none)
        order->make();
    if (order->behind && !none)
        order->behind();
    if (!writes)
        launch_copy(mine, memory + N * (order->up ? size - 1 : 0), N, stream);
    cudaStreamSynchronize(stream);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank)
        cudaIpcCloseMemHandle(memory);
    if (window != MPI_WIN_NULL)
        MPI_Win_free(&window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && cudaFree(memory) == cudaSuccess && cudaGetLastError() == cudaSuccess)
        puts("right");
    fflush(stdout);
#if MPI_VERSION >= 4
    if (session != MPI_SESSION_NULL) {
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
    }
#endif
    MPI_Finalize();
    return 0;
}
