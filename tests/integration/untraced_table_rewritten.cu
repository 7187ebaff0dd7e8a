// verdict: none
// options: trace=0
// expect: 2 unknown
// A table of pointers that was copied, and then changed by a kernel: what it holds is not known any
// more, and csan must not take it for what it held.
#include "program.h"

__global__ void swap_entries(int **table)
{
    int *first = table[0];
    table[0] = table[1];
    table[1] = first;
}

__global__ void fill_entry(int *const *table, int entry, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        table[entry][i] = i;
}

int main()
{
    int **table = device_array<int *>(2), *entries[2] = {device_array<int>(), device_array<int>()};
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    CHECK(cudaMemcpy(table, entries, sizeof entries, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    swap_entries<<<1, 1, 0, a>>>(table);
    CHECK(cudaDeviceSynchronize());
    fill_entry<<<GRID, BLOCK, 0, a>>>(table, 0, N);
    launch_fill(b, entries[0]);
    fill_entry<<<GRID, BLOCK, 0, b>>>(table, 1, N);
    CHECK(cudaGetLastError());
    return finish();
}
