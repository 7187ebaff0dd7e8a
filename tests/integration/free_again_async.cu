// verdict: none
// finding: freed again
// expect: CSAN: freed again: cudaFreeAsync \(.*free_again_async.cu:{again}\) frees the 4096 bytes allocated at .*free_again_async.cu:{allocated}
// The same of memory that was allocated and freed in a stream's order.
#include "expect.h"

int main()
{
    int *p = nullptr;
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMallocAsync(&p, 4096, a)); // at: allocated
    CHECK(cudaFreeAsync(p, a));
    launch_fill(0, device_array<int>());
    EXPECT(cudaFreeAsync(p, a), cudaErrorInvalidValue); // at: again
    return finish();
}
