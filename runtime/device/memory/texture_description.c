/* See texture_description.h. */
#include "runtime/device/memory/texture_description.h"
#include "runtime/device/memory/array.h"

#include <string.h>

enum { BASE_ALIGNMENT = 256, FACES = 6 }; /* what cuMemAlloc gives here */

static uint64_t texel_bytes(const struct exec_texture *texture)
{
    return (uint64_t)texture->channels * texture->channel_bytes;
}

/* ---- Resources ------------------------------------------------------------------------------ */

/* "cannot exceed CU_DEVICE_ATTRIBUTE_..." (cuTexObjectCreate) */
static bool exceeds(uint64_t size, CUdevice_attribute limit)
{
    return size > (uint64_t)attribute_value(limit);
}

static CUresult take_linear(struct exec_texture *texture, const CUDA_RESOURCE_DESC *resource)
{
    if (!array_format(resource->res.linear.format, resource->res.linear.numChannels, texture))
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t width = resource->res.linear.sizeInBytes / texel_bytes(texture);
    if (exceeds(width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH))
        return CUDA_ERROR_INVALID_VALUE;
    texture->shape = EXEC_SHAPE_LINEAR;
    texture->levels[0] = (struct exec_level){
        .base = resource->res.linear.devPtr, .width = (uint32_t)width, .height = 1, .depth = 1};
    return CUDA_SUCCESS;
}

static CUresult take_pitched(struct exec_texture *texture, const CUDA_RESOURCE_DESC *resource)
{
    const size_t width = resource->res.pitch2D.width, height = resource->res.pitch2D.height,
                 pitch = resource->res.pitch2D.pitchInBytes;
    if (!array_format(resource->res.pitch2D.format, resource->res.pitch2D.numChannels, texture) ||
        exceeds(width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) ||
        exceeds(height, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) ||
        exceeds(pitch, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH) || !height ||
        pitch % texel_bytes(texture) || width > pitch / texel_bytes(texture))
        return CUDA_ERROR_INVALID_VALUE;
    texture->shape = EXEC_SHAPE_2D;
    texture->levels[0] = (struct exec_level){.base = resource->res.pitch2D.devPtr,
                                             .pitch = pitch,
                                             .width = (uint32_t)width,
                                             .height = (uint32_t)height,
                                             .depth = 1};
    return CUDA_SUCCESS;
}

static CUresult take_array(struct exec_texture *texture, CUarray handle)
{
    const struct CUarray_st *array = array_of(handle);
    if (!array || !array_format(array->shape.Format, array->shape.NumChannels, texture))
        return CUDA_ERROR_INVALID_VALUE;
    array_shape(&array->shape, texture);
    texture->levels[0] = array->level;
    return CUDA_SUCCESS;
}

static CUresult take_levels(struct exec_texture *texture, CUmipmappedArray handle)
{
    const struct CUmipmappedArray_st *mipmap = array_of_levels(handle);
    if (!mipmap || !array_format(mipmap->shape.Format, mipmap->shape.NumChannels, texture))
        return CUDA_ERROR_INVALID_VALUE;
    array_shape(&mipmap->shape, texture);
    texture->level_count = (uint8_t)mipmap->count;
    for (unsigned i = 0; i < mipmap->count; i++)
        texture->levels[i] = mipmap->levels[i]->level;
    return CUDA_SUCCESS;
}

static CUresult take_resource(struct exec_texture *texture, const CUDA_RESOURCE_DESC *resource)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    memset(texture, 0, sizeof *texture);
    texture->level_count = 1;
    switch (resource->resType) {
    case CU_RESOURCE_TYPE_LINEAR:
        result = take_linear(texture, resource);
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        result = take_pitched(texture, resource);
        break;
    case CU_RESOURCE_TYPE_ARRAY:
        return take_array(texture, resource->res.array.hArray);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        return take_levels(texture, resource->res.mipmap.hMipmappedArray);
    }
    const struct exec_level *level = &texture->levels[0];
    return result == CUDA_SUCCESS && level->width && level->base &&
                   level->base % BASE_ALIGNMENT == 0
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Views ---------------------------------------------------------------------------------- */

/* Formats come in threes, of 1, 2 and 4 channels. */
static bool view_format(CUresourceViewFormat format, struct exec_texture *texture)
{
    static const CUarray_format formats[] = {
        CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_SIGNED_INT8,    CU_AD_FORMAT_UNSIGNED_INT16,
        CU_AD_FORMAT_SIGNED_INT16,  CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
        CU_AD_FORMAT_HALF,          CU_AD_FORMAT_FLOAT,
    };
    static const uint8_t channels[] = {1, 2, 4};
    const unsigned index = (unsigned)format - CU_RES_VIEW_FORMAT_UINT_1X8;
    const uint64_t bytes = texel_bytes(texture);
    return index / 3 < sizeof formats / sizeof *formats &&
           array_format(formats[index / 3], channels[index % 3], texture) &&
           texel_bytes(texture) == bytes;
}

static bool take_levels_of_view(struct exec_texture *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
    const unsigned first = view->firstMipmapLevel, last = view->lastMipmapLevel;
    if (first > last || last >= texture->level_count)
        return false;
    memmove(texture->levels, &texture->levels[first], (last - first + 1) * sizeof *texture->levels);
    texture->level_count = (uint8_t)(last - first + 1);
    return true;
}

