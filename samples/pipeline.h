// The code under test of the two unit-test samples: adds two arrays, filled on two streams.
#pragma once

#include "check.h"

struct pipeline {
    float *a, *b, *sum;
    cudaStream_t left, right;
    cudaEvent_t right_done;
    int n;
};

static __global__ void produce(float *out, float value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = value * i;
}

static __global__ void add(float *sum, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = a[i] + b[i];
}

static pipeline pipeline_create(int n)
{
    pipeline p = {};
    p.n = n;
    CHECK(cudaMalloc(&p.a, n * sizeof(float)));
    CHECK(cudaMalloc(&p.b, n * sizeof(float)));
    CHECK(cudaMalloc(&p.sum, n * sizeof(float)));
    CHECK(cudaStreamCreateWithFlags(&p.left, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&p.right, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&p.right_done, cudaEventDisableTiming));
    return p;
}

static void pipeline_destroy(pipeline *p)
{
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(p->right_done));
    CHECK(cudaStreamDestroy(p->left));
    CHECK(cudaStreamDestroy(p->right));
    CHECK(cudaFree(p->a));
    CHECK(cudaFree(p->b));
    CHECK(cudaFree(p->sum));
}

// `waits`: whether the stream that adds waits for the other one. Without, there is a race on b.
static void pipeline_run(pipeline *p, bool waits)
{
    int blocks = (p->n + 255) / 256;
    produce<<<blocks, 256, 0, p->left>>>(p->a, 1.0f, p->n);
    produce<<<blocks, 256, 0, p->right>>>(p->b, 2.0f, p->n);
    CHECK(cudaEventRecord(p->right_done, p->right));
    if (waits)
        CHECK(cudaStreamWaitEvent(p->left, p->right_done, 0));
    add<<<blocks, 256, 0, p->left>>>(p->sum, p->a, p->b, p->n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}
