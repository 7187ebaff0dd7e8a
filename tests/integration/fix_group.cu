// verdict: race
// expect: by the same missing order as race 1
// Two kernels in one stream and two that read what they wrote in another: one order is missing,
// behind the second kernel and before the third.
#include "program.h"

namespace
{
/* Its name has a parenthesis of its own, which reports have to keep. */
__global__ void take(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}
} // namespace

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *out = device_array<int>(2 * N);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    fill<<<GRID, BLOCK, 0, a>>>(p, 1, N);       // at: first
    fill<<<GRID, BLOCK, 0, a>>>(q, 2, N);       // at: newest
    take<<<GRID, BLOCK, 0, b>>>(out, p, N);     // at: oldest
    copy<<<GRID, BLOCK, 0, b>>>(out + N, q, N); // at: last
    return finish();
}
