// A CUDA array of N floats, which no address names, and a texture over it.
#pragma once

#include "program.h"

static inline cudaArray_t array_create()
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, N));
    return array;
}

static inline void array_fill(cudaStream_t stream, cudaArray_t array, const float *from,
                              size_t first = 0, size_t count = N)
{
    CHECK(cudaMemcpy2DToArrayAsync(array, first * sizeof(float), 0, from, BYTES,
                                   count * sizeof(float), 1, cudaMemcpyDeviceToDevice, stream));
}

static inline cudaTextureObject_t array_texture(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.readMode = cudaReadModeElementType;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    return texture;
}

__global__ void sample(float *out, cudaTextureObject_t texture, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1D<float>(texture, i + 0.5f);
}
