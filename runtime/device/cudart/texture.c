/* Texture and surface objects. CUDA Runtime API, "Texture Object Management" and "Surface Object
 * Management". */
#include "runtime/device/cudart/runtime.h"

#include <string.h>

/* ---- From the runtime's descriptions to the driver's ---- */

static bool take_resource(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *to)
{
    memset(to, 0, sizeof *to);
    to->resType = (CUresourcetype)from->resType; /* of the same numbers */
    switch (from->resType) {
    case cudaResourceTypeLinear:
        to->res.linear.devPtr = (CUdeviceptr)from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return array_channels(&from->res.linear.desc, &to->res.linear.format,
                              &to->res.linear.numChannels);
    case cudaResourceTypePitch2D:
        to->res.pitch2D.devPtr = (CUdeviceptr)from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return array_channels(&from->res.pitch2D.desc, &to->res.pitch2D.format,
                              &to->res.pitch2D.numChannels);
    case cudaResourceTypeArray:
        to->res.array.hArray = (CUarray)from->res.array.array;
        return true;
    case cudaResourceTypeMipmappedArray:
        to->res.mipmap.hMipmappedArray = (CUmipmappedArray)from->res.mipmap.mipmap;
        return true;
    }
    return false;
}

static CUDA_TEXTURE_DESC take_how(const struct cudaTextureDesc *from)
{
    CUDA_TEXTURE_DESC to = {
        .filterMode = (CUfilter_mode)from->filterMode,
        .maxAnisotropy = from->maxAnisotropy,
        .mipmapFilterMode = (CUfilter_mode)from->mipmapFilterMode,
        .mipmapLevelBias = from->mipmapLevelBias,
        .minMipmapLevelClamp = from->minMipmapLevelClamp,
        .maxMipmapLevelClamp = from->maxMipmapLevelClamp,
    };
    for (int i = 0; i < 3; i++)
        to.addressMode[i] = (CUaddress_mode)from->addressMode[i];
    memcpy(to.borderColor, from->borderColor, sizeof to.borderColor);
    to.flags = (from->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0u) |
               (from->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0u) |
               (from->sRGB ? CU_TRSF_SRGB : 0u) |
               (from->disableTrilinearOptimization ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
               (from->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0u);
    return to;
}

/* The formats of views have the same numbers in both. */
static CUDA_RESOURCE_VIEW_DESC take_view(const struct cudaResourceViewDesc *from)
{
    return (CUDA_RESOURCE_VIEW_DESC){.format = (CUresourceViewFormat)from->format,
                                     .width = from->width,
                                     .height = from->height,
                                     .depth = from->depth,
                                     .firstMipmapLevel = from->firstMipmapLevel,
                                     .lastMipmapLevel = from->lastMipmapLevel,
                                     .firstLayer = from->firstLayer,
                                     .lastLayer = from->lastLayer};
}

/* ---- And back ---- */

static void give_resource(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *to)
{
    memset(to, 0, sizeof *to);
    to->resType = (enum cudaResourceType)from->resType;
    switch (from->resType) {
    case CU_RESOURCE_TYPE_LINEAR:
        to->res.linear.devPtr = (void *)from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        to->res.linear.desc =
            array_channel_desc(from->res.linear.format, from->res.linear.numChannels);
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        to->res.pitch2D.devPtr = (void *)from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        to->res.pitch2D.desc =
            array_channel_desc(from->res.pitch2D.format, from->res.pitch2D.numChannels);
        break;
    case CU_RESOURCE_TYPE_ARRAY:
        to->res.array.array = (cudaArray_t)from->res.array.hArray;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->res.mipmap.mipmap = (cudaMipmappedArray_t)from->res.mipmap.hMipmappedArray;
        break;
    }
}

static void give_how(const CUDA_TEXTURE_DESC *from, struct cudaTextureDesc *to)
{
    *to = (struct cudaTextureDesc){
        .filterMode = (enum cudaTextureFilterMode)from->filterMode,
        .readMode = from->flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType
                                                          : cudaReadModeNormalizedFloat,
        .sRGB = (from->flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (from->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .maxAnisotropy = from->maxAnisotropy,
        .mipmapFilterMode = (enum cudaTextureFilterMode)from->mipmapFilterMode,
        .mipmapLevelBias = from->mipmapLevelBias,
        .minMipmapLevelClamp = from->minMipmapLevelClamp,
        .maxMipmapLevelClamp = from->maxMipmapLevelClamp,
        .disableTrilinearOptimization = (from->flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0,
        .seamlessCubemap = (from->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0,
    };
    for (int i = 0; i < 3; i++)
        to->addressMode[i] = (enum cudaTextureAddressMode)from->addressMode[i];
    memcpy(to->borderColor, from->borderColor, sizeof to->borderColor);
}

/* ---- Textures ---- */

API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture,
                                        const struct cudaResourceDesc *resource,
                                        const struct cudaTextureDesc *how,
                                        const struct cudaResourceViewDesc *view)
{
    CUDA_RESOURCE_DESC memory;
    CUDA_RESOURCE_VIEW_DESC part = {0};
    ENTER();
    if (!texture || !resource || !how || !take_resource(resource, &memory))
        return error_record(cudaErrorInvalidValue);
    if (view)
        part = take_view(view);
    CUDA_TEXTURE_DESC desired = take_how(how);
    CUtexObject made = 0;
    CUresult result = driver.cuTexObjectCreate[0](&made, &memory, &desired, view ? &part : NULL);
    if (result == CUDA_SUCCESS)
        *texture = made;
    return error_from(result);
}

API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture)
{
    ENTER();
    return texture ? error_from(driver.cuTexObjectDestroy[0](texture)) : cudaSuccess;
}

API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
                                                 cudaTextureObject_t texture)
{
    CUDA_RESOURCE_DESC memory;
    ENTER();
    if (!resource)
        return error_record(cudaErrorInvalidValue);
    CUresult result = driver.cuTexObjectGetResourceDesc[0](&memory, texture);
    if (result == CUDA_SUCCESS)
        give_resource(&memory, resource);
    return error_from(result);
}

API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *how,
                                                cudaTextureObject_t texture)
{
    CUDA_TEXTURE_DESC desired;
    ENTER();
    if (!how)
        return error_record(cudaErrorInvalidValue);
    CUresult result = driver.cuTexObjectGetTextureDesc[0](&desired, texture);
    if (result == CUDA_SUCCESS)
        give_how(&desired, how);
    return error_from(result);
}

API cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *view,
                                                     cudaTextureObject_t texture)
{
    CUDA_RESOURCE_VIEW_DESC part;
    ENTER();
    if (!view)
        return error_record(cudaErrorInvalidValue);
    CUresult result = driver.cuTexObjectGetResourceViewDesc[0](&part, texture);
    if (result == CUDA_SUCCESS)
        *view = (struct cudaResourceViewDesc){.format = (enum cudaResourceViewFormat)part.format,
                                              .width = part.width,
                                              .height = part.height,
                                              .depth = part.depth,
                                              .firstMipmapLevel = part.firstMipmapLevel,
                                              .lastMipmapLevel = part.lastMipmapLevel,
                                              .firstLayer = part.firstLayer,
                                              .lastLayer = part.lastLayer};
    return error_from(result);
}

/* ---- Surfaces ---- */

API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface,
                                        const struct cudaResourceDesc *resource)
{
    CUDA_RESOURCE_DESC memory;
    ENTER();
    if (!surface || !resource || !take_resource(resource, &memory))
        return error_record(cudaErrorInvalidValue);
    CUsurfObject made = 0;
    CUresult result = driver.cuSurfObjectCreate[0](&made, &memory);
    if (result == CUDA_SUCCESS)
        *surface = made;
    return error_from(result);
}

API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface)
{
    ENTER();
    return surface ? error_from(driver.cuSurfObjectDestroy[0](surface)) : cudaSuccess;
}

API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
                                                 cudaSurfaceObject_t surface)
{
    CUDA_RESOURCE_DESC memory;
    ENTER();
    if (!resource)
        return error_record(cudaErrorInvalidValue);
    CUresult result = driver.cuSurfObjectGetResourceDesc[0](&memory, surface);
    if (result == CUDA_SUCCESS)
        give_resource(&memory, resource);
    return error_from(result);
}
