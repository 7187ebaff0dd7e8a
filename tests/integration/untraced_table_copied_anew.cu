// verdict: none
// options: trace=0
// reject: [1-9][0-9]* (bounded|unknown)|direction| traced
// A table of one pointer, copied anew before each launch: each launch has its own part.
#include "program.h"

__global__ void fill_entry(int *const *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        table[0][i] = i;
}

int main()
{
    int *p = device_array<int>(), **tables = device_array<int *>(4);
    for (int i = 0; i < 4; i++) {
        int *part = p + i * N / 4;
        CHECK(cudaMemcpy(tables + i, &part, sizeof part, cudaMemcpyHostToDevice));
    }
    CHECK(cudaDeviceSynchronize());
    cudaStream_t streams[4];
    for (int i = 0; i < 4; i++)
        fill_entry<<<2, 128, 0, streams[i] = nonblocking_stream()>>>(tables + i, N / 4);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++) {
        int *part = p + (3 - i) * N / 4;
        CHECK(cudaMemcpy(tables + i, &part, sizeof part, cudaMemcpyHostToDevice));
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++)
        fill_entry<<<2, 128, 0, streams[i]>>>(tables + i, N / 4);
    CHECK(cudaGetLastError());
    return finish();
}
