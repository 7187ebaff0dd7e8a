// verdict: none
// options: trace=0
// Each stream reduces its part of one input; thread 0 of each block writes one sum, side by side.
#include "program.h"

enum { PARTS = 4 };

__global__ void sum_blocks(int *sums, const int *in, int n)
{
    __shared__ int part[64];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    part[threadIdx.x] = sum;
    for (int s = 32; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}

int main()
{
    int *in = device_array<int>(), *sums = device_array<int>(3 * PARTS);
    for (int i = 0; i < PARTS; i++) {
        cudaStream_t stream = nonblocking_stream();
        launch_fill(stream, in + i * N / PARTS, 0, N / PARTS);
        sum_blocks<<<3, 64, 0, stream>>>(sums + 3 * i, in + i * N / PARTS, N / PARTS);
    }
    CHECK(cudaGetLastError());
    return finish();
}
