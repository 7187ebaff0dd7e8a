// verdict: race
// gpu: possible
// flags: -arch=sm_90
// cuda: 13
// Another stream writes what tensor copies read.
#include "tensor_copy.h"

int main()
{
    int count = ROWS * COLUMNS, *p = device_array<int>(count), *q = device_array<int>(count);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CUtensorMap from = tensor_map(p), to = tensor_map(q);
    fill<<<(count + BLOCK - 1) / BLOCK, BLOCK, 0, a>>>(p, 5, count);
    move_tiles<<<tiles(), 64, 0, b>>>(from, to);
    CHECK(cudaGetLastError());
    return finish();
}
