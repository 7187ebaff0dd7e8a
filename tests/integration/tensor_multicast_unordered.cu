// verdict: race
// gpu: possible
// flags: -arch=sm_90
// cuda: 13
// Another stream writes the tile that one block loads for all.
#include "tensor_multicast.h"

int main()
{
    int count = ROWS * COLUMNS, *p = device_array<int>(count);
    int *out = device_array<int>(BLOCKS * TILE * TILE);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUtensorMap from = tensor_map(p);
    fill<<<(count + BLOCK - 1) / BLOCK, BLOCK, 0, a>>>(p, 5, count);
    load_for_all<<<BLOCKS, 64, 0, b>>>(from, out);
    CHECK(cudaGetLastError());
    return finish();
}
