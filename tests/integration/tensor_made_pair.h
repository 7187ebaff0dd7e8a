// One stream loads a tile by a map that the kernel makes; another one sets a row of the matrix.
#include "tensor_made.h"

static int set_beside(int row, bool ordered)
{
    int *matrix = device_array<int>(ROWS * COLUMNS), *out = device_array<int>(TILE);
    CUtensorMap *made;
    CHECK(cudaMalloc(&made, sizeof *made));
    CHECK(cudaMemset(made, 0, sizeof *made));
    const CUtensorMap host = host_map(out);
    cudaStream_t first = nonblocking_stream(), second = nonblocking_stream();
    CHECK(cudaDeviceSynchronize());
    const Matrix all = {matrix, COLUMNS, ROWS, COLUMNS * (int)sizeof(int), 1};
    load_by_own_map<<<1, 32, 0, first>>>(host, true, all, made, 0, 4, out);
    CHECK(cudaGetLastError());
    if (ordered) {
        cudaEvent_t event = event_create();
        CHECK(cudaEventRecord(event, first));
        CHECK(cudaStreamWaitEvent(second, event));
    }
    CHECK(cudaMemsetAsync(matrix + row * COLUMNS, 0, COLUMNS * sizeof(int), second));
    return finish();
}
