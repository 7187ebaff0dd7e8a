// verdict: none
// options: trace=0
// cuda: 13
// Two streams scatter into neighbouring blocks of a pool that speaks NVTX, through indices that PTX
// does not know. One block becomes larger: each may touch its own block, and no other.
#include "nvtx_pool.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *to = device_array<int>();
    launch_fill(0, to, 0);
    CHECK(cudaDeviceSynchronize());
    nvtx_pool pool(4 * BYTES);
    int *left = pool.allocate<int>(BYTES), *right = pool.allocate<int>(BYTES / 2);
    pool.resize(right, BYTES);
    scatter<<<GRID, BLOCK, 0, a>>>(left, to, N);
    scatter<<<GRID, BLOCK, 0, b>>>(right, to, N);
    CHECK(cudaGetLastError());
    return finish();
}
