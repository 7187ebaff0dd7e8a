// One stream gathers four rows of a matrix, or scatters to them; another one sets a row.
#include "tensor_rows.h"

static int set_beside(bool scatters, int row, bool ordered)
{
    const Rows rows = {0, {1, 5, 0, 9}};
    int *matrix = device_array<int>(ROWS * COLUMNS), *copy = device_array<int>(FOUR * TILE);
    const Rows *at = on_device(&rows, 1);
    const CUtensorMap map = rows_map(matrix);
    CHECK(cudaMemset(copy, 0, FOUR * TILE * sizeof(int)));
    cudaStream_t first = nonblocking_stream(), second = nonblocking_stream();
    CHECK(cudaDeviceSynchronize());
    if (scatters)
        scatter_rows<<<1, 32, 0, first>>>(map, at, copy);
    else
        gather_rows<<<1, 32, 0, first>>>(map, at, copy);
    CHECK(cudaGetLastError());
    if (ordered) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, first));
        CHECK(cudaStreamWaitEvent(second, event));
    }
    CHECK(cudaMemsetAsync(matrix + row * COLUMNS, 0, TILE * sizeof(int), second)); // at: set
    return finish();
}
