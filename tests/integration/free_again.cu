// verdict: none
// finding: freed again
// expect: CSAN: freed again: cudaFree \(.*free_again.cu:{again}\) frees the 4096 bytes allocated at .*free_again.cu:{allocated}, which cudaFree \(.*free_again.cu:{freed}\) freed before
// expect: The memory was allocated with stack trace
// expect: It was freed with stack trace
// expect: The program gets CUDA_ERROR_INVALID_VALUE
// expect: Fix: free the memory once
// Memory that is freed twice: the second free fails, and says nothing of why.
// clang-format off
#include "expect.h"

int main()
{
    int *p = nullptr, *other = device_array<int>(); // before the free: a later one may get the address
    launch_fill(0, other);
    CHECK(cudaMalloc(&p, 4096)); // at: allocated
    CHECK(cudaFree(p)); // at: freed
    EXPECT(cudaFree(p), cudaErrorInvalidValue); // at: again
    return finish();
}
