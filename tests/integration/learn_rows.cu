// verdict: none
// options: access=learn:learn_cache_mb=0
// expect: learning: [0-9]+ launches known from earlier ones, [1-9][0-9]* bounded by them
// Rows are gathered by three index tensors that take turns, in one allocation with the table and
// the output, as a caching allocator places them. Each has rows of its own for ever; still it is
// data decides them, not where the tensor lies.
#include "program.h"

#include <unistd.h>

__global__ void gather(int *out, const int *table, const int *rows)
{
    out[blockIdx.x * 32 + threadIdx.x] = table[rows[blockIdx.x] * 32 + threadIdx.x];
}

int main()
{
    const int table_rows = 32, rows = 4, turns = 3;
    int *table = device_array<int>(2 * N), *out = table + table_rows * 32,
        *at = out + 2 * rows * 32;
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMemsetAsync(table, 0, table_rows * 32 * sizeof *table, stream));
    for (int i = 0; i < turns; i++)
        launch_fill(stream, at + 64 * i, 7 * i, rows);
    for (int i = 0; i < 24; i++) {
        gather<<<rows, 32, 0, stream>>>(out, table, at + 64 * (i < 8 ? 0 : i % turns));
        CHECK(cudaStreamSynchronize(stream));
        usleep(5000); // what it touched is reported before the next is launched
    }
    CHECK(cudaGetLastError());
    return finish();
}
