// verdict: none
//
// free_in_use.cu without its bug: the owner waits for the worker before it frees.

#include "check.h"

__global__ void fill(int *p, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = value;
}

int main()
{
    const int n = 4096;
    cudaStream_t owner, worker;
    CHECK(cudaStreamCreateWithFlags(&owner, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&worker, cudaStreamNonBlocking));
    cudaEvent_t allocated, used;
    CHECK(cudaEventCreateWithFlags(&allocated, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&used, cudaEventDisableTiming));

    int *p;
    CHECK(cudaMallocAsync((void **)&p, n * sizeof(int), owner));

    CHECK(cudaEventRecord(allocated, owner));
    CHECK(cudaStreamWaitEvent(worker, allocated, 0));
    fill<<<n / 256, 256, 0, worker>>>(p, 1, n);
    CHECK(cudaGetLastError());

    CHECK(cudaEventRecord(used, worker));       // the fix: the worker says when it is done,
    CHECK(cudaStreamWaitEvent(owner, used, 0)); // the owner waits for that
    CHECK(cudaFreeAsync(p, owner));

    CHECK(cudaDeviceSynchronize());
    printf("done\n");
    return 0;
}
