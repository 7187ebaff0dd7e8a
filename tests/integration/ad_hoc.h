/* Kernels on two streams that order each other by a flag in memory. */
#ifndef TESTS_INTEGRATION_AD_HOC_H
#define TESTS_INTEGRATION_AD_HOC_H

#include "program.h"

enum { THREADS = 64, DATA_BYTES = THREADS * sizeof(int) };

/* An acquire pattern: a strong read, then a fence. */
__device__ inline void wait_for(int *flag)
{
    while (*(volatile int *)flag == 0)
        ;
    __threadfence();
}

static __global__ void raise_flag(int *flag)
{
    __threadfence();
    *(volatile int *)flag = 1;
}

static __global__ void wait_kernel(int *flag)
{
    wait_for(flag);
}

static __global__ void produce(int *data, int *flag)
{
    data[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        *(volatile int *)flag = 1;
    }
}

static __global__ void consume(const int *data, int *flag, int *out)
{
    if (threadIdx.x == 0)
        wait_for(flag);
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];
}

struct words {
    int *data, *flag, *other_flag, *out;
    cudaStream_t a, b;
};

// A kernel that is loaded at its first launch waits for those that run (CUDA C++ Programming Guide,
// "Lazy Loading", "Concurrent execution").
static void load(const void *kernel)
{
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
}

static struct words words_make()
{
    struct words w;
    load((const void *)raise_flag);
    load((const void *)wait_kernel);
    load((const void *)produce);
    load((const void *)consume);
    w.data = device_array<int>(THREADS);
    w.out = device_array<int>(THREADS);
    w.flag = device_array<int>(1);
    w.other_flag = device_array<int>(1);
    CHECK(cudaMemset(w.flag, 0, sizeof(int)));
    CHECK(cudaMemset(w.other_flag, 0, sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreateWithFlags(&w.a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&w.b, cudaStreamNonBlocking));
    return w;
}

static inline int words_check(struct words w)
{
    int out[THREADS];
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(out, w.out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < THREADS; i++)
        if (out[i] != i + 1)
            printf("wrong: out[%d] is %d\n", i, out[i]);
    return finish();
}

#endif
