// A mipmapped array of which one stream fills a level, while another samples level 1.
#pragma once

#include "texture_kinds.h"

enum { MIPMAP_WIDTH = 32, MIPMAP_LEVELS = 3 };

__global__ void sample_level(float *out, cudaTextureObject_t texture, float level)
{
    out[threadIdx.x] = tex2DLod<float>(texture, (threadIdx.x + 0.5f) / blockDim.x, 0.5f, level);
}

static inline int run(int filled, bool ordered)
{
    static float from[MIPMAP_WIDTH * MIPMAP_WIDTH], got[MIPMAP_WIDTH / 2];
    cudaMipmappedArray_t array;
    cudaArray_t level;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(MIPMAP_WIDTH, MIPMAP_WIDTH, 0),
                                   MIPMAP_LEVELS));
    CHECK(cudaGetMipmappedArrayLevel(&level, array, filled));
    for (float &value : from)
        value = 3;
    cudaTextureDesc how = reading(cudaFilterModePoint, true);
    how.maxMipmapLevelClamp = MIPMAP_LEVELS - 1;
    cudaTextureObject_t texture = make_texture(array, how);
    float *out = device_array<float>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    cudaEvent_t filled_event = event_create();
    const size_t width = MIPMAP_WIDTH >> filled;
    fill_array(level, from, sizeof(float), make_cudaExtent(width, width, 1), a);
    CHECK(cudaEventRecord(filled_event, a));
    if (ordered)
        CHECK(cudaStreamWaitEvent(b, filled_event, 0));
    sample_level<<<1, MIPMAP_WIDTH / 2, 0, b>>>(out, texture, 1);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(b));
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; ordered && i < MIPMAP_WIDTH / 2; i++)
        demand("texel", i, got[i], 3);
    return finish();
}
