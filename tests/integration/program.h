// What every integration program shares: checked calls and a few kernels. Small sizes, so that a
// device in software runs them in no time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <csan/csan.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status_ = (call);                                                              \
        if (status_ != cudaSuccess) {                                                              \
            fprintf(stderr, "%s:%d: %s failed: %s\n", __FILE__, __LINE__, #call,                   \
                    cudaGetErrorString(status_));                                                  \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

enum { N = 1024, BLOCK = 128, GRID = N / BLOCK };
static const size_t BYTES = N * sizeof(int);

template <typename T> static T *device_array(size_t count = N)
{
    T *p = nullptr;
    CHECK(cudaMalloc((void **)&p, count * sizeof(T)));
    return p;
}

static inline cudaStream_t nonblocking_stream()
{
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static inline cudaStream_t blocking_stream()
{
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    return stream;
}

static inline cudaEvent_t event_create()
{
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

#ifdef __CUDACC__
__global__ void fill(int *p, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = value + i;
}

__global__ void increment(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i]++;
}

__global__ void copy(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

#define LAUNCH(kernel, n, stream) kernel<<<((n) + BLOCK - 1) / BLOCK, BLOCK, 0, stream>>>
#else
// The host's compiler compiles this program, which has no device code of its own: what nvcc made of
// the kernels is linked with it, and a launch is what nvcc makes of <<<>>>.
void fill(int *p, int value, int n);
void increment(int *p, int n);
void copy(int *out, const int *in, int n);

extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                cudaStream_t stream);
#define LAUNCH(kernel, n, stream)                                                                  \
    if (!__cudaPushCallConfiguration(((n) + BLOCK - 1) / BLOCK, BLOCK, 0, stream))                 \
    kernel
#endif

// Launches with the usual shape; an error of the launch itself ends the program.
static inline void launch_fill(cudaStream_t stream, int *p, int value = 1, int n = N)
{
    LAUNCH(fill, n, stream)(p, value, n);
    CHECK(cudaGetLastError());
}

static inline void launch_increment(cudaStream_t stream, int *p, int n = N)
{
    LAUNCH(increment, n, stream)(p, n);
    CHECK(cudaGetLastError());
}

static inline void launch_copy(cudaStream_t stream, int *out, const int *in, int n = N)
{
    LAUNCH(copy, n, stream)(out, in, n);
    CHECK(cudaGetLastError());
}

// The last line of every program: it got this far, and nothing failed on the device.
static inline int finish()
{
    CHECK(cudaDeviceSynchronize());
    printf("done\n");
    return 0;
}
