// verdict: race
// gpu: race
// options: trace=0
// expect: Overlap: 1024 bytes, 1024 to 2047 of the 4096
// expect: , 1 race, 0 possible races
// reject: [1-9][0-9]* (bounded|unknown)|direction| traced
// A table of pointers in a struct by value: four streams take an entry each, and a fifth one takes
// one of them again.
#include "program.h"

struct tables {
    int count;
    int *entries[4];
};

__global__ void fill_entry(tables t, int entry)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < t.count)
        t.entries[entry][i] = i;
}

int main()
{
    int *p = device_array<int>();
    tables t = {N / 4, {p, p + N / 4, p + N / 2, p + 3 * N / 4}};
    for (int i = 0; i < 5; i++)
        fill_entry<<<2, 128, 0, nonblocking_stream()>>>(t, i < 4 ? i : 1);
    CHECK(cudaGetLastError());
    return finish();
}
