// Arrays of every kind, filled from the host, and textures and surfaces over them.
#pragma once

#include "program.h"
#include <cmath>

static inline cudaArray_t make_array(cudaChannelFormatDesc format, cudaExtent extent,
                                     unsigned flags = 0)
{
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &format, extent, flags));
    return array;
}

// Layers and faces are slices. `extent` is in texels, at least 1 each.
static inline void fill_array(cudaArray_t array, const void *from, size_t texel, cudaExtent extent,
                              cudaStream_t stream = nullptr)
{
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr((void *)from, extent.width * texel, extent.width, extent.height);
    p.dstArray = array;
    p.extent = extent;
    p.kind = cudaMemcpyHostToDevice;
    if (stream)
        CHECK(cudaMemcpy3DAsync(&p, stream));
    else
        CHECK(cudaMemcpy3D(&p));
}

static inline cudaTextureDesc reading(cudaTextureFilterMode filter, bool normalized,
                                      cudaTextureAddressMode mode = cudaAddressModeClamp,
                                      cudaTextureReadMode read = cudaReadModeElementType)
{
    cudaTextureDesc how = {};
    how.filterMode = filter;
    how.normalizedCoords = normalized;
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
    how.readMode = read;
    return how;
}

static inline cudaTextureObject_t make_texture(cudaArray_t array, const cudaTextureDesc &how)
{
    cudaResourceDesc resource = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    return texture;
}

static inline cudaTextureObject_t make_texture(cudaMipmappedArray_t array,
                                               const cudaTextureDesc &how)
{
    cudaResourceDesc resource = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = array;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    return texture;
}

static inline cudaSurfaceObject_t make_surface(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    cudaSurfaceObject_t surface;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    return surface;
}

// Host and device agree up to the last bits of a float.
static inline void demand(const char *what, int at, double got, double want)
{
    if (fabs(got - want) <= 1e-5 * (1 + fabs(want)))
        return;
    fprintf(stderr, "%s %d: %.9g, not %.9g\n", what, at, got, want);
    exit(101);
}

// The results of one launch, which `launch` makes; they are on the host afterwards.
template <typename T, typename F> static inline const T *results(int count, F launch)
{
    static T host[4096];
    static T *device = device_array<T>(4096);
    launch(device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}
