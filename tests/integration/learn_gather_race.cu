// verdict: possible
// options: access=learn:learn_cache_mb=0
// expect: reading from argument\(s\) 1
// expect: the previous access .* is bounded
// expect: Overlap: 128 bytes, 5120 to 5247 of the 8192
// expect: [1-9][0-9]* bounded by them
// A kernel gathers rows that an index selects, which changes; once that is known, all of the table
// may be read, which is a block of a pool. On another stream a row is written that it never reads.
// The kernel before it is new each time: what it touches is not known yet when the others are
// launched.
#include "program.h"

#include <unistd.h>

const int COLUMNS = 32, ROWS = 64, TAKEN = 8, TABLE = ROWS * COLUMNS;

__global__ void gather(int *out, const int *table, const int *rows)
{
    out[blockIdx.x * COLUMNS + threadIdx.x] = table[rows[blockIdx.x] * COLUMNS + threadIdx.x];
}

template <int NUMBER> __global__ void fresh(int *p)
{
    p[threadIdx.x] = NUMBER;
}

template <int NUMBER>
void race(cudaStream_t s, cudaStream_t t, int *out, int *table, int *rows, int *other)
{
    fresh<NUMBER><<<1, COLUMNS, 0, t>>>(other);
    gather<<<TAKEN, COLUMNS, 0, s>>>(out, table, rows);
    launch_fill(t, table + 40 * COLUMNS, 0, COLUMNS);
    CHECK(cudaDeviceSynchronize());
}

int main()
{
    int *pool = device_array<int>(4 * TABLE), *out = pool, *table = pool + TABLE,
        *rows = pool + 2 * TABLE, *other = pool + 3 * TABLE;
    cudaStream_t s = nonblocking_stream(), t = nonblocking_stream();
    CHECK(cudaMemset(pool, 0, 4 * TABLE * sizeof *pool));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++)
        csan_pool_alloc(pool + i * TABLE, TABLE * sizeof *pool, (csan_stream)s);
    for (int i = 0; i < 40; i++) {
        launch_fill(s, rows, i < 8 ? 0 : i % 3 * 8, TAKEN);
        gather<<<TAKEN, COLUMNS, 0, s>>>(out, table, rows);
        CHECK(cudaStreamSynchronize(s));
        usleep(5000); // what it touched is reported before the next is launched
    }
    race<0>(s, t, out, table, rows, other);
    race<1>(s, t, out, table, rows, other);
    race<2>(s, t, out, table, rows, other);
    return finish();
}
