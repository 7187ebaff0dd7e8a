// verdict: none
// finding: illegal memory access in sum
// skip: gpu
// own-errors: yes
// A kernel uses a block that an earlier one freed. Both are in order, so it is no race.
#include "device_heap.h"

int main()
{
    int **blocks = device_array<int *>(1), *out = device_array<int>(1);
    make<<<1, 1>>>(blocks, 10);
    release<<<1, 1>>>(blocks);
    sum<<<1, 1>>>(blocks, 10, out);
    if (cudaDeviceSynchronize() != cudaErrorIllegalAddress)
        printf("no illegal address\n");
    printf("done\n");
    return 0;
}
