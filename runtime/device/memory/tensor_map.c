/* Tensor maps (CUDA Driver API, "Tensor Map Object Management"), in the device's own form: tiled
 * ones and those of the im2col modes. What else there is, is named once. */
#include "runtime/device/exec/tensor/tensor_map.h"
#include "runtime/device/driver/driver.h"
#include "runtime/ptx/ir.h"

#include <string.h>

enum {
    MAP_ALIGNMENT = 64,
    BASE_ALIGNMENT = 16,
    PADDED_ALIGNMENT = 32, /* of bases and strides, for types with padding */
    SIZE_BITS = 32,
    STRIDE_BITS = 40
};

/* 0: no such type. Of fewer than 8 bits: those of a group of values (tensor_map.h). */
static uint8_t element_bytes(CUtensorMapDataType type)
{
    static const uint8_t bytes[] = {
        [CU_TENSOR_MAP_DATA_TYPE_UINT8] = 1,         [CU_TENSOR_MAP_DATA_TYPE_UINT16] = 2,
        [CU_TENSOR_MAP_DATA_TYPE_UINT32] = 4,        [CU_TENSOR_MAP_DATA_TYPE_INT32] = 4,
        [CU_TENSOR_MAP_DATA_TYPE_UINT64] = 8,        [CU_TENSOR_MAP_DATA_TYPE_INT64] = 8,
        [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = 2,       [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = 4,
        [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = 8,       [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = 2,
        [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = 4,   [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = 4,
        [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = 4,  [CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B] = 1,
        [CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B] = 8, [CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B] = 12};
    return (unsigned)type < sizeof bytes ? bytes[type] : 0;
}

/* As PTX has it. */
static uint8_t element_type(CUtensorMapDataType type)
{
    static const uint8_t types[] = {[CU_TENSOR_MAP_DATA_TYPE_UINT8] = PTX_U8,
                                    [CU_TENSOR_MAP_DATA_TYPE_UINT16] = PTX_U16,
                                    [CU_TENSOR_MAP_DATA_TYPE_UINT32] = PTX_U32,
                                    [CU_TENSOR_MAP_DATA_TYPE_INT32] = PTX_S32,
                                    [CU_TENSOR_MAP_DATA_TYPE_UINT64] = PTX_U64,
                                    [CU_TENSOR_MAP_DATA_TYPE_INT64] = PTX_S64,
                                    [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = PTX_F16,
                                    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = PTX_F32,
                                    [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = PTX_F64,
                                    [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = PTX_BF16,
                                    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = PTX_F32,
                                    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = PTX_TF32,
                                    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = PTX_TF32};
    return (unsigned)type < sizeof types ? types[type] : PTX_TYPE_OTHER;
}

static uint8_t element_packing(CUtensorMapDataType type)
{
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B:
        return TENSOR_4_BITS;
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B:
        return TENSOR_4_PADDED;
    case CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B:
        return TENSOR_6_PADDED;
    default:
        return TENSOR_PLAIN;
    }
}

static bool is_float(CUtensorMapDataType type)
{
    return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

/* False: none of these. */
static bool take_swizzle(struct tensor_map *map, CUtensorMapSwizzle swizzle)
{
    static const struct {
        uint8_t mode, atom;
    } swizzles[] = {[CU_TENSOR_MAP_SWIZZLE_NONE] = {TENSOR_SWIZZLE_NONE, 0},
                    [CU_TENSOR_MAP_SWIZZLE_32B] = {TENSOR_SWIZZLE_32, 0},
                    [CU_TENSOR_MAP_SWIZZLE_64B] = {TENSOR_SWIZZLE_64, 0},
                    [CU_TENSOR_MAP_SWIZZLE_128B] = {TENSOR_SWIZZLE_128, 0},
                    [CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B] = {TENSOR_SWIZZLE_128, TENSOR_ATOM_32},
                    [CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B] = {TENSOR_SWIZZLE_128, TENSOR_ATOM_64}};
    if ((unsigned)swizzle >= sizeof swizzles / sizeof *swizzles)
        return false;
    map->swizzle = swizzles[swizzle].mode;
    map->atom = swizzles[swizzle].atom;
    return true;
}

static bool take_sizes(struct tensor_map *map, const cuuint64_t *sizes, const cuuint64_t *strides)
{
    const uint64_t unit =
        map->packing > TENSOR_4_BITS ? (uint64_t)PADDED_ALIGNMENT : (uint64_t)TENSOR_PIECE;
    for (uint32_t i = 0; i < TENSOR_RANK_MOST; i++) {
        const bool there = i < map->rank;
        if (there && (!sizes[i] || sizes[i] >> SIZE_BITS))
            return false;
        map->sizes[i] = there ? (uint32_t)sizes[i] : 1;
        map->strides[i] = !there ? 0 : i ? strides[i - 1] : map->element_bytes;
        if (there && i && (strides[i - 1] % unit || strides[i - 1] >> STRIDE_BITS))
            return false;
    }
    return true;
}

static bool take_box(struct tensor_map *map, const cuuint32_t *box, const cuuint32_t *steps)
{
    for (uint32_t i = 0; i < TENSOR_RANK_MOST; i++) {
        const bool there = i < map->rank;
        if (there &&
            (!box[i] || box[i] > TENSOR_BOX_MOST || !steps[i] || steps[i] > TENSOR_STEP_MOST))
            return false;
        map->steps[i] = there ? (uint8_t)steps[i] : 1;
        map->box[i] = there ? (uint16_t)box[i] : 1;
    }
    return true;
}

/* The map of an interleaved tensor. What swizzles with atoms do there was not measured. */
static CUresult take_slices(struct tensor_map *map, CUtensorMapInterleave interleave)
{
    if (interleave > CU_TENSOR_MAP_INTERLEAVE_32B)
        return CUDA_ERROR_INVALID_VALUE;
    if (interleave && map->atom)
        return device_lacks("a map of an interleaved tensor with a swizzle of atoms");
    map->interleave = (uint8_t)interleave;
    return CUDA_SUCCESS;
}

/* The last steps of both encodings: the layout, the check of all fields, and the 128 bytes. */
static CUresult encode(struct tensor_map *map, CUtensorMapInterleave interleave,
                       CUtensorMap *encoded)
{
    const CUresult result = take_slices(map, interleave);
    if (result != CUDA_SUCCESS)
        return result;
    if (!tensor_map_is_valid(map))
        return CUDA_ERROR_INVALID_VALUE;
    memset(encoded, 0, sizeof *encoded);
    memcpy(encoded, map, sizeof *map);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuTensorMapEncodeTiled(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
    const cuuint32_t *boxDim, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    struct tensor_map map = {.base = (uint64_t)globalAddress,
                             .magic = TENSOR_MAP_MAGIC,
                             .rank = (uint8_t)tensorRank,
                             .element_bytes = element_bytes(tensorDataType),
                             .packing = element_packing(tensorDataType),
                             .type = element_type(tensorDataType)};
    if (!tensorMap || (uint64_t)tensorMap % MAP_ALIGNMENT || !map.element_bytes || !tensorRank ||
        tensorRank > TENSOR_RANK_MOST || !map.base || map.base % BASE_ALIGNMENT || !globalDim ||
        (tensorRank > 1 && !globalStrides) || !boxDim || !elementStrides ||
        (unsigned)l2Promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        (unsigned)oobFill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return CUDA_ERROR_INVALID_VALUE;
    if (swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B)
        return device_lacks("cuTensorMapEncodeTiled with a swizzle that flips 8 bytes");
    map.nan = oobFill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    if (!take_sizes(&map, globalDim, globalStrides) || !take_box(&map, boxDim, elementStrides) ||
        !take_swizzle(&map, swizzle) || (map.nan && !is_float(tensorDataType)))
        return CUDA_ERROR_INVALID_VALUE;
    return encode(&map, interleave, tensorMap);
}

/* "For 3D tensor: [-32768, 32767], 4D: [-128, 127], 5D: [-16, 15]", of corners. */
static bool take_pixels(struct tensor_map *map, const int *lower, const int *upper,
                        cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *steps)
{
    static const int most[] = {32768, 128, 16};
    if (!channels || channels > TENSOR_BOX_MOST || !pixels || pixels > TENSOR_PIXELS_MOST)
        return false;
    const int limit = most[map->rank - 3];
    for (uint32_t i = 0; i < map->rank - 2u; i++) {
        if (lower[i] < -limit || lower[i] >= limit || upper[i] < -limit || upper[i] >= limit)
            return false;
        map->lower[i] = (int16_t)lower[i];
        map->upper[i] = (int16_t)upper[i];
    }
    for (uint32_t i = 0; i < TENSOR_RANK_MOST; i++) {
        const bool there = i < map->rank;
        if (there && (!steps[i] || steps[i] > TENSOR_STEP_MOST))
            return false;
        map->steps[i] = there ? (uint8_t)steps[i] : 1;
        map->box[i] = 1;
    }
    map->box[0] = (uint16_t)channels;
    map->pixels = (uint16_t)pixels;
    return true;
}

CUresult CUDAAPI cuTensorMapEncodeIm2col(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
    const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner, cuuint32_t channelsPerPixel,
    cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    struct tensor_map map = {.base = (uint64_t)globalAddress,
                             .magic = TENSOR_MAP_MAGIC,
                             .rank = (uint8_t)tensorRank,
                             .element_bytes = element_bytes(tensorDataType),
                             .packing = element_packing(tensorDataType),
                             .type = element_type(tensorDataType)};
    if (!tensorMap || (uint64_t)tensorMap % MAP_ALIGNMENT || !map.element_bytes || tensorRank < 3 ||
        tensorRank > TENSOR_RANK_MOST || !map.base || map.base % BASE_ALIGNMENT || !globalDim ||
        !globalStrides || !pixelBoxLowerCorner || !pixelBoxUpperCorner || !elementStrides ||
        (unsigned)l2Promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        (unsigned)oobFill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return CUDA_ERROR_INVALID_VALUE;
    if (swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B)
        return device_lacks("cuTensorMapEncodeIm2col with a swizzle that flips 8 bytes");
    map.nan = oobFill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    if (!take_sizes(&map, globalDim, globalStrides) ||
        !take_pixels(&map, pixelBoxLowerCorner, pixelBoxUpperCorner, channelsPerPixel,
                     pixelsPerColumn, elementStrides) ||
        !take_swizzle(&map, swizzle) || (map.nan && !is_float(tensorDataType)))
        return CUDA_ERROR_INVALID_VALUE;
    return encode(&map, interleave, tensorMap);
}

/* "The size of the box along D and H dimensions is always equal to one", and "other swizzle modes
 * are not supported" than those of 64 and 128 bytes, without a flip, nor interleaved layouts. */
CUresult CUDAAPI cuTensorMapEncodeIm2colWide(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
    int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth, cuuint32_t channelsPerPixel,
    cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
    CUtensorMapFloatOOBfill oobFill)
{
    const int corners[][TENSOR_AXES_MOST] = {{0}, {0}}; /* of D and H */
    struct tensor_map map;
    if (swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || swizzle == CU_TENSOR_MAP_SWIZZLE_32B ||
        swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B ||
        (unsigned)mode > CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 ||
        interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || pixelBoxLowerCornerWidth < INT16_MIN ||
        pixelBoxLowerCornerWidth > INT16_MAX || pixelBoxUpperCornerWidth < INT16_MIN ||
        pixelBoxUpperCornerWidth > INT16_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    const bool fixed = mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
    const CUresult result = cuTensorMapEncodeIm2col(
        tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, corners[0],
        corners[1], channelsPerPixel, fixed ? TENSOR_WIDE_PIXELS : pixelsPerColumn, elementStrides,
        interleave, swizzle, l2Promotion, oobFill);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(&map, tensorMap, sizeof map);
    if ((int64_t)map.sizes[1] + pixelBoxUpperCornerWidth <= pixelBoxLowerCornerWidth)
        return CUDA_ERROR_INVALID_VALUE; /* "must have non-zero area" */
    map.wide = fixed ? TENSOR_WIDE_W128 : TENSOR_WIDE_W;
    map.lower[0] = (int16_t)pixelBoxLowerCornerWidth;
    map.upper[0] = (int16_t)pixelBoxUpperCornerWidth;
    memcpy(tensorMap, &map, sizeof map);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
{
    struct tensor_map map;
    if (!tensorMap || !globalAddress || (uint64_t)globalAddress % BASE_ALIGNMENT)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&map, tensorMap, sizeof map);
    if (map.magic != TENSOR_MAP_MAGIC)
        return CUDA_ERROR_INVALID_VALUE;
    map.base = (uint64_t)globalAddress;
    memcpy(tensorMap, &map, sizeof map);
    return CUDA_SUCCESS;
}
