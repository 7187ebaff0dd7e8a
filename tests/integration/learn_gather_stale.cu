// verdict: possible
// options: access=learn:learn_cache_mb=0
// expect: reading from argument\(s\) 1
// expect: the previous access .* is bounded
// expect: Overlap: 128 bytes, 5120 to 5247 of the 8192
// expect: [1-9][0-9]* bounded by them
// A kernel gathers rows that an index selects, which changes; once that is known, all of the table
// may be read. It takes its tensors by value, in structures with room for more dimensions than they
// have: the words behind those were never set, and are others in every launch from the moment on
// that it runs on two streams. On the other stream a row is written that it never reads.
#include "program.h"

#include <unistd.h>

enum { COLUMNS = 32, ROWS = 64, TAKEN = 8, TABLE = ROWS * COLUMNS, DIMENSIONS = 25 };

struct tensor {
    int *data;
    unsigned sizes[DIMENSIONS], strides[DIMENSIONS];
    int dimensions;
};

// What the stack had there before.
static tensor matrix(int *data, unsigned rows, unsigned stale)
{
    tensor made;
    memset(&made, 0, sizeof made);
    made.data = data;
    made.sizes[0] = rows;
    made.sizes[1] = made.strides[0] = COLUMNS;
    made.strides[1] = 1;
    made.dimensions = 2;
    for (int i = 2; i < DIMENSIONS; i++)
        made.sizes[i] = i % 3 ? stale != 0 : stale * 0x9e3779b9u * i;
    for (int i = 2; i < DIMENSIONS; i += 5)
        made.strides[i] = stale ? stale / 2 * 0x85ebca6bu : 7;
    return made;
}

__global__ void gather(tensor out, tensor table, const int *rows)
{
    out.data[blockIdx.x * out.strides[0] + threadIdx.x * out.strides[1]] =
        table.data[rows[blockIdx.x] * table.strides[0] + threadIdx.x * table.strides[1]];
}

int main()
{
    int *pool = device_array<int>(3 * TABLE), *out = pool, *table = pool + TABLE,
        *rows = pool + 2 * TABLE;
    cudaStream_t s = nonblocking_stream(), t = nonblocking_stream();
    CHECK(cudaMemset(pool, 0, 3 * TABLE * sizeof *pool));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++)
        csan_pool_alloc(pool + i * TABLE, TABLE * sizeof *pool, (csan_stream)s);
    for (int i = 0; i < 40; i++) {
        launch_fill(s, rows, i < 8 ? 0 : i % 3 * 8, TAKEN);
        gather<<<TAKEN, COLUMNS, 0, s>>>(matrix(out, TAKEN, 0), matrix(table, ROWS, 0), rows);
        CHECK(cudaStreamSynchronize(s));
        usleep(5000); // what it touched is reported before the next is launched
    }
    for (unsigned i = 1; i <= 12; i++) {
        gather<<<TAKEN, COLUMNS, 0, s>>>(matrix(out, TAKEN, i), matrix(table, ROWS, i), rows);
        launch_fill(t, table + 40 * COLUMNS, 0, COLUMNS);
        CHECK(cudaDeviceSynchronize());
        usleep(5000);
    }
    return finish();
}
