// verdict: none
// Frees that are right, and frees of what CUDA never allocated, which programs try on purpose.
#include "expect.h"

int main()
{
    int *p = nullptr, *q = nullptr, local = 0;
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMalloc(&p, 4096));
    CHECK(cudaFree(p));
    CHECK(cudaMalloc(&q, 4096)); // where p was, it may be
    CHECK(cudaFree(q));
    CHECK(cudaMallocAsync(&q, 4096, a));
    CHECK(cudaFreeAsync(q, a));
    launch_fill(a, device_array<int>());
    CHECK(cudaFree(nullptr));
    EXPECT(cudaFree(&local), cudaErrorInvalidValue);
    EXPECT(cudaFreeHost(&local), cudaErrorInvalidValue);
    return finish();
}
