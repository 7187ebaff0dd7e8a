// Programmatic dependent launches (CUDA C++ Programming Guide, "Programmatic Dependent Launch and
// Synchronization"): kernels that let the next one begin early, and that wait for the one before.
#pragma once

#include "program.h"

__device__ static inline void let_next_begin()
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

__device__ static inline void wait_for_previous()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

__global__ void fill_and_let(int *p, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    let_next_begin();
    if (i < n)
        p[i] = value + i;
}

__global__ void copy_waiting(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    wait_for_previous();
    if (i < n)
        out[i] = in[i];
}

// `early` is read before the wait, `late` behind it.
__global__ void add_waiting(int *out, const int *early, const int *late, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = i < n ? early[i] : 0;
    wait_for_previous();
    if (i < n)
        out[i] = sum + late[i];
}

__global__ void fill_not_waiting_and_let(int *p, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    let_next_begin();
    if (i < n)
        p[i] = value - i;
}

// A launch that may begin before the kernel before it in the stream has ended.
template <typename... Parameters, typename... Arguments>
static void launch_beside(cudaStream_t stream, void (*kernel)(Parameters...),
                          Arguments... arguments)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(GRID);
    config.blockDim = dim3(BLOCK);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

static inline void launch_fill_and_let(cudaStream_t stream, int *p, int value = 1)
{
    fill_and_let<<<GRID, BLOCK, 0, stream>>>(p, value, N);
    CHECK(cudaGetLastError());
}
