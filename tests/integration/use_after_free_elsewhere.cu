// verdict: race
// finding: illegal memory access in fill
// skip: gpu
// own-errors: yes
// expect: CSAN: use after free: fill \(.*use_after_free_elsewhere.cu:{launch}\) uses memory allocated at .*use_after_free_elsewhere.cu:[0-9]+ after cudaFree \(.*use_after_free_elsewhere.cu:{freed}\) freed it
// reject: allocated at .*use_after_free_elsewhere.cu:{other}
// The same after another allocation, which a device may put where the freed one was.
#include "program.h"

int main()
{
    int *p = nullptr, *q = nullptr;
    CHECK(cudaMalloc(&p, BYTES));
    CHECK(cudaFree(p));             // at: freed
    CHECK(cudaMalloc(&q, BYTES));   // at: other
    fill<<<GRID, BLOCK>>>(p, 1, N); // at: launch
    cudaDeviceSynchronize();
    printf("done\n");
    return 0;
}
