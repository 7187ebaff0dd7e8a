/* Derived datatypes: between their elements a kernel may work. */
#include "cases.h"

#include <stddef.h>

enum { TAG = 9, ROWS = 16, PITCH = 32 };

static void exchange(float *p, int count, MPI_Datatype type)
{
    static float host[ROWS * PITCH];
    int bytes;
    MPI_Type_size(type, &bytes);
    MPI_Type_commit(&type);
    MPI_Sendrecv(p, count, type, partner, TAG, host, count * bytes / (int)sizeof(float), MPI_FLOAT,
                 partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
}

/* Column 3 is sent while a kernel writes column 4, or 3. */
static void vector(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(ROWS * PITCH, 0);
    MPI_Datatype column;
    MPI_Type_vector(ROWS, 1, PITCH, MPI_FLOAT, &column);
    launch_fill_column(p + (racy ? 3 : 4), ROWS, PITCH, 1, stream);
    exchange(p + 3, 1, column);
}

/* Two columns by one datatype that was resized, so that the next begins beside the first. */
static void resized_columns(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(ROWS * PITCH, 0);
    MPI_Datatype column, beside;
    MPI_Type_create_hvector(ROWS, 1, PITCH * sizeof(float), MPI_FLOAT, &column);
    MPI_Type_create_resized(column, 0, sizeof(float), &beside);
    launch_fill_column(p + (racy ? 1 : 2), ROWS, PITCH, 1, stream);
    exchange(p, 2, beside);
    MPI_Type_free(&column);
}

static void subarray(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(ROWS * PITCH, 0);
    const int sizes[2] = {ROWS, PITCH}, subsizes[2] = {4, 8}, starts[2] = {2, 5};
    MPI_Datatype box;
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_FLOAT, &box);
    launch_fill_column(p + (racy ? 12 : 13), ROWS, PITCH, 1, stream);
    exchange(p, 1, box);
}

/* The second of two processes has columns 3, 4, 5, 9, 10, 11 and so on of the upper half. */
static void distributed(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(ROWS * PITCH, 0);
    const int sizes[2] = {ROWS, PITCH}, processes[2] = {2, 2};
    const int how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
              blocks[2] = {MPI_DISTRIBUTE_DFLT_DARG, 3};
    MPI_Datatype part;
    MPI_Type_create_darray(4, 1, 2, sizes, how, blocks, processes, MPI_ORDER_C, MPI_FLOAT, &part);
    launch_fill_column(p + (racy ? 10 : 12), ROWS, PITCH, 1, stream);
    launch_fill_column(p + ROWS / 2 * PITCH + 10, ROWS / 2, PITCH, 1, stream);
    exchange(p, 1, part);
}

static void subarray_fortran(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(ROWS * PITCH, 0);
    const int sizes[2] = {PITCH, ROWS}, subsizes[2] = {8, 4}, starts[2] = {5, 2};
    MPI_Datatype box;
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_FORTRAN, MPI_FLOAT, &box);
    launch_fill_column(p + (racy ? 5 : 4), ROWS, PITCH, 1, stream);
    exchange(p, 1, box);
}

static void indexed(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    const int lengths[3] = {4, 1, 8}, places[3] = {0, 10, 20};
    MPI_Datatype parts;
    MPI_Type_indexed(3, lengths, places, MPI_FLOAT, &parts);
    launch_fill(p + (racy ? 9 : 11), 9 - (racy ? 0 : 1), 1, stream);
    exchange(p, 1, parts);
}

static void indexed_block(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    const int places[3] = {100, 7, 50};
    MPI_Datatype parts;
    MPI_Type_create_indexed_block(3, 2, places, MPI_FLOAT, &parts);
    launch_fill(p + (racy ? 8 : 9), 41, 1, stream);
    exchange(p, 1, parts);
}

static void structure(int racy)
{
    struct particle {
        double mass;
        float place[3];
        float speed[3];
    };
    cudaStream_t stream = new_stream();
    float *p = device_floats(8 * sizeof(struct particle) / sizeof(float), 0);
    const int lengths[2] = {1, 3};
    const MPI_Aint places[2] = {0, offsetof(struct particle, place)};
    const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_FLOAT};
    MPI_Datatype some, particle;
    MPI_Type_create_struct(2, lengths, places, types, &some);
    MPI_Type_create_resized(some, 0, sizeof(struct particle), &particle);
    /* The speeds are not sent. */
    launch_fill_column(p + offsetof(struct particle, speed) / sizeof(float) - (racy ? 1 : 0), 8,
                       sizeof(struct particle) / sizeof(float), 1, stream);
    exchange(p, 8, particle);
    MPI_Type_free(&some);
}

