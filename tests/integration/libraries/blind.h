// What the stand-ins for NVIDIA's libraries share: kernels whose addresses hang on data in device
// memory, so that csan knows of them what it knows of kernels without PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>

static __device__ volatile int no_offset; // 0

template <typename T> __device__ T *blind(T *base, int64_t place)
{
    return base + place + no_offset;
}

// One thread for each of n.
static inline unsigned blocks_for(int64_t n)
{
    return (unsigned)((n + 127) / 128);
}
