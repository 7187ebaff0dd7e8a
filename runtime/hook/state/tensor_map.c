/* Reading tensor maps. See tensor_map.h.
 *
 *   bits   0..63   address
 *         64       im2col
 *         68..70   rank - 1
 *         71..74   type, 80 with it: as `types` has them
 *         75..76   interleave
 *         96..223  strides but the innermost's, a word each, in 16 bytes; 224..239 their upper bits
 *        256..415  sizes - 1, a word each
 *        440..447  elements - 1 that are copied side by side
 *   66, 67, 83..95 and 240..255 are zero; of tiled maps 431..439 and 490..511, too. Those that are
 * not named say how elements are picked and arranged; bit 65 is set in cuBLAS' own maps, and in
 * none of the driver's. */
#include "runtime/hook/state/tensor_map.h"
#include "csan/base/hash.h"

#include <string.h>

enum { WORDS = TENSOR_MAP_READ_BYTES / 4 };

struct raw_map {
    uint32_t words[WORDS];
};

static uint32_t bits(const struct raw_map *map, uint32_t from, uint32_t count)
{
    return map->words[from / 32] >> from % 32 & ((UINT32_C(1) << count) - 1);
}

uint8_t tensor_element_bytes(CUtensorMapDataType type)
{
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
        return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
        return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
        return 4;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
        return 8;
    default:
        return 0;
    }
}

uint8_t tensor_element_bits(CUtensorMapDataType type)
{
    const uint8_t bytes = tensor_element_bytes(type);
    if (bytes)
        return (uint8_t)(bytes * 8);
    switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B:
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B:
        return 4;
    case CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B:
        return 6;
    default:
        return 8;
    }
}

static bool type_read(const struct raw_map *map, CUtensorMapDataType *type)
{
    static const CUtensorMapDataType types[] = {
        CU_TENSOR_MAP_DATA_TYPE_UINT8,       CU_TENSOR_MAP_DATA_TYPE_UINT16,
        CU_TENSOR_MAP_DATA_TYPE_UINT32,      CU_TENSOR_MAP_DATA_TYPE_INT32,
        CU_TENSOR_MAP_DATA_TYPE_UINT64,      CU_TENSOR_MAP_DATA_TYPE_INT64,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT16,     CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        CU_TENSOR_MAP_DATA_TYPE_BFLOAT16};
    const uint32_t number = bits(map, 71, 4);
    if (number >= sizeof types / sizeof *types)
        return false;
    *type = types[number];
    if (bits(map, 80, 1) == 0)
        return true;
    if (*type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32)
        *type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    else if (*type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ)
        *type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
    else
        return false;
    return true;
}

/* Dimensions that there are not have size 1, and any stride. */
static bool extents_read(struct tensor_map_read *read, const struct raw_map *map)
{
    for (uint32_t i = 0; i < TENSOR_MAP_RANK_MOST; i++) {
        read->sizes[i] = (cuuint64_t)map->words[256 / 32 + i] + 1;
        if (i >= read->rank && read->sizes[i] != 1)
            return false;
    }
    for (uint32_t i = 0; i < TENSOR_MAP_RANK_MOST - 1; i++) {
        read->strides[i] =
            ((cuuint64_t)map->words[96 / 32 + i] | (cuuint64_t)bits(map, 224 + 4 * i, 4) << 32)
            << 4;
    }
    return true;
}

/* Every bit that was zero in all maps that were seen. */
static bool is_zero_where_all_are(const struct raw_map *map, bool is_im2col)
{
    return !bits(map, 66, 2) && !bits(map, 83, 13) && !bits(map, 240, 16) &&
           (is_im2col || (!bits(map, 431, 1) && !bits(map, 432, 8) && !bits(map, 490, 22)));
}

/* CUDA Driver API, cuTensorMapEncodeTiled: of boxDim[0] elements, the bytes are a multiple of 16;
 * the driver keeps to that for interleaved ones and im2col's channels, too. */
static bool box_is_one(const struct raw_map *map, CUtensorMapDataType type)
{
    return (bits(map, 440, 8) + 1) * tensor_element_bytes(type) % 16 == 0;
}

bool tensor_map_read(struct tensor_map_read *read, const void *bytes)
{
    struct raw_map map;
    memcpy(&map, bytes, sizeof map);
    *read = (struct tensor_map_read){.is_im2col = bits(&map, 64, 1),
                                     .rank = bits(&map, 68, 3) + 1,
                                     .base = map.words[0] | (uint64_t)map.words[1] << 32,
                                     .interleave = (CUtensorMapInterleave)bits(&map, 75, 2)};
    if (!is_zero_where_all_are(&map, read->is_im2col) || read->rank > TENSOR_MAP_RANK_MOST ||
        read->base % 16 || read->interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
        !type_read(&map, &read->type) || !box_is_one(&map, read->type) || !extents_read(read, &map))
        return false;
    read->identity = hash_mix_bytes(0, map.words + 2, sizeof map - 8);
    return true;
}