/* Places in bytes, of a datatype that is a copy of a column's. */
static void hindexed(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(ROWS * PITCH, 0);
    const int lengths[2] = {1, 2};
    const MPI_Aint places[2] = {0, 20 * sizeof(float)};
    MPI_Datatype column, beside, copy, parts;
    MPI_Type_vector(ROWS, 1, PITCH, MPI_FLOAT, &column);
    MPI_Type_create_resized(column, 0, sizeof(float), &beside);
    MPI_Type_dup(beside, &copy);
    MPI_Type_create_hindexed(2, lengths, places, copy, &parts);
    launch_fill_column(p + (racy ? 21 : 22), ROWS, PITCH, 1, stream);
    exchange(p, 1, parts);
    MPI_Type_free(&column);
    MPI_Type_free(&beside);
    MPI_Type_free(&copy);
}

static void hindexed_block(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    const MPI_Aint places[3] = {100 * sizeof(float), 7 * sizeof(float), 50 * sizeof(float)};
    MPI_Datatype parts;
    MPI_Type_create_hindexed_block(3, 2, places, MPI_FLOAT, &parts);
    launch_fill(p + (racy ? 51 : 52), 48, 1, stream);
    exchange(p, 1, parts);
}

/* A struct of a vector and a subarray: nested. */
static void nested(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(ROWS * PITCH, 0);
    const int sizes[2] = {ROWS, PITCH}, subsizes[2] = {2, 4}, starts[2] = {10, 16},
              ones[2] = {1, 1};
    const MPI_Aint places[2] = {2 * sizeof(float), 0};
    MPI_Datatype parts[2], both;
    MPI_Type_vector(4, 2, PITCH, MPI_FLOAT, &parts[0]);
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_FLOAT, &parts[1]);
    MPI_Type_create_struct(2, ones, places, parts, &both);
    launch_fill_column(p + 11 * PITCH + (racy ? 19 : 20), 1, PITCH, 1, stream);
    exchange(p, 1, both);
    MPI_Type_free(&parts[0]);
    MPI_Type_free(&parts[1]);
}

/* Blocks of a contiguous datatype, received over a kernel. */
static void contiguous_received(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 0);
    static float host[N];
    MPI_Datatype four;
    MPI_Request sent;
    MPI_Type_contiguous(4, MPI_FLOAT, &four);
    MPI_Type_commit(&four);
    MPI_Isend(host, N / 2, MPI_FLOAT, partner, TAG, MPI_COMM_WORLD, &sent);
    launch_fill(p + N / 2 - (racy ? 4 : 0), N / 2, 1, stream);
    MPI_Recv(p, N / 8, four, partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Type_free(&four);
}

/* A handle of a datatype that was freed is used again for another. */
static void handle_reused(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(ROWS * PITCH, 0);
    for (int step = 0; step < 2; step++) {
        MPI_Datatype column;
        MPI_Type_vector(ROWS, step && racy ? 2 : 1, PITCH, MPI_FLOAT, &column);
        if (step)
            launch_fill_column(p + 1, ROWS, PITCH, 1, stream);
        exchange(p, 1, column);
    }
}

static void pack(int racy)
{
    cudaStream_t stream = new_stream();
    float *p = device_floats(N, 1);
    static char packed[N * sizeof(float)];
    int at = 0;
    launch_fill(p, N, 2, stream);
    if (!racy)
        cudaStreamSynchronize(stream);
    MPI_Pack(p, N, MPI_FLOAT, packed, sizeof packed, &at, MPI_COMM_WORLD);
    at = 0;
    if (!racy)
        MPI_Unpack(packed, sizeof packed, &at, p, N, MPI_FLOAT, MPI_COMM_WORLD);
    if (!racy)
        expect_floats(p, N, 2);
}

const struct mpi_case type_cases[] = {
    {"vector", "MPI_Sendrecv", "1 of a derived datatype to rank", vector},
    {"resized_columns", "MPI_Sendrecv", NULL, resized_columns},
    {"subarray", "MPI_Sendrecv", NULL, subarray},
    {"subarray_fortran", "MPI_Sendrecv", NULL, subarray_fortran},
    {"distributed", "MPI_Sendrecv", NULL, distributed},
    {"indexed", "MPI_Sendrecv", NULL, indexed},
    {"indexed_block", "MPI_Sendrecv", NULL, indexed_block},
    {"structure", "MPI_Sendrecv", NULL, structure},
    {"hindexed", "MPI_Sendrecv", NULL, hindexed},
    {"hindexed_block", "MPI_Sendrecv", NULL, hindexed_block},
    {"nested", "MPI_Sendrecv", NULL, nested},
    {"contiguous_received", "MPI_Recv", NULL, contiguous_received},
    {"handle_reused", "MPI_Sendrecv", NULL, handle_reused},
    {"pack", "MPI_Pack", NULL, pack},
    {0}};
