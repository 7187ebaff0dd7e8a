// verdict: race
// gpu: race
// options: trace=0
// expect: argument\(s\) \*table
// expect: Overlap: 1024 bytes, 2048 to 3071 of the 4096
// expect: , 1 race, 0 possible races
// reject: [1-9][0-9]* (bounded|unknown)|direction| traced
// A table of pointers in __constant__ memory, filled by the host: four streams take an entry each,
// and a fifth one takes one of them again.
#include "program.h"

__constant__ int *table[4];

__global__ void fill_entry(int entry, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        table[entry][i] = i;
}

int main()
{
    int *p = device_array<int>(), *entries[4];
    for (int i = 0; i < 4; i++)
        entries[i] = p + i * N / 4;
    CHECK(cudaMemcpyToSymbol(table, entries, sizeof entries));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 5; i++)
        fill_entry<<<2, 128, 0, nonblocking_stream()>>>(i < 4 ? i : 2, N / 4);
    CHECK(cudaGetLastError());
    return finish();
}
