// verdict: race
// gpu: any
// flags: -rdc=true
// expect: data race: .*twice|data race: .*put
// Two children in streams of their own: nothing orders them.
#include "device_launch.h"

__global__ void parent(int *p, int *q)
{
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    put<<<GRID, BLOCK, 0, a>>>(p, N, 5);
    twice<<<GRID, BLOCK, 0, b>>>(p, q, N);
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    parent<<<1, 1>>>(p, q);
    CHECK(cudaGetLastError());
    return finish();
}
