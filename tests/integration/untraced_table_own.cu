// verdict: none
// options: trace=0
// expect: 1 unknown
// A kernel changes the table of pointers that it then follows: what was copied there before does
// not know where it writes.
#include "program.h"

__global__ void swap_and_fill(int **table, int n)
{
    int *volatile *entries = table;
    entries[0] = entries[1];
    for (int i = 0; i < n; i++)
        entries[0][i] = i;
}

int main()
{
    int **table = device_array<int *>(2), *entries[2] = {device_array<int>(), device_array<int>()};
    CHECK(cudaMemcpy(table, entries, sizeof entries, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    swap_and_fill<<<1, 1, 0, nonblocking_stream()>>>(table, N);
    launch_fill(nonblocking_stream(), entries[0]); // no race: it is the other one that is filled
    CHECK(cudaGetLastError());
    return finish();
}
