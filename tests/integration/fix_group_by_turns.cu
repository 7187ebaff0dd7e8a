// verdict: race
// Two kernels in one stream, each followed by one in another stream that reads what it wrote: one
// event is too early for the second, or too late for the first.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>(), *out = device_array<int>(2 * N);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    fill<<<GRID, BLOCK, 0, a>>>(p, 1, N);
    copy<<<GRID, BLOCK, 0, b>>>(out, p, N);
    fill<<<GRID, BLOCK, 0, a>>>(q, 2, N);
    copy<<<GRID, BLOCK, 0, b>>>(out + N, q, N);
    return finish();
}
