// verdict: none
// options: trace=0
// One stream writes the elements with even numbers, another those with odd ones.
#include "program.h"

__global__ void fill_every_other(int *p, int first, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs)
        p[2 * i + first] = i;
}

int main()
{
    int *p = device_array<int>();
    for (int first = 0; first < 2; first++)
        fill_every_other<<<5, 128, 0, nonblocking_stream()>>>(p, first, N / 2);
    CHECK(cudaGetLastError());
    return finish();
}
