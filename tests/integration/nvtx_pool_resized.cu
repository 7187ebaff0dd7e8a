// verdict: possible
// options: trace=0
// expect: memory reused while stream
// cuda: 13
// A pool that speaks NVTX makes a block larger, and takes all blocks back at once. Its next block
// is the first one's memory, whose second half was in the block only since it became larger.
#include "nvtx_pool.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *to = device_array<int>();
    launch_fill(0, to, 0);
    CHECK(cudaDeviceSynchronize());
    nvtx_pool pool(4 * BYTES);
    int *first = pool.allocate<int>(BYTES / 2);
    pool.resize(first, BYTES);
    scatter<<<GRID, BLOCK, 0, a>>>(first, to, N);
    CHECK(cudaGetLastError());
    pool.reset();
    pool.allocate<int>(BYTES / 2);
    int *second = pool.allocate<int>(BYTES / 2);
    launch_fill(b, second, 1, N / 2);
    return finish();
}
