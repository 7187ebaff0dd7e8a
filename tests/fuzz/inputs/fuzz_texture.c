/* libFuzzer: descriptions of textures and surfaces, and fetches through those that are valid. The
 * input is what cuTexObjectCreate gets, the shape of an array, and points; handles become the
 * array's or its mipmap's. What is fetched must lie in a level. */
#include "runtime/device/exec/texture/sampler.h"
#include "runtime/device/memory/array.h"
#include "runtime/device/memory/texture_description.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct CUarray_st array;
static struct CUmipmappedArray_st mipmap;

struct CUarray_st *array_of(CUarray handle)
{
    return handle ? &array : NULL;
}

struct CUmipmappedArray_st *array_of_levels(CUmipmappedArray handle)
{
    return handle ? &mipmap : NULL;
}

CUresult device_lacks(const char *name)
{
    (void)name;
    return CUDA_ERROR_NOT_SUPPORTED;
}

int attribute_value(CUdevice_attribute attribute)
{
    return attribute == CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH   ? 1 << 28
           : attribute == CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH ? 1 << 17
           : attribute == CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH ? 1 << 21
                                                                             : 65000;
}

struct input {
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC how;
    CUDA_RESOURCE_VIEW_DESC view;
    uint8_t has_view, is_surface, width, height, depth, levels, flags, format, channels;
    double at[3], level;
    int64_t layer;
};

enum { FACES = 6, TEXEL_BYTES = 16 };

static uint32_t at_least_one(uint32_t size)
{
    return size ? size : 1;
}

/* As cuArray3DCreate would allow it: cubes are square, and have six faces a layer. */
static void make_arrays(const struct input *input)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = input->width % 64 + 1u,
                                     .Height = input->height % 64,
                                     .Depth = input->depth % 8,
                                     .Flags = CUDA_ARRAY3D_SURFACE_LDST};
    static const CUarray_format formats[] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16,
                                             CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT,
                                             CU_AD_FORMAT_UNSIGNED_INT32};
    shape.Format = formats[input->format % (sizeof formats / sizeof *formats)];
    shape.NumChannels = 1u << input->channels % 3;
    if (input->flags & 1 && shape.Depth)
        shape.Flags |= CUDA_ARRAY3D_LAYERED;
    if (input->flags & 2) {
        shape.Flags |= CUDA_ARRAY3D_CUBEMAP;
        shape.Height = shape.Width;
        shape.Depth = FACES * (shape.Flags & CUDA_ARRAY3D_LAYERED ? shape.Depth : 1);
    }
    static struct CUarray_st levels[EXEC_LEVELS];
    memset(&mipmap, 0, sizeof mipmap);
    mipmap.shape = shape;
    mipmap.count = input->levels % 6 + 1u;
    const bool keeps_depth = shape.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    for (unsigned i = 0; i < mipmap.count; i++) {
        const uint32_t width = at_least_one((uint32_t)shape.Width >> i),
                       height = at_least_one((uint32_t)shape.Height >> i);
        levels[i] = (struct CUarray_st){.shape = shape};
        levels[i].level = (struct exec_level){
            .base = UINT64_C(0x100000) * (i + 1),
            .pitch = (uint64_t)width * TEXEL_BYTES,
            .slice = (uint64_t)width * TEXEL_BYTES * height,
            .width = width,
            .height = height,
            .depth = at_least_one((uint32_t)shape.Depth >> (keeps_depth ? 0 : i))};
        mipmap.levels[i] = &levels[i];
    }
    array = levels[0];
}

static bool lies_in(const struct exec_level *level, uint64_t address)
{
    const uint64_t row = (uint64_t)level->width * TEXEL_BYTES;
    const uint64_t pitch = level->pitch ? level->pitch : row;
    const uint64_t slice = level->slice ? level->slice : pitch * level->height;
    return address - level->base < slice * (level->depth - 1) + pitch * (level->height - 1) + row;
}

static void check_tap(const struct exec_texture *texture, const struct sampler_tap *tap)
{
    bool inside = tap->outside;
    for (unsigned i = 0; i < texture->level_count; i++)
        inside |= lies_in(&texture->levels[i], tap->address);
    if (!inside)
        abort();
}

static void fetch(const struct exec_texture *texture, const struct input *input)
{
    struct sampler_tap taps[SAMPLER_TAPS];
    struct sampler_point point = {
        .layer = input->layer, .level = input->level, .integer = input->flags & 4};
    for (int i = 0; i < 3; i++) {
        point.at[i] = input->at[i];
        point.index[i] = input->at[i] > -1e9 && input->at[i] < 1e9 ? (int64_t)input->at[i] : 0;
    }
    point.integer |= texture->shape == EXEC_SHAPE_LINEAR;
    const unsigned count = sampler_taps(texture, &point, taps);
    if (count > SAMPLER_TAPS)
        abort();
    for (unsigned i = 0; i < count; i++)
        check_tap(texture, &taps[i]);
}

static void take_handles(struct input *input)
{
    if (input->resource.resType == CU_RESOURCE_TYPE_ARRAY)
        input->resource.res.array.hArray = (CUarray)(uintptr_t)(input->flags & 8 ? 0 : 1);
    else if (input->resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY)
        input->resource.res.mipmap.hMipmappedArray =
            (CUmipmappedArray)(uintptr_t)(input->flags & 8 ? 0 : 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input input;
    struct exec_texture texture;
    memset(&input, 0, sizeof input);
    memcpy(&input, data, bytes < sizeof input ? bytes : sizeof input);
    input.resource.resType = (CUresourcetype)((unsigned)input.resource.resType % 5);
    take_handles(&input);
    make_arrays(&input);
    CUresult result = input.is_surface & 1
                          ? surface_describe(&texture, &input.resource)
                          : texture_describe(&texture, &input.resource, &input.how,
                                             input.has_view & 1 ? &input.view : NULL);
    if (result != CUDA_SUCCESS)
        return 0;
    if (!texture.level_count || texture.level_count > EXEC_LEVELS || !texture.channel_bytes ||
        (texture.channels != 1 && texture.channels != 2 && texture.channels != 4))
        abort();
    if (!(input.is_surface & 1))
        fetch(&texture, &input);
    return 0;
}
