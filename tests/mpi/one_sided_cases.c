/* One-sided communication: the origin's buffers until the epoch ends. */
#include "cases.h"

static MPI_Win window_of(float *p, int n)
{
    MPI_Win window;
    MPI_Win_create(p, (MPI_Aint)n * (MPI_Aint)sizeof(float), sizeof(float), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    return window;
}

static void put_fence(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, 0), *p = device_floats(N, (float)rank);
    MPI_Win window = window_of(memory, N);
    MPI_Win_fence(0, window);
    MPI_Put(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, window);
    if (racy)
        launch_fill(p, N, 9, stream);
    MPI_Win_fence(0, window);
    launch_fill(p, N, 9, stream);
    if (!racy)
        expect_floats(memory, N, (float)partner);
    MPI_Win_free(&window);
}

static void put_before_kernel_ends(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, 0), *p = device_floats(N, 0);
    MPI_Win window = window_of(memory, N);
    launch_fill(p, N, (float)rank, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Win_fence(0, window);
    MPI_Put(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void get_flush(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, (float)rank), *p = device_floats(N, 0),
          *next = device_floats(N, 0);
    MPI_Win window = window_of(memory, N);
    MPI_Win_lock(MPI_LOCK_SHARED, partner, 0, window);
    MPI_Get(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, window);
    if (!racy)
        MPI_Win_flush(partner, window);
    launch_copy(next, p, N, stream);
    MPI_Win_unlock(partner, window);
    if (!racy)
        expect_floats(next, N, (float)partner);
    MPI_Win_free(&window);
}

static void accumulate_unlock(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, 0), *p = device_floats(N, 1);
    MPI_Win window = window_of(memory, N);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, partner, 0, window);
    MPI_Accumulate(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, MPI_SUM, window);
    if (racy)
        launch_fill(p, N, 9, stream);
    MPI_Win_unlock(partner, window);
    MPI_Barrier(MPI_COMM_WORLD);
    launch_fill(p, N, 9, stream);
    if (!racy)
        expect_floats(memory, N, 1);
    MPI_Win_free(&window);
}

static void fetch_and_op(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(1, 5), *p = device_floats(1, 1), *old = device_floats(1, 0);
    MPI_Win window = window_of(memory, 1);
    MPI_Win_lock_all(0, window);
    MPI_Fetch_and_op(p, old, MPI_FLOAT, partner, 0, MPI_SUM, window);
    if (racy)
        launch_copy(p, old, 1, stream);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!racy)
        expect_floats(old, 1, 5);
    MPI_Win_free(&window);
}

/* The request of an Rget is waited for as any other. */
static void rget(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, (float)rank), *p = device_floats(N, 0);
    MPI_Win window = window_of(memory, N);
    MPI_Request request;
    MPI_Win_lock_all(0, window);
    MPI_Rget(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, window, &request);
    if (!racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    launch_fill(p, N, 1, stream);
    if (racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void start_complete(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, 0), *p = device_floats(N, (float)rank);
    MPI_Win window = window_of(memory, N);
    MPI_Group world, one;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &partner, &one);
    MPI_Win_post(one, 0, window);
    MPI_Win_start(one, 0, window);
    MPI_Put(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, window);
    if (racy)
        launch_fill(p, N, 9, stream);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    launch_fill(p, N, 9, stream);
    if (!racy)
        expect_floats(memory, N, (float)partner);
    MPI_Win_free(&window);
    MPI_Group_free(&one);
    MPI_Group_free(&world);
}

/* To itself: the window's own memory is touched. */
static void put_to_itself(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(2 * N, 0), *p = device_floats(N, 3);
    MPI_Win window = window_of(memory, 2 * N);
    void *base = NULL;
    int flag = 0;
    MPI_Win_get_attr(window, MPI_WIN_BASE, &base, &flag);
    expect(flag && base == memory, "the window's base is another");
    MPI_Win_fence(0, window);
    MPI_Put(p, N, MPI_FLOAT, rank, N, N, MPI_FLOAT, window);
    launch_fill(memory + (racy ? N : 0), N, 9, stream);
    MPI_Win_fence(0, window);
    if (!racy)
        expect_floats(memory + N, N, 3);
    MPI_Win_free(&window);
}

const struct mpi_case one_sided_cases[] = {
    {"put_fence", "MPI_Put", "512 MPI_FLOAT to rank", put_fence},
    {"put_before_kernel_ends", "MPI_Put", NULL, put_before_kernel_ends},
    {"get_flush", "MPI_Get", "512 MPI_FLOAT from rank", get_flush},
    {"accumulate_unlock", "MPI_Accumulate", NULL, accumulate_unlock},
    {"fetch_and_op", "MPI_Fetch_and_op", NULL, fetch_and_op},
    {"rget", "MPI_Rget", NULL, rget},
    {"start_complete", "MPI_Put", NULL, start_complete},
    {"put_to_itself", "MPI_Put", NULL, put_to_itself},
    {0}};
