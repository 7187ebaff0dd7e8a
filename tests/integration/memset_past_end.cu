// verdict: none
// finding: out of bounds
// expect: CSAN: out of bounds: cudaMemset \(.*memset_past_end.cu:{set}\) writes 4096 bytes behind the end of the 4096 bytes allocated at .*memset_past_end.cu:{allocated}
// expect: The program gets CUDA_ERROR_INVALID_VALUE
// A set that is longer than its memory: the driver refuses it.
#include "expect.h"

int main()
{
    int *p = nullptr;
    CHECK(cudaMalloc(&p, 4096)); // at: allocated
    launch_fill(0, device_array<int>());
    EXPECT(cudaMemset(p, 0, 8192), cudaErrorInvalidValue); // at: set
    return finish();
}
