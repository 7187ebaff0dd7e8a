// verdict: none
// options: trace=0
// Grid-stride loops over [first, end) with 64-bit indices, lengths that no block size divides, and
// vectors of four.
#include "program.h"

__global__ void fill_between(int *p, size_t first, size_t end)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = first + (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < end; i += stride)
        p[i] = (int)i;
}

__global__ void fill_vectors(int4 *p, unsigned first, unsigned end)
{
    for (unsigned i = first + blockIdx.x * blockDim.x + threadIdx.x; i < end;
         i += gridDim.x * blockDim.x)
        p[i] = make_int4(i, i, i, i);
}

int main()
{
    int *p = device_array<int>();
    fill_between<<<3, 40, 0, nonblocking_stream()>>>(p, 0, 333);
    fill_between<<<2, 64, 0, nonblocking_stream()>>>(p, 333, 400);
    fill_between<<<5, 32, 0, nonblocking_stream()>>>(p, 400, 600);
    fill_vectors<<<2, 16, 0, nonblocking_stream()>>>((int4 *)p, 150, 200);
    fill_vectors<<<1, 96, 0, nonblocking_stream()>>>((int4 *)p, 200, N / 4);
    CHECK(cudaGetLastError());
    return finish();
}
