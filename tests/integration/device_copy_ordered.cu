// verdict: none
// flags: -rdc=true
// Copies and sets that a kernel enqueues take their turn in its stream: behind the child that
// writes, before the child that reads. The host's next kernel comes after them.
#include "device_launch.h"

__global__ void parent(int *p, int *q, int *r)
{
    put<<<GRID, BLOCK>>>(p, N, 5);
    cudaMemcpyAsync(q, p, N * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    cudaMemsetAsync(p, 0, N * sizeof(int), 0);
    twice<<<GRID, BLOCK>>>(q, r, N);
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *r = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    parent<<<1, 1, 0, a>>>(p, q, r);
    CHECK(cudaGetLastError());
    launch_increment(a, q);
    CHECK(cudaStreamSynchronize(a));
    check_values(q, 1, 6);
    check_values(r, 2, 5);
    return finish();
}
