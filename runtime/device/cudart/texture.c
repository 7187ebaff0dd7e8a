/* Texture objects. CUDA Runtime API, "Texture Object Management". The driver refuses those over
 * CUDA arrays. */
#include "runtime/device/cudart/runtime.h"

#include <string.h>

/* ---- From the runtime's descriptions to the driver's ---- */

/* False: a description that has no counterpart. */
static bool take_channels(const struct cudaChannelFormatDesc *from, CUarray_format *format,
                          unsigned *channels)
{
    static const CUarray_format formats[3][3] = {
        [cudaChannelFormatKindSigned] = {CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16,
                                         CU_AD_FORMAT_SIGNED_INT32},
        [cudaChannelFormatKindUnsigned] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
                                           CU_AD_FORMAT_UNSIGNED_INT32},
        [cudaChannelFormatKindFloat] = {0, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT},
    };
    const int bits[4] = {from->x, from->y, from->z, from->w};
    int width = bits[0] == 8 ? 0 : bits[0] == 16 ? 1 : bits[0] == 32 ? 2 : -1;
    if (width < 0 || (unsigned)from->f > cudaChannelFormatKindFloat || !formats[from->f][width])
        return false;
    *format = formats[from->f][width];
    *channels = 1;
    while (*channels < 4 && bits[*channels] == bits[0])
        ++*channels;
    for (unsigned i = *channels; i < 4; i++)
        if (bits[i] != 0)
            return false;
    return true;
}

static bool take_resource(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *to)
{
    memset(to, 0, sizeof *to);
    to->resType = (CUresourcetype)from->resType; /* of the same numbers */
    switch (from->resType) {
    case cudaResourceTypeLinear:
        to->res.linear.devPtr = (CUdeviceptr)from->res.linear.devPtr;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return take_channels(&from->res.linear.desc, &to->res.linear.format,
                             &to->res.linear.numChannels);
    case cudaResourceTypePitch2D:
        to->res.pitch2D.devPtr = (CUdeviceptr)from->res.pitch2D.devPtr;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return take_channels(&from->res.pitch2D.desc, &to->res.pitch2D.format,
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

/* ---- Entry points ---- */

API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture,
                                        const struct cudaResourceDesc *resource,
                                        const struct cudaTextureDesc *how,
                                        const struct cudaResourceViewDesc *view)
{
    CUDA_RESOURCE_DESC memory;
    ENTER();
    if (!texture || !resource || !how || !take_resource(resource, &memory))
        return error_record(cudaErrorInvalidValue);
    if (view)
        return error_record(cudaErrorNotSupported); /* arrays only */
    CUDA_TEXTURE_DESC desired = take_how(how);
    CUtexObject made = 0;
    CUresult result = driver.cuTexObjectCreate[0](&made, &memory, &desired, NULL);
    if (result == CUDA_SUCCESS)
        *texture = made;
    return error_from(result);
}

API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture)
{
    ENTER();
    return texture ? error_from(driver.cuTexObjectDestroy[0](texture)) : cudaSuccess;
}
