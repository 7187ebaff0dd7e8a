// skip: embedded
// flags: -arch=sm_90
// verdict: none
// Two maps over the left and the right half of a matrix's columns, a store through each at the same
// time: rows that interleave and never meet.
#include "tensor.h"

int main()
{
    int *p = device_array<int>(COLUMNS * ROWS);
    CHECK(cudaMemset(p, 0, COLUMNS * ROWS * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    CUtensorMap left = tensor_map(p, COLUMNS / 2), right = tensor_map(p + COLUMNS / 2, COLUMNS / 2);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    store_tile<<<1, 1, 0, a>>>(left, 0, 0, 3);
    store_tile<<<1, 1, 0, b>>>(right, 0, 0, 4);
    CHECK(cudaGetLastError());
    return finish();
}
