/* Texture objects over linear and pitched memory, read by points: what fits into linear memory
 * (CUDA Driver API, "Texture Object Management"). The device has no CUDA arrays, so there are no
 * textures over them, and no surfaces. Kernels fetch through texture_find. */
#include "runtime/device/driver/driver.h"
#include "runtime/device/exec/exec.h"

#include <stdlib.h>

enum { BASE_ALIGNMENT = 256 }; /* what cuMemAlloc gives here */

struct texture {
    struct object object;
    const struct CUctx_st *context;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC how;
    struct exec_texture texels;
};

/* ---- Descriptions ---- */

/* False: no format that linear memory has (CUarray_format). */
static bool take_format(struct exec_texture *texels, CUarray_format format, unsigned channels)
{
    static const struct {
        CUarray_format format;
        uint8_t texel, bytes;
    } formats[] = {
        {CU_AD_FORMAT_UNSIGNED_INT8, EXEC_TEXEL_UNSIGNED, 1},
        {CU_AD_FORMAT_UNSIGNED_INT16, EXEC_TEXEL_UNSIGNED, 2},
        {CU_AD_FORMAT_UNSIGNED_INT32, EXEC_TEXEL_UNSIGNED, 4},
        {CU_AD_FORMAT_SIGNED_INT8, EXEC_TEXEL_SIGNED, 1},
        {CU_AD_FORMAT_SIGNED_INT16, EXEC_TEXEL_SIGNED, 2},
        {CU_AD_FORMAT_SIGNED_INT32, EXEC_TEXEL_SIGNED, 4},
        {CU_AD_FORMAT_HALF, EXEC_TEXEL_FLOAT, 2},
        {CU_AD_FORMAT_FLOAT, EXEC_TEXEL_FLOAT, 4},
    };
    if (channels != 1 && channels != 2 && channels != 4)
        return false;
    texels->channels = (uint8_t)channels;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].format != format)
            continue;
        texels->texel = formats[i].texel;
        texels->channel_bytes = formats[i].bytes;
        return true;
    }
    return false;
}

