// skip: embedded
// flags: -arch=sm_90
// verdict: possible
// expect: load_tile
// expect: store_tile
// One stream stores a tile of a matrix through a tensor map, another loads it through another map
// of the same memory. The tiles are the same; which one a kernel takes csan does not know.
#include "tensor.h"

int main()
{
    int *p = device_array<int>(COLUMNS * ROWS), *out = device_array<int>();
    CHECK(cudaMemset(p, 0, COLUMNS * ROWS * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    CUtensorMap map = tensor_map(p, COLUMNS);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    store_tile<<<1, 1, 0, a>>>(map, 0, 0, 3);
    load_tile<<<1, 1, 0, b>>>(map, 0, 0, out);
    CHECK(cudaGetLastError());
    return finish();
}
