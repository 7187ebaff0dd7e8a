// verdict: none
// finding: misaligned memory access in misaligned
// skip: gpu
// own-errors: yes
// flags: -lineinfo
// expect: writing 4 bytes at 0x[0-9a-f]+, at byte 6 of the 4096 bytes allocated at .*kernel_misaligned.cu:{allocation}
// expect: block \(1,0,0\), thread \(3,0,0\) of grid 2 x block 32, at .*kernel_misaligned.cu:{line}
// expect: Launched on stream A \(created at
// A kernel that fails, and a good one behind it: the call that reports it says which one it was.
#include "expect.h"

__global__ void misaligned(char *p)
{
    if (blockIdx.x == 1 && threadIdx.x == 3)
        *(int *)(p + 6) = 1; // at: line
}

int main()
{
    cudaStream_t stream = nonblocking_stream();
    char *p;
    CHECK(cudaMalloc((void **)&p, 4096)); // at: allocation
    misaligned<<<2, 32, 0, stream>>>(p);
    fill<<<GRID, BLOCK, 0, stream>>>((int *)p, 1, N);
    EXPECT(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
    printf("done\n");
    return 0;
}
