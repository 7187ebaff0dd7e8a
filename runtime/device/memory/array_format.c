/* What the driver's words for an array's texels and shape mean to who fetches them. See array.h. */
#include "runtime/device/memory/array.h"

bool array_format(CUarray_format format, unsigned channels, struct exec_texture *texels)
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

void array_shape(const CUDA_ARRAY3D_DESCRIPTOR *shape, struct exec_texture *texels)
{
    texels->layered = shape->Flags & CUDA_ARRAY3D_LAYERED;
    texels->shape = shape->Flags & CUDA_ARRAY3D_CUBEMAP ? EXEC_SHAPE_CUBE
                    : shape->Depth && !texels->layered  ? EXEC_SHAPE_3D
                    : shape->Height                     ? EXEC_SHAPE_2D
                                                        : EXEC_SHAPE_1D;
}
