// verdict: none
//
// missing_wait.cu with both waits: the consumer waits for each producer it reads from.

#include "check.h"

__global__ void produce(float *out, float value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = value * i;
}

__global__ void add(float *sum, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = a[i] + b[i];
}

int main()
{
    const int n = 4096;
    const int blocks = n / 256;
    float *a, *b, *sum;
    CHECK(cudaMalloc(&a, n * sizeof(float)));
    CHECK(cudaMalloc(&b, n * sizeof(float)));
    CHECK(cudaMalloc(&sum, n * sizeof(float)));

    cudaStream_t left, right, consumer;
    CHECK(cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&right, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
    cudaEvent_t left_done, right_done;
    CHECK(cudaEventCreateWithFlags(&left_done, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&right_done, cudaEventDisableTiming));

    produce<<<blocks, 256, 0, left>>>(a, 1.0f, n);
    CHECK(cudaEventRecord(left_done, left));
    produce<<<blocks, 256, 0, right>>>(b, 2.0f, n);
    CHECK(cudaEventRecord(right_done, right));

    CHECK(cudaStreamWaitEvent(consumer, left_done, 0));
    CHECK(cudaStreamWaitEvent(consumer, right_done, 0)); // the fix
    add<<<blocks, 256, 0, consumer>>>(sum, a, b, n);
    CHECK(cudaGetLastError());

    CHECK(cudaDeviceSynchronize());
    printf("done\n");
    return 0;
}