static bool take_layers_of_view(struct exec_texture *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
    const uint32_t unit = texture->shape == EXEC_SHAPE_CUBE ? FACES : 1;
    const uint32_t first = view->firstLayer, last = view->lastLayer;
    if (!texture->layered)
        return first == 0 && last == 0;
    if (first > last || last >= texture->levels[0].depth / unit)
        return false;
    for (unsigned i = 0; i < texture->level_count; i++) {
        texture->levels[i].base += (uint64_t)first * unit * texture->levels[i].slice;
        texture->levels[i].depth = (last - first + 1) * unit;
    }
    return true;
}

/* "this value has to be equal to that of the original resource"; a dimension that there is not may
 * be 0. */
static bool view_size_is(size_t view, uint32_t original)
{
    return view == original || (view == 0 && original == 1);
}

static CUresult take_view(struct exec_texture *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
    const struct exec_level *level = &texture->levels[0];
    const bool deep = texture->shape == EXEC_SHAPE_3D;
    if (texture->shape == EXEC_SHAPE_LINEAR || !level->slice)
        return CUDA_ERROR_INVALID_VALUE; /* "only if the type of resource is a CUDA array" */
    if (view->format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1 &&
        view->format <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7)
        return device_lacks("cuTexObjectCreate with a block-compressed view");
    if ((view->format != CU_RES_VIEW_FORMAT_NONE && !view_format(view->format, texture)) ||
        !view_size_is(view->width, level->width) || !view_size_is(view->height, level->height) ||
        (deep && !view_size_is(view->depth, level->depth)) || !take_levels_of_view(texture, view) ||
        !take_layers_of_view(texture, view))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* ---- How it is read ------------------------------------------------------------------------- */

static bool take_modes(struct exec_texture *texture, const CUDA_TEXTURE_DESC *how)
{
    static const uint8_t modes[] = {
        [CU_TR_ADDRESS_MODE_WRAP] = EXEC_ADDRESS_WRAP,
        [CU_TR_ADDRESS_MODE_CLAMP] = EXEC_ADDRESS_CLAMP,
        [CU_TR_ADDRESS_MODE_MIRROR] = EXEC_ADDRESS_MIRROR,
        [CU_TR_ADDRESS_MODE_BORDER] = EXEC_ADDRESS_BORDER,
    };
    for (int i = 0; i < 3; i++) {
        if ((unsigned)how->addressMode[i] >= sizeof modes)
            return false;
        texture->modes[i] = modes[how->addressMode[i]];
    }
    return (unsigned)how->filterMode <= CU_TR_FILTER_MODE_LINEAR &&
           (unsigned)how->mipmapFilterMode <= CU_TR_FILTER_MODE_LINEAR;
}

/* Of linear memory everything but the read mode is ignored. Only numbers are interpolated, and not
 * what CU_TRSF_READ_AS_INTEGER leaves as it is. */
static CUresult take_how(struct exec_texture *texture, const CUDA_TEXTURE_DESC *how)
{
    texture->scaled = !(how->flags & CU_TRSF_READ_AS_INTEGER) &&
                      texture->texel != EXEC_TEXEL_FLOAT && texture->channel_bytes < 4;
    if (texture->shape == EXEC_SHAPE_LINEAR)
        return CUDA_SUCCESS;
    if (!take_modes(texture, how))
        return CUDA_ERROR_INVALID_VALUE;
    texture->normalized = how->flags & CU_TRSF_NORMALIZED_COORDINATES;
    texture->linear = how->filterMode == CU_TR_FILTER_MODE_LINEAR;
    texture->srgb = how->flags & CU_TRSF_SRGB && texture->scaled &&
                    texture->texel == EXEC_TEXEL_UNSIGNED && texture->channel_bytes == 1;
    texture->seamless = how->flags & CU_TRSF_SEAMLESS_CUBEMAP;
    texture->between_levels = how->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
    texture->bias = how->mipmapLevelBias;
    texture->least = how->minMipmapLevelClamp;
    texture->greatest = how->maxMipmapLevelClamp;
    memcpy(texture->border, how->borderColor, sizeof texture->border);
    const bool number = texture->scaled || texture->texel == EXEC_TEXEL_FLOAT;
    if (!number && (texture->linear || (texture->level_count > 1 && texture->between_levels)))
        return CUDA_ERROR_INVALID_VALUE;
    if (how->maxAnisotropy > 1 && texture->level_count > 1)
        return device_lacks("cuTexObjectCreate with anisotropic filtering");
    return CUDA_SUCCESS;
}

CUresult texture_describe(struct exec_texture *texture, const CUDA_RESOURCE_DESC *resource,
                          const CUDA_TEXTURE_DESC *how, const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUresult result = resource->flags ? CUDA_ERROR_INVALID_VALUE : take_resource(texture, resource);
    if (result == CUDA_SUCCESS && view)
        result = take_view(texture, view);
    return result == CUDA_SUCCESS ? take_how(texture, how) : result;
}

/* "the type of resource must be CU_RESOURCE_TYPE_ARRAY", and the array bound for surfaces. */
CUresult surface_describe(struct exec_texture *surface, const CUDA_RESOURCE_DESC *resource)
{
    if (resource->flags || resource->resType != CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    const struct CUarray_st *array = array_of(resource->res.array.hArray);
    if (!array || !(array->shape.Flags & CUDA_ARRAY3D_SURFACE_LDST))
        return CUDA_ERROR_INVALID_VALUE;
    return take_resource(surface, resource);
}
