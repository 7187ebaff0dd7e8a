// verdict: none
// options: trace=0
// Two streams scatter into neighbouring blocks of a pool, through indices that PTX does not know:
// each may touch its own block, and not the whole allocation that the pool cut both from.
#include "program.h"

__global__ void scatter(int *out, const int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[to[i]] = i;
}

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *pool = device_array<int>(), *to = device_array<int>();
    launch_fill(0, to, 0, N / 2);
    CHECK(cudaDeviceSynchronize());
    csan_pool_alloc(pool, BYTES / 2, a);
    csan_pool_alloc(pool + N / 2, BYTES / 2, b);
    scatter<<<4, 128, 0, a>>>(pool, to, N / 2);
    scatter<<<4, 128, 0, b>>>(pool + N / 2, to, N / 2);
    CHECK(cudaGetLastError());
    return finish();
}
