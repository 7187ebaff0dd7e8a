// verdict: none
// options: trace=0
// An array of pointers to the parts of one buffer, copied to the device before: the kernel finds
// its part there.
#include "program.h"

enum { PARTS = 4 };

__global__ void fill_row(int *const *rows, int row, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        rows[row][i] = i;
}

int main()
{
    int *p = device_array<int>(), *host[PARTS], **rows = device_array<int *>(PARTS);
    for (int i = 0; i < PARTS; i++)
        host[i] = p + i * N / PARTS;
    CHECK(cudaMemcpy(rows, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize()); // the copy is from pageable memory
    for (int i = 0; i < PARTS; i++)
        fill_row<<<3, 100, 0, nonblocking_stream()>>>(rows, i, N / PARTS);
    CHECK(cudaGetLastError());
    return finish();
}
