// verdict: race
// options: trace=0
// expect: , 1 race, 0 possible races
// reject: [1-9][0-9]* (bounded|unknown)|direction| traced
// An entry of a table of pointers is NULL and never followed; beside it, a sum of numbers is an
// address that no pointer begins.
#include "program.h"

__global__ void fill_entries(int *const *table, int n, int k)
{
    int *p = table[blockIdx.x];
    if (blockIdx.x != 1)
        p[threadIdx.x] = k;
    if (blockIdx.x == 0) {
        int *q = (int *)((unsigned long long)table[0] * (n > 5 ? 1 : 2));
        q[2048 / 4 + threadIdx.x] = k;
    }
}

int main()
{
    int *p = device_array<int>(), **table = nullptr, *entries[3] = {p, nullptr, p + 256};
    CHECK(cudaMalloc((void **)&table, sizeof entries));
    CHECK(cudaMemcpy(table, entries, sizeof entries, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    fill_entries<<<3, 32, 0, nonblocking_stream()>>>(table, 9, 1);
    fill_entries<<<3, 32, 0, nonblocking_stream()>>>(table, 9, 2);
    CHECK(cudaGetLastError());
    return finish();
}
