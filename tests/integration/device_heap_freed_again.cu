// verdict: none
// finding: free of what malloc did not give, or a second free in release
// skip: gpu
// own-errors: yes
// Two kernels free the same block.
#include "device_heap.h"

int main()
{
    int **blocks = device_array<int *>(1);
    make<<<1, 1>>>(blocks, 10);
    release<<<1, 1>>>(blocks);
    release<<<1, 1>>>(blocks);
    if (cudaDeviceSynchronize() != cudaErrorLaunchFailure)
        printf("no failure\n");
    printf("done\n");
    return 0;
}
