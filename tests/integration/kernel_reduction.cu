// verdict: none
// Warp shuffles, shared memory, and one atomic per block.
#include "program.h"

__global__ void sum_all(int *total, const int *in, int n)
{
    __shared__ int partial[32];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int step = 16; step > 0; step >>= 1)
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
        for (int step = 16; step > 0; step >>= 1)
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (threadIdx.x == 0)
            atomicAdd(total, sum);
    }
}

int main()
{
    int *in = device_array<int>(), *total = device_array<int>(1), host = 0;
    cudaStream_t a = nonblocking_stream();
    CHECK(cudaMemsetAsync(total, 0, sizeof *total, a));
    launch_fill(a, in, 5);
    sum_all<<<3, 96, 0, a>>>(total, in, N);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(&host, total, sizeof host, cudaMemcpyDeviceToHost, a));
    CHECK(cudaStreamSynchronize(a));
    if (host != N * 5 + N * (N - 1) / 2)
        printf("wrong: %d\n", host);
    return finish();
}
