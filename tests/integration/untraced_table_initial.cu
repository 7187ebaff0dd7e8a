// verdict: race
// gpu: race
// options: trace=0
// expect: Overlap: 256 bytes
// expect: , 1 race, 0 possible races
// reject: [1-9][0-9]* (bounded|unknown)|direction| traced
// A table of pointers in __constant__ memory that the module itself initialises: two arrays, three
// streams.
#include "program.h"

__device__ int first[64], second[64];
__constant__ int *table[2] = {first, second};

__global__ void fill_entry(int entry)
{
    table[entry][threadIdx.x] = threadIdx.x;
}

int main()
{
    for (int i = 0; i < 3; i++)
        fill_entry<<<1, 64, 0, nonblocking_stream()>>>(i % 2);
    CHECK(cudaGetLastError());
    return finish();
}