static CUresult take_resource(struct exec_texture *texels, const CUDA_RESOURCE_DESC *resource)
{
    uint64_t bytes;
    switch (resource->resType) {
    case CU_RESOURCE_TYPE_LINEAR:
        texels->base = resource->res.linear.devPtr;
        if (!take_format(texels, resource->res.linear.format, resource->res.linear.numChannels))
            return CUDA_ERROR_INVALID_VALUE;
        bytes = (uint64_t)texels->channels * texels->channel_bytes;
        texels->width = resource->res.linear.sizeInBytes / bytes;
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        texels->base = resource->res.pitch2D.devPtr;
        if (!take_format(texels, resource->res.pitch2D.format, resource->res.pitch2D.numChannels))
            return CUDA_ERROR_INVALID_VALUE;
        bytes = (uint64_t)texels->channels * texels->channel_bytes;
        texels->width = resource->res.pitch2D.width;
        texels->height = resource->res.pitch2D.height;
        texels->pitch = resource->res.pitch2D.pitchInBytes;
        if (!texels->height || texels->pitch % bytes || texels->width > texels->pitch / bytes)
            return CUDA_ERROR_INVALID_VALUE;
        break;
    default:
        return device_lacks("cuTexObjectCreate over a CUDA array");
    }
    return texels->width && texels->base && texels->base % BASE_ALIGNMENT == 0
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

/* What only matters for arrays (mipmaps, anisotropy) is ignored, as for linear memory everything is
 * but the read mode. */
static CUresult take_how(struct exec_texture *texels, const CUDA_TEXTURE_DESC *how)
{
    static const uint8_t modes[] = {
        [CU_TR_ADDRESS_MODE_WRAP] = EXEC_ADDRESS_WRAP,
        [CU_TR_ADDRESS_MODE_CLAMP] = EXEC_ADDRESS_CLAMP,
        [CU_TR_ADDRESS_MODE_MIRROR] = EXEC_ADDRESS_MIRROR,
        [CU_TR_ADDRESS_MODE_BORDER] = EXEC_ADDRESS_BORDER,
    };
    texels->scaled = !(how->flags & CU_TRSF_READ_AS_INTEGER) && texels->texel != EXEC_TEXEL_FLOAT &&
                     texels->channel_bytes < 4;
    if (!texels->height)
        return CUDA_SUCCESS;
    texels->normalized = how->flags & CU_TRSF_NORMALIZED_COORDINATES;
    for (int i = 0; i < 2; i++) {
        if ((unsigned)how->addressMode[i] >= sizeof modes)
            return CUDA_ERROR_INVALID_VALUE;
        texels->modes[i] = modes[how->addressMode[i]];
    }
    for (int i = 0; i < 4; i++)
        if (how->borderColor[i] != 0)
            return device_lacks("cuTexObjectCreate with a border colour");
    if (how->filterMode != CU_TR_FILTER_MODE_POINT)
        return device_lacks("cuTexObjectCreate with linear filtering");
    if (how->flags & CU_TRSF_SRGB)
        return device_lacks("cuTexObjectCreate with CU_TRSF_SRGB");
    return CUDA_SUCCESS;
}

/* ---- Entry points ---- */

CUresult CUDAAPI cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                                   const CUDA_TEXTURE_DESC *pTexDesc,
                                   const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    struct CUctx_st *context;
    struct exec_texture texels = {0};
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    /* "pResViewDesc can only be specified if the type of resource is a CUDA array" */
    if (!pTexObject || !pResDesc || !pTexDesc || pResViewDesc || pResDesc->flags)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    result = take_resource(&texels, pResDesc);
    if (result == CUDA_SUCCESS)
        result = take_how(&texels, pTexDesc);
    if (result != CUDA_SUCCESS)
        return device_leave(result);
    struct texture *texture = calloc(1, sizeof *texture);
    if (!texture)
        return device_leave(CUDA_ERROR_OUT_OF_MEMORY);
    texture->context = context;
    texture->resource = *pResDesc;
    texture->how = *pTexDesc;
    texture->texels = texels;
    object_add(&texture->object, OBJECT_TEXTURE);
    *pTexObject = (uintptr_t)texture;
    return device_leave(CUDA_SUCCESS);
}

static struct texture *texture_of(CUtexObject handle)
{
    return object_find((const void *)(uintptr_t)handle, OBJECT_TEXTURE);
}

CUresult CUDAAPI cuTexObjectDestroy(CUtexObject texObject)
{
    struct CUctx_st *context;
    CUresult result = device_enter_failed(&context);
    if (result != CUDA_SUCCESS)
        return result;
    struct texture *texture = texture_of(texObject);
    if (!texture)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    object_remove(&texture->object);
    free(texture);
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct texture *texture = texture_of(texObject);
    if (!texture || !pResDesc)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *pResDesc = texture->resource;
    return device_leave(CUDA_SUCCESS);
}

CUresult CUDAAPI cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject)
{
    struct CUctx_st *context;
    CUresult result = device_enter_context(&context);
    if (result != CUDA_SUCCESS)
        return result;
    const struct texture *texture = texture_of(texObject);
    if (!texture || !pTexDesc)
        return device_leave(CUDA_ERROR_INVALID_VALUE);
    *pTexDesc = texture->how;
    return device_leave(CUDA_SUCCESS);
}

/* ---- For the device itself ---- */

bool texture_find(void *user, uint64_t handle, struct exec_texture *texels)
{
    (void)user;
    const struct texture *texture = texture_of(handle);
    if (texture)
        *texels = texture->texels;
    return texture != NULL;
}

void texture_forget(const struct CUctx_st *context)
{
    struct object *object, *next;
    HASH_ITER(hh, device.objects, object, next)
    {
        if (object->kind != OBJECT_TEXTURE || ((struct texture *)object)->context != context)
            continue;
        object_remove(object);
        free(object);
    }
}
