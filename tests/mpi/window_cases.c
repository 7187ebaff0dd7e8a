/* Passive targets: locks, and the flushes that end what was started under them. */
#include "cases.h"

static MPI_Win window_of(float *p, int n)
{
    MPI_Win window;
    MPI_Win_create(p, (MPI_Aint)n * (MPI_Aint)sizeof(float), sizeof(float), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    return window;
}

/* What ends the operation at this rank; `end` is called with the partner and the window. */
static void put_until(int racy, void (*end)(int target, MPI_Win window))
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, 0), *p = device_floats(N, (float)rank + 1);
    MPI_Win window = window_of(memory, N);
    MPI_Win_lock_all(0, window);
    MPI_Put(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, window);
    if (!racy)
        end(partner, window);
    launch_fill(p, N, 9, stream);
    cudaStreamSynchronize(stream);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!racy)
        expect_floats(memory, N, (float)partner + 1);
    MPI_Win_free(&window);
}

static void by_flush(int target, MPI_Win window)
{
    MPI_Win_flush(target, window);
}
static void by_flush_local(int target, MPI_Win window)
{
    MPI_Win_flush_local(target, window);
}
static void by_flush_all(int target, MPI_Win window)
{
    (void)target;
    MPI_Win_flush_all(window);
}
static void by_flush_local_all(int target, MPI_Win window)
{
    (void)target;
    MPI_Win_flush_local_all(window);
}
static void put_flush(int racy)
{
    put_until(racy, by_flush);
}
static void put_flush_local(int racy)
{
    put_until(racy, by_flush_local);
}
static void put_flush_all(int racy)
{
    put_until(racy, by_flush_all);
}
static void put_flush_local_all(int racy)
{
    put_until(racy, by_flush_local_all);
}

/* A flush of another target ends nothing of this one. */
static void flush_of_another(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, 0), *p = device_floats(N, 1);
    MPI_Win window = window_of(memory, N);
    MPI_Win_lock_all(0, window);
    MPI_Put(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, window);
    MPI_Win_flush(racy ? rank : partner, window);
    launch_fill(p, N, 9, stream);
    cudaStreamSynchronize(stream);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* A kernel that has not ended writes what is put under a lock. */
static void lock_put(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = managed_floats(N, 0), *p = managed_floats(N, 0);
    MPI_Win window = window_of(memory, N);
    launch_fill(p, N, (float)rank + 1, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, partner, 0, window);
    MPI_Put(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, window);
    MPI_Win_unlock(partner, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!racy)
        expect_floats(memory, N, (float)partner + 1);
    MPI_Win_free(&window);
}

static void lock_get_pinned(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = pinned_floats(N, (float)rank + 1), *p = pinned_floats(N, 0),
          *next = device_floats(N, 0);
    MPI_Win window = window_of(memory, N);
    MPI_Win_lock(MPI_LOCK_SHARED, partner, 0, window);
    MPI_Get(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, window);
    if (!racy)
        MPI_Win_unlock(partner, window);
    launch_copy(next, p, N, stream);
    if (racy)
        MPI_Win_unlock(partner, window);
    if (!racy)
        expect_floats(next, N, (float)partner + 1);
    MPI_Win_free(&window);
}

/* A flush also ends operations that have a request (MPI 3.1, 11.5.4), which is waited for later. */
static void rput_flush(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, 0), *p = device_floats(N, (float)rank + 1);
    MPI_Win window = window_of(memory, N);
    MPI_Request request;
    MPI_Win_lock_all(0, window);
    MPI_Rput(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, window, &request);
    if (!racy)
        MPI_Win_flush_local(partner, window);
    launch_fill(p, N, 9, stream);
    cudaStreamSynchronize(stream);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!racy)
        expect_floats(memory, N, (float)partner + 1);
    MPI_Win_free(&window);
}

/* ... and the other way round: what was waited for is over before the flush. */
static void rget_waited(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, (float)rank + 1), *p = device_floats(N, 0),
          *next = device_floats(N, 0);
    MPI_Win window = window_of(memory, N);
    MPI_Request request;
    MPI_Win_lock_all(0, window);
    MPI_Rget(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, window, &request);
    if (!racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    launch_copy(next, p, N, stream);
    cudaStreamSynchronize(stream);
    if (racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush_all(window);
    MPI_Win_unlock_all(window);
    if (!racy)
        expect_floats(next, N, (float)partner + 1);
    MPI_Win_free(&window);
}

static void raccumulate(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, 1), *p = device_floats(N, 2);
    MPI_Win window = window_of(memory, N);
    MPI_Request request;
    MPI_Win_lock_all(0, window);
    MPI_Raccumulate(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, MPI_SUM, window, &request);
    if (!racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    launch_fill(p, N, 9, stream);
    if (racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    cudaStreamSynchronize(stream);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!racy)
        expect_floats(memory, N, 3);
    MPI_Win_free(&window);
}

static void get_accumulate(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, 5), *p = device_floats(N, 1), *old = device_floats(N, 0),
          *next = device_floats(N, 0);
    MPI_Win window = window_of(memory, N);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, partner, 0, window);
    MPI_Get_accumulate(p, N, MPI_FLOAT, old, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, MPI_SUM,
                       window);
    if (!racy)
        MPI_Win_unlock(partner, window);
    launch_copy(next, old, N, stream);
    if (racy)
        MPI_Win_unlock(partner, window);
    else
        expect_floats(next, N, 5);
    MPI_Win_free(&window);
}

