// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4 bytes, 2048 to 2051 of the 4096
// expect: , 1 race, 0 possible races
// Two streams work in place on their own halves; the first also reads the element after its half.
#include "program.h"

__global__ void differences(int *p, int first, int count)
{
    extern __shared__ int part[];
    int i = threadIdx.x;
    part[i] = p[first + i];
    if (i == 0)
        part[count] = p[first + count];
    __syncthreads();
    p[first + i] = part[i + 1] - part[i];
}

int main()
{
    int *p = device_array<int>();
    CHECK(cudaMemset(p, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    differences<<<1, N / 2, (N / 2 + 1) * sizeof(int), nonblocking_stream()>>>(p, 0, N / 2);
    launch_increment(nonblocking_stream(), p + N / 2, N / 2);
    CHECK(cudaGetLastError());
    return finish();
}
