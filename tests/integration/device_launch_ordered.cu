// verdict: none
// flags: -rdc=true
// Children of one block's NULL stream run one after the other, a stream's that the kernel creates
// too, with an event between streams; a tail launch comes after all. Each child knows what its
// parent wrote before.
#include "device_launch.h"

__global__ void parent(int *p, int *q, int *r, int *s, int *sum)
{
    if (threadIdx.x)
        return;
    p[0] = -1; // before the launch
    put<<<GRID, BLOCK>>>(p, N, 5);
    twice<<<GRID, BLOCK>>>(p, q, N);
    cudaStream_t a, b;
    cudaEvent_t e;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    put<<<GRID, BLOCK, 0, a>>>(r, N, 7);
    cudaEventRecord(e, a);
    cudaStreamWaitEvent(b, e, 0);
    twice<<<GRID, BLOCK, 0, b>>>(r, s, N);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    twice<<<GRID, BLOCK, 0, cudaStreamTailLaunch>>>(s, sum, N);
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *r = device_array<int>(),
        *s = device_array<int>(), *sum = device_array<int>();
    parent<<<1, 32>>>(p, q, r, s, sum);
    CHECK(cudaGetLastError());
    check_values(q, 2, 5);
    check_values(s, 2, 7);
    check_values(sum, 4, 7);
    return finish();
}
