// verdict: none
// finding: freed again
// expect: CSAN: freed again: cudaFreeHost \(.*free_again_pinned.cu:{again}\) frees the 4096 bytes allocated at .*free_again_pinned.cu:{allocated}
// The same of pinned memory.
#include "expect.h"

int main()
{
    // Before the free: on a GPU it may get the freed address.
    int *p = nullptr, *device = device_array<int>();
    CHECK(cudaMallocHost(&p, 4096)); // at: allocated
    CHECK(cudaFreeHost(p));
    launch_fill(0, device);
    EXPECT(cudaFreeHost(p), cudaErrorInvalidValue); // at: again
    return finish();
}
