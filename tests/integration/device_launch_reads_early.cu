// verdict: race
// gpu: any
// flags: -rdc=true
// expect: data race: .*put
// A kernel reads what its child writes: a kernel cannot wait for a child. In a tail launch it
// could.
#include "device_launch.h"

__global__ void parent(int *p, int *sum)
{
    put<<<GRID, BLOCK>>>(p, N, 5);
    *sum = p[0] + p[N - 1];
}

int main()
{
    int *p = device_array<int>(), *sum = device_array<int>(1);
    parent<<<1, 1>>>(p, sum);
    CHECK(cudaGetLastError());
    return finish();
}
