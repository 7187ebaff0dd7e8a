// verdict: none
// finding: illegal memory access in fill
// skip: gpu
// own-errors: yes
// expect: CSAN: illegal memory access in fill \(.*write_to_neighbour.cu:{launch}\)
// expect: behind the end of the 4096 bytes allocated at .*write_to_neighbour.cu:{first}
// reject: CSAN: out of bounds
// A pointer behind the end of one allocation, where on a GPU another one may lie.
#include "program.h"

int main()
{
    int *p = nullptr, *q = nullptr;
    CHECK(cudaMalloc(&p, BYTES)); // at: first
    CHECK(cudaMalloc(&q, BYTES));
    fill<<<GRID, BLOCK>>>(p + N, 1, N); // at: launch
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
