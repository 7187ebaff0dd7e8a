// flags: -arch=sm_90
// verdict: race
// expect: Fix: call cudaGridDependencySynchronize\(\) \(griddepcontrol.wait\) in second, .* or launch it \(.*programmatic.h
// The third kernel waits for the second, which does not wait for the first: the first may not be
// done.
#include "programmatic.h"

__global__ void second(int *q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    let_next_begin();
    if (i < n)
        q[i] = -i;
}

__global__ void third(int *out, const int *p, const int *q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    wait_for_previous();
    if (i < n)
        out[i] = p[i] + q[i];
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *out = device_array<int>();
    cudaStream_t s = nonblocking_stream();
    launch_fill_and_let(s, p);
    launch_beside(s, second, q, N);
    launch_beside(s, third, out, p, q, N);
    return finish();
}
