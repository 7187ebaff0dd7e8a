// verdict: race
// expect: free_in_use.cu:{racy}
//
// Stream-ordered memory is freed on one stream while another one still uses it. cudaFreeAsync takes
// effect in the order of its stream: from then on the pool may give the memory to the next
// cudaMallocAsync, and the kernel on the other stream then writes into somebody else's array.

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
    cudaEvent_t allocated;
    CHECK(cudaEventCreateWithFlags(&allocated, cudaEventDisableTiming));

    int *p;
    CHECK(cudaMallocAsync((void **)&p, n * sizeof(int), owner));

    // The memory exists from here on in the owner's order; the worker waits for that.
    CHECK(cudaEventRecord(allocated, owner));
    CHECK(cudaStreamWaitEvent(worker, allocated, 0));
    fill<<<n / 256, 256, 0, worker>>>(p, 1, n);
    CHECK(cudaGetLastError());

    CHECK(cudaFreeAsync(p, owner)); // the worker may not be done // at: racy

    CHECK(cudaDeviceSynchronize());
    printf("done\n");
    return 0;
}
