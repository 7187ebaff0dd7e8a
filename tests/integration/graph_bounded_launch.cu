// verdict: possible
// A launch keeps bounded accesses bounded, and what is exact exact: another stream may race with
// the scatter, and does not with the fill of something else.
#include "graph.h"

__global__ void scatter(int *out, const int *index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[index[i] & (N - 1)] = i;
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *index = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    begin_capture(a);
    scatter<<<GRID, BLOCK, 0, a>>>(p, index, N);
    launch_fill(a, q);
    cudaGraphExec_t exec = instantiate(end_capture(a));
    CHECK(cudaGraphLaunch(exec, a));
    launch_increment(b, p + N - 1, 1);
    return finish();
}
