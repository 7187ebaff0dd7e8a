// verdict: race
// expect: double_buffer.cu:{racy}
//
// The classic pipeline: while the GPU computes on one buffer, the next batch is copied into the
// other. The kernel waits for its copy. But nothing orders the copy after the kernel which used the
// buffer two rounds ago is done: without this back-pressure a slow kernel gets its input
// overwritten while it reads. double_buffer_fixed.cu adds the missing direction.

#include "check.h"

__global__ void process(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = sqrtf(in[i]) + out[i];
}

int main()
{
    const int n = 2048, rounds = 6;
    const size_t bytes = n * sizeof(float);
    float *host, *buffer[2], *out;
    CHECK(cudaMallocHost(&host, rounds * bytes));
    for (int i = 0; i < rounds * n; i++)
        host[i] = (float)i;
    CHECK(cudaMalloc(&buffer[0], bytes));
    CHECK(cudaMalloc(&buffer[1], bytes));
    CHECK(cudaMalloc(&out, bytes));
    CHECK(cudaMemset(out, 0, bytes));
    CHECK(cudaDeviceSynchronize());

    cudaStream_t copy, compute;
    CHECK(cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
    cudaEvent_t filled[2];
    for (int b = 0; b < 2; b++)
        CHECK(cudaEventCreateWithFlags(&filled[b], cudaEventDisableTiming));

    for (int round = 0; round < rounds; round++) {
        int b = round % 2;
        const float *batch = host + round * n;
        CHECK(cudaMemcpyAsync(buffer[b], batch, bytes, cudaMemcpyHostToDevice, copy)); // at: racy
        CHECK(cudaEventRecord(filled[b], copy));

        CHECK(cudaStreamWaitEvent(compute, filled[b], 0));
        process<<<n / 256, 256, 0, compute>>>(out, buffer[b], n);
        CHECK(cudaGetLastError());
    }

    CHECK(cudaDeviceSynchronize());
    printf("done\n");
    return 0;
}
