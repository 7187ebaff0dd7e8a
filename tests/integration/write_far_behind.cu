// verdict: none
// finding: out of bounds
// expect: CSAN: out of bounds: fill_from \(.*write_far_behind.cu:{far}\) writes 4096 bytes, 4294963200 bytes behind the end of the 4096 bytes allocated at .*write_far_behind.cu:{allocated}
// own-errors: yes
// An index that lies far outside of the memory that the pointer is of.
// clang-format off
#include "program.h"

__global__ void fill_from(int *p, long first)
{
    p[first + blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main()
{
    int *p = nullptr;
    CHECK(cudaMalloc(&p, BYTES));               // at: allocated
    fill_from<<<GRID, BLOCK>>>(p, 1L << 30);    // at: far
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