static void rget_accumulate(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(N, 5), *p = device_floats(N, 1), *old = device_floats(N, 0);
    MPI_Win window = window_of(memory, N);
    MPI_Request request;
    MPI_Win_lock_all(0, window);
    MPI_Rget_accumulate(p, N, MPI_FLOAT, old, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, MPI_REPLACE,
                        window, &request);
    if (!racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    launch_fill(old, N, 1, stream);
    if (racy)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    cudaStreamSynchronize(stream);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void compare_and_swap(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory = device_floats(1, 0), *words = device_floats(3, 0);
    MPI_Win window = window_of(memory, 1);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, partner, 0, window);
    MPI_Compare_and_swap(words, words + 1, words + 2, MPI_INT, partner, 0, window);
    if (!racy)
        MPI_Win_flush(partner, window);
    launch_fill(words + 1, 1, 1, stream); /* what is compared with */
    cudaStreamSynchronize(stream);
    MPI_Win_unlock(partner, window);
    MPI_Win_free(&window);
}

/* The window's memory is MPI's own. */
static void allocated(int racy)
{
    cudaStream_t stream = new_stream();
    float *memory, *p = device_floats(N, (float)rank + 1);
    MPI_Win window;
    MPI_Win_allocate(N * sizeof(float), sizeof(float), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                     &window);
    MPI_Win_fence(0, window);
    launch_fill(p, N, (float)rank + 2, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Put(p, N, MPI_FLOAT, partner, 0, N, MPI_FLOAT, window);
    MPI_Win_fence(0, window);
    expect(racy || memory[N - 1] == (float)partner + 2, "another value was put");
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

/* Memory is attached to the window later, and is known by its address. */
static void attached(int racy)
{
    cudaStream_t stream = new_stream();
    static float memory[N];
    float *p = device_floats(N, (float)rank + 1);
    MPI_Aint mine, other;
    MPI_Win window;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, memory, sizeof memory);
    MPI_Get_address(memory, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, partner, 5, &other, 1, MPI_AINT, partner, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, partner, 0, window);
    MPI_Put(p, N, MPI_FLOAT, partner, other, N, MPI_FLOAT, window);
    if (!racy)
        MPI_Win_flush(partner, window);
    launch_fill(p, N, 9, stream);
    cudaStreamSynchronize(stream);
    MPI_Win_unlock(partner, window);
    MPI_Barrier(MPI_COMM_WORLD);
    expect(racy || memory[N - 1] == (float)partner + 1, "another value was put");
    MPI_Win_detach(window, memory);
    MPI_Win_free(&window);
}

const struct mpi_case window_cases[] = {
    {"put_flush", "MPI_Put", "512 MPI_FLOAT to rank", put_flush},
    {"put_flush_local", "MPI_Put", NULL, put_flush_local},
    {"put_flush_all", "MPI_Put", NULL, put_flush_all},
    {"put_flush_local_all", "MPI_Put", NULL, put_flush_local_all},
    {"flush_of_another", "MPI_Put", NULL, flush_of_another},
    {"lock_put", "MPI_Put", NULL, lock_put},
    {"lock_get_pinned", "MPI_Get", NULL, lock_get_pinned},
    {"rput_flush", "MPI_Rput", NULL, rput_flush},
    {"rget_waited", "MPI_Rget", NULL, rget_waited},
    {"raccumulate", "MPI_Raccumulate", NULL, raccumulate},
    {"get_accumulate", "MPI_Get_accumulate", NULL, get_accumulate},
    {"rget_accumulate", "MPI_Rget_accumulate", NULL, rget_accumulate},
    {"compare_and_swap", "MPI_Compare_and_swap", NULL, compare_and_swap},
    {"allocated", "MPI_Put", NULL, allocated},
    {"attached", "MPI_Put", NULL, attached},
    {0}};
