// verdict: none
// finding: illegal memory access in overrun
// skip: gpu
// own-errors: yes
// expect: CSAN: illegal memory access in overrun \(.*device_heap_out_of_bounds.cu:{launch}\)
// A kernel writes one element behind a block of the device's heap.
#include "device_heap.h"

__global__ void overrun(int count)
{
    int *block = new int[count];
    for (int i = 0; i <= count; i++)
        block[i] = i;
    delete[] block;
}

int main()
{
    overrun<<<1, 1>>>(100); // at: launch
    if (cudaDeviceSynchronize() != cudaErrorIllegalAddress)
        printf("no illegal address\n");
    printf("done\n");
    return 0;
}
