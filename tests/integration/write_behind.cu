// verdict: none
// finding: out of bounds
// skip: gpu
// own-errors: yes
// expect: CSAN: out of bounds: fill_behind \(.*write_behind.cu:{launch}\) writes 4096 bytes behind the end of the 4096 bytes allocated at .*write_behind.cu:{allocated}
// expect: CSAN: illegal memory access in fill_behind \(.*write_behind.cu:{launch}\)
// expect: Reported to the program as CUDA_ERROR_ILLEGAL_ADDRESS by
// One of three kernels writes where its index should have been: the error comes from the wait.
#include "program.h"

__global__ void fill_behind(int *p)
{
    p[N + blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main()
{
    int *p = nullptr;
    cudaStream_t stream = nonblocking_stream();
    CHECK(cudaMalloc(&p, BYTES)); // at: allocated
    fill<<<GRID, BLOCK, 0, stream>>>(p, 1, N);
    fill_behind<<<GRID, BLOCK, 0, stream>>>(p); // at: launch
    increment<<<GRID, BLOCK, 0, stream>>>(p, N);
    cudaStreamSynchronize(stream);
    printf("done\n");
    return 0;
}