/* ---- Asking the driver ---- */

static bool is_as_encoded(const struct tensor_map_read *read, const struct tensor *tensor)
{
    return read->type == tensor->type && read->rank == tensor->rank && read->base == tensor->base &&
           read->interleave == tensor->interleave &&
           memcmp(read->sizes, tensor->sizes, tensor->rank * sizeof *tensor->sizes) == 0 &&
           memcmp(read->strides, tensor->strides, (tensor->rank - 1) * sizeof *tensor->strides) ==
               0;
}

/* Of what the driver encoded. */
static enum tensor_map_layout answer_of(CUresult result, const CUtensorMap *map,
                                        const struct tensor *tensor, bool is_im2col)
{
    struct tensor_map_read read;
    if (result != CUDA_SUCCESS)
        return TENSOR_MAP_LAYOUT_NOT_ASKED;
    return tensor_map_read(&read, map) && read.is_im2col == is_im2col &&
                   is_as_encoded(&read, tensor)
               ? TENSOR_MAP_LAYOUT_KNOWN
               : TENSOR_MAP_LAYOUT_OTHER;
}

static const cuuint32_t step[TENSOR_MAP_RANK_MOST] = {1, 1, 1, 1, 1};

static enum tensor_map_layout ask_for(PFN_cuTensorMapEncodeTiled_v12000 encode,
                                      const struct tensor *tensor)
{
    static const cuuint32_t box[TENSOR_MAP_RANK_MOST] = {16, 4, 2, 2, 1};
    CUtensorMap map;
    memset(&map, 0, sizeof map);
    CUresult result =
        encode(&map, tensor->type, tensor->rank, (void *)(uintptr_t)tensor->base, tensor->sizes,
               tensor->strides, box, step, tensor->interleave, CU_TENSOR_MAP_SWIZZLE_NONE,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return answer_of(result, &map, tensor, false);
}

/* Each field is another number, and uses its upper bits. */
enum tensor_map_layout tensor_map_layout_ask(PFN_cuTensorMapEncodeTiled_v12000 encode)
{
    static const cuuint64_t sizes[][TENSOR_MAP_RANK_MOST] = {
        {0xfedcba98, 0x12345678, 0x89abcdef, 0x76543210, 0x0f1e2d3c}, {48, 3, 5, 7, 9}};
    static const cuuint64_t strides[][TENSOR_MAP_RANK_MOST - 1] = {
        {0xf123456780, 0xe987654320, 0xd0f1e2d3c0, 0xc5a5a5a5a0}, {192, 576, 2880, 20160}};
    static const struct tensor tensors[] = {{CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 5, 0x7abcdef01230,
                                             sizes[0], strides[0], CU_TENSOR_MAP_INTERLEAVE_NONE},
                                            {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 3, 0x123456789ac0,
                                             sizes[1], strides[1], CU_TENSOR_MAP_INTERLEAVE_16B},
                                            {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 0x7f0123456780,
                                             sizes[1], strides[1], CU_TENSOR_MAP_INTERLEAVE_NONE},
                                            {CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 0x100000, sizes[1],
                                             strides[1], CU_TENSOR_MAP_INTERLEAVE_NONE}};
    enum tensor_map_layout answer = encode ? TENSOR_MAP_LAYOUT_KNOWN : TENSOR_MAP_LAYOUT_OTHER;
    for (size_t i = 0; answer == TENSOR_MAP_LAYOUT_KNOWN && i < sizeof tensors / sizeof *tensors;
         i++)
        answer = ask_for(encode, &tensors[i]);
    return answer;
}

enum tensor_map_layout tensor_map_layout_ask_im2col(PFN_cuTensorMapEncodeIm2col_v12000 encode)
{
    static const cuuint64_t sizes[] = {0x1230, 0x2341, 0x3452, 0x4563};
    static const cuuint64_t strides[] = {0x24680, 0x13579bd0, 0xa123456780};
    static const int lower[TENSOR_MAP_RANK_MOST - 2] = {-1, -1}, upper[TENSOR_MAP_RANK_MOST - 2];
    static const struct tensor tensor = {
        CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, 0x7abcdef01230, sizes, strides,
        CU_TENSOR_MAP_INTERLEAVE_NONE};
    CUtensorMap map;
    if (!encode)
        return TENSOR_MAP_LAYOUT_OTHER;
    memset(&map, 0, sizeof map);
    CUresult result = encode(&map, tensor.type, tensor.rank, (void *)(uintptr_t)tensor.base,
                             tensor.sizes, tensor.strides, lower, upper, 16, 32, step,
                             tensor.interleave, CU_TENSOR_MAP_SWIZZLE_NONE,
                             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return answer_of(result, &map, &tensor, true);
}
