// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4 bytes, 2048 to 2051 of the 4096
// expect: , 1 race, 0 possible races
// One stream writes from the front, another from the back; they meet in the middle.
#include "program.h"

__global__ void fill_back(int *last, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        last[-i] = i;
}

int main()
{
    int *p = device_array<int>();
    launch_fill(nonblocking_stream(), p, 0, N / 2 + 1);
    fill_back<<<4, 128, 0, nonblocking_stream()>>>(p + N - 1, N / 2);
    CHECK(cudaGetLastError());
    return finish();
}
