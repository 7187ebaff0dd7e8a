// verdict: race
// finding: illegal memory access in fill
// skip: gpu
// own-errors: yes
// expect: CSAN: use after free: fill \(.*use_after_free.cu:{launch}\) uses memory allocated at .*use_after_free.cu:{allocated} after cudaFree \(.*use_after_free.cu:{freed}\) freed it
// expect: Cause: memory used after it was freed
// expect: CSAN: illegal memory access in fill \(.*use_after_free.cu:{launch}\)
// A kernel uses memory that was freed before its launch: said at the launch, and where it fails.
#include "program.h"

int main()
{
    int *p = nullptr;
    CHECK(cudaMalloc(&p, BYTES));   // at: allocated
    CHECK(cudaFree(p));             // at: freed
    fill<<<GRID, BLOCK>>>(p, 1, N); // at: launch
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
