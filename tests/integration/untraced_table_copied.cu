// verdict: race
// gpu: race
// options: trace=0
// expect: argument\(s\) \*0
// expect: Overlap: 1024 bytes, 1024 to 2047 of the 4096
// expect: , 1 race, 0 possible races
// reject: [1-9][0-9]* (bounded|unknown)|direction| traced
// A table of pointers in device memory, filled by a small copy: four streams take an entry each,
// and a fifth one takes one of them again.
#include "program.h"

__global__ void fill_entry(int *const *table, int entry, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        table[entry][i] = i;
}

int main()
{
    int *p = device_array<int>(), **table = device_array<int *>(4), *entries[4];
    for (int i = 0; i < 4; i++)
        entries[i] = p + i * N / 4;
    CHECK(cudaMemcpy(table, entries, sizeof entries, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 5; i++)
        fill_entry<<<2, 128, 0, nonblocking_stream()>>>(table, i < 4 ? i : 1, N / 4);
    CHECK(cudaGetLastError());
    return finish();
}
