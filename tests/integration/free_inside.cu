// verdict: none
// finding: out of bounds
// expect: CSAN: out of bounds: cudaFree \(.*free_inside.cu:{freed}\) frees at byte 256 of the 4096 bytes allocated at .*free_inside.cu:{allocated}
// expect: Fix: pass the address that the allocation gave
// A pointer into the middle of an allocation frees nothing.
#include "expect.h"

int main()
{
    int *p = nullptr;
    CHECK(cudaMalloc(&p, 4096)); // at: allocated
    launch_fill(0, device_array<int>());
    EXPECT(cudaFree(p + 64), cudaErrorInvalidValue); // at: freed
    CHECK(cudaFree(p));
    return finish();
}
