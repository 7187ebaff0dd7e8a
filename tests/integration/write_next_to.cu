// verdict: none
// Pointers that lead into other memory than they point to, and whose accesses are right.
#include "program.h"

__global__ void fill_from(int *p, long first)
{
    p[first + blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    CHECK(cudaMemset(p, 0, BYTES));
    fill_from<<<GRID, BLOCK>>>(p + N, -(long)N);          // from the end, backwards
    fill_from<<<GRID, BLOCK>>>(p - 1, 1);                 // counted from one
    fill_from<<<GRID, BLOCK>>>(q - (1L << 20), 1L << 20); // by global indices
    fill_from<<<GRID, BLOCK>>>(p, q - p);                 // the distance of two arrays
    return finish();
}
