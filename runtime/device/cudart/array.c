/* CUDA arrays and mipmapped arrays. CUDA Runtime API, "Memory Management". */
#include "runtime/device/cudart/runtime.h"

static const CUarray_format formats[3][3] = {
    [cudaChannelFormatKindSigned] = {CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16,
                                     CU_AD_FORMAT_SIGNED_INT32},
    [cudaChannelFormatKindUnsigned] = {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
                                       CU_AD_FORMAT_UNSIGNED_INT32},
    [cudaChannelFormatKindFloat] = {0, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT},
};

/* ---- Channel formats ---- */

bool array_channels(const struct cudaChannelFormatDesc *from, CUarray_format *format,
                    unsigned *channels)
{
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

struct cudaChannelFormatDesc array_channel_desc(CUarray_format format, unsigned channels)
{
    struct cudaChannelFormatDesc desc = {.f = cudaChannelFormatKindNone};
    for (int kind = 0; kind < 3; kind++)
        for (int width = 0; width < 3; width++) {
            int bits = 8 << width;
            if (!formats[kind][width] || formats[kind][width] != format)
                continue;
            desc = (struct cudaChannelFormatDesc){bits, channels > 1 ? bits : 0,
                                                  channels > 2 ? bits : 0, channels > 3 ? bits : 0,
                                                  (enum cudaChannelFormatKind)kind};
        }
    return desc;
}

cudaError_t array_element_bytes(cudaArray_const_t array, size_t *bytes)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    cudaError_t error = error_from(driver.cuArray3DGetDescriptor[0](&shape, (CUarray)array));
    if (error != cudaSuccess)
        return error;
    *bytes = (size_t)array_channel_desc(shape.Format, 1).x / 8 * shape.NumChannels;
    return *bytes ? cudaSuccess : error_record(cudaErrorInvalidValue);
}

API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    return cudaArrayGetInfo(desc, NULL, NULL, (cudaArray_t)array);
}

/* ---- Arrays ---- */

static cudaError_t shape_of(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                            unsigned flags, CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    *shape = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    if (!desc)
        return error_record(cudaErrorInvalidValue);
    return array_channels(desc, &shape->Format, &shape->NumChannels)
               ? cudaSuccess
               : error_record(cudaErrorInvalidChannelDescriptor);
}

/* Flags have the same numbers in both. */
API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                  struct cudaExtent extent, unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    ENTER();
    cudaError_t error = shape_of(desc, extent, flags, &shape);
    return error != cudaSuccess ? error
                                : error_from(driver.cuArray3DCreate[0]((CUarray *)array, &shape));
}

API cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                size_t width, size_t height, unsigned int flags)
{
    return cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0}, flags);
}

API cudaError_t cudaFreeArray(cudaArray_t array)
{
    ENTER();
    return array ? error_from(driver.cuArrayDestroy[0]((CUarray)array)) : cudaSuccess;
}

API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                                 unsigned int *flags, cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    ENTER();
    cudaError_t error = error_from(driver.cuArray3DGetDescriptor[0](&shape, (CUarray)array));
    if (error != cudaSuccess)
        return error;
    if (desc)
        *desc = array_channel_desc(shape.Format, shape.NumChannels);
    if (extent)
        *extent = (struct cudaExtent){shape.Width, shape.Height, shape.Depth};
    if (flags)
        *flags = shape.Flags;
    return cudaSuccess;
}

/* ---- Mipmapped arrays ---- */

API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmap,
                                         const struct cudaChannelFormatDesc *desc,
                                         struct cudaExtent extent, unsigned int levels,
                                         unsigned int flags)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    ENTER();
    cudaError_t error = shape_of(desc, extent, flags, &shape);
    return error != cudaSuccess ? error
                                : error_from(driver.cuMipmappedArrayCreate[0](
                                      (CUmipmappedArray *)mipmap, &shape, levels));
}

API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array, cudaMipmappedArray_const_t mipmap,
                                           unsigned int level)
{
    ENTER();
    return error_from(
        driver.cuMipmappedArrayGetLevel[0]((CUarray *)array, (CUmipmappedArray)mipmap, level));
}

API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap)
{
    ENTER();
    return mipmap ? error_from(driver.cuMipmappedArrayDestroy[0]((CUmipmappedArray)mipmap))
                  : cudaSuccess;
}
