// verdict: none
// finding: out of bounds
// expect: CSAN: out of bounds: fill_from \(.*write_far_before.cu:{before}\) writes 4096 bytes, 1099511623680 bytes before the begin of the 4096 bytes allocated at .*write_far_before.cu:{allocated}
// own-errors: yes
// An index that lies far outside of the memory that the pointer is of.
#include "program.h"

__global__ void fill_from(int *p, long first)
{
    p[first + blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main()
{
    int *p = nullptr;
    CHECK(cudaMalloc(&p, BYTES));               // at: allocated
    fill_from<<<GRID, BLOCK>>>(p, -(1L << 38)); // at: before
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
