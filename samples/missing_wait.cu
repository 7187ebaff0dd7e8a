// verdict: race
// expect: missing_wait.cu:{racy}
//
// Two producers, one consumer. The consumer waits for the event of the first producer and forgets
// the second one, so half of what it adds up may not be written yet. Such a program passes its
// tests for years: the second producer is nearly always done in time.

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

    CHECK(cudaStreamWaitEvent(consumer, left_done, 0)); // and right_done?
    add<<<blocks, 256, 0, consumer>>>(sum, a, b, n);    // at: racy
    CHECK(cudaGetLastError());

    CHECK(cudaDeviceSynchronize());
    printf("done\n");
    return 0;
}
