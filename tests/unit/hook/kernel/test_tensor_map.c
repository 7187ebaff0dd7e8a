/* Tensor maps read back: maps that an H200's driver (580.159.04) encoded of arguments at random,
 * and maps that cuBLAS 13 encoded itself; and the driver that is asked before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/hook/state/tensor_map.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TYPE(name)   CU_TENSOR_MAP_DATA_TYPE_##name

enum { WORDS = TENSOR_MAP_READ_BYTES / 8 };

/* The driver's arguments, and the first half of what it encoded. Box, swizzle and the like were
 * others for each. */
static const struct encoded {
    CUtensorMapDataType type;
    uint32_t rank;
    uint64_t base;
    cuuint64_t sizes[TENSOR_MAP_RANK_MOST], strides[TENSOR_MAP_RANK_MOST - 1];
    int interleave;
    uint64_t map[WORDS];
} encoded[] = {
    /* clang-format off */
    {TYPE(INT64), 2, 0xce0636c0, {2737, 2944}, {21904}, 0,
     {0x00000000ce0636c0, 0x0000055900000290, 0x0000000000000000, 0x0000000000000000,
      0x00000b7f00000ab0, 0x0000000000000000, 0xdf00003000000000, 0x0000000000000022}},
    {TYPE(FLOAT32_FTZ), 4, 0x418c45e00, {3806, 3262, 4749, 251}, {15232, 49686784, 235962537216}, 0,
     {0x0000000418c45e00, 0x000003b80006a430, 0x6f076950002f6290, 0x0000030000000000,
      0x00000cbd00000edd, 0x000000fa0000128c, 0x0300017400000000, 0x00000000005faf6c}},
    {TYPE(UINT64), 1, 0xd94ae890d0, {890593556}, {0}, 0,
     {0x000000d94ae890d0, 0x0000000000046200, 0x0000000000000000, 0x0000000000000000,
      0x0000000035156113, 0x0000000000000000, 0x0d00000000000000, 0x0000000000000000}},
    {TYPE(FLOAT64), 5, 0x287df24bc0, {4666, 367, 4934, 2187, 2035}, {37328, 13699376, 67592721184, 11776}, 0,
     {0x000000287df24bc0, 0x0000091d000624c1, 0xfbcd7132000d1093, 0x00000000000002e0,
      0x0000016e00001239, 0x0000088a00001345, 0x01000400000007f2, 0x000002ba3c3c54b7}},
    {TYPE(UINT32), 3, 0x1dc326292af0, {39, 27147605, 141467908}, {160, 29511525680}, 0,
     {0x00001dc326292af0, 0x0000000a00044121, 0x000000006df06253, 0x0000000000000000,
      0x019e3d5400000026, 0x00000000086ea103, 0x0300001000000000, 0x000002a4c2c8393a}},
    {TYPE(FLOAT16), 2, 0x11a851dee00, {131882179, 9998}, {10342287088}, 0,
     {0x0000011a851dee00, 0x26872c6f0002a310, 0x0000000000000000, 0x0000000000000000,
      0x0000270d07dc5cc2, 0x0000000000000000, 0x0700000400000000, 0x0000000000000003}},
    {TYPE(TFLOAT32), 2, 0x15c9e3b80, {4212, 2730}, {92495243904}, 0,
     {0x000000015c9e3b80, 0x589256a800016390, 0x0000000000000000, 0x0000000100000000,
      0x00000aa900001073, 0x0000000000000000, 0x0700000000000000, 0x0000000000000059}},
    {TYPE(UINT16), 3, 0x5bdff70f00, {567192, 3671832, 1862}, {1134384, 11429130480}, 0,
     {0x0000005bdff70f00, 0x000114f3000220a1, 0x000000002a93ab0f, 0x0000000000000000,
      0x003807170008a797, 0x0000000000000745, 0x0f00014000000000, 0x000001f6060202c7}},
    {TYPE(UINT8), 1, 0xf68b2a399d0, {61164841}, {0}, 0,
     {0x00000f68b2a399d0, 0x0000000000060000, 0x0000000000000000, 0x0000000000000000,
      0x0000000003a54d28, 0x0000000000000000, 0x2f00000000000000, 0x0000000000000000}},
    {TYPE(FLOAT32), 4, 0x2824920e40, {465, 268284933, 3, 7718980}, {1872, 502229394576, 448}, 0,
     {0x0000002824920e40, 0x00000075000603b1, 0x0000001c4ef34649, 0x0000007000000000,
      0x0ffdb404000001d0, 0x0075c84300000002, 0x0b00002800000000, 0x0000032100e70085}},
    {TYPE(BFLOAT16), 5, 0x36bb41a350, {117153, 148, 2, 6348089, 221671}, {6202203520, 72624256, 145248512, 186697927360}, 0,
     {0x00000036bb41a350, 0x171ae1d800002541, 0x008a851000454288, 0x00002000b78104ac,
      0x000000930001c9a0, 0x0060dd3800000001, 0x0f006188000361e6, 0x0000039e2d3a468a}},
    {TYPE(TFLOAT32_FTZ), 3, 0x256bb0, {2878293, 969, 4662962}, {11513184, 120432}, 0,
     {0x0000000000256bb0, 0x000afad600052420, 0x0000000000001d67, 0x0000000000000000,
      0x000003c8002beb54, 0x00000000004726b1, 0x0700000000000000, 0x000000000000bc0f}},
    {TYPE(INT32), 2, 0x5ec7dcd0, {613, 497298}, {2464}, 0,
     {0x000000005ec7dcd0, 0x0000009a00046190, 0x0000000000000000, 0x0000000000000000,
      0x0007969100000264, 0x0000000000000000, 0x0f00000700000000, 0x00000000000000fc}},
    {TYPE(INT64), 2, 0xce0636c0, {2737, 2944}, {21904}, 0,
     {0x00000000ce0636c0, 0x0000055900000290, 0x0000000000000000, 0x0000000000000000,
      0x00000b7f00000ab0, 0x0000000000000000, 0xdf00003000000000, 0x0000000000000022}},
    {TYPE(FLOAT32_FTZ), 4, 0x418c45e00, {3806, 3262, 4749, 251}, {15232, 49686784, 235962537216}, 0,
     {0x0000000418c45e00, 0x000003b80006a430, 0x6f076950002f6290, 0x0000030000000000,
      0x00000cbd00000edd, 0x000000fa0000128c, 0x0300017400000000, 0x00000000005faf6c}},
    {TYPE(UINT64), 1, 0xd94ae890d0, {890593556}, {0}, 0,
     {0x000000d94ae890d0, 0x0000000000046200, 0x0000000000000000, 0x0000000000000000,
      0x0000000035156113, 0x0000000000000000, 0x0d00000000000000, 0x0000000000000000}},
    {TYPE(FLOAT64), 5, 0x287df24bc0, {4666, 367, 4934, 2187, 2035}, {37328, 13699376, 67592721184, 11776}, 0,
     {0x000000287df24bc0, 0x0000091d000624c1, 0xfbcd7132000d1093, 0x00000000000002e0,
      0x0000016e00001239, 0x0000088a00001345, 0x01000400000007f2, 0x000002ba3c3c54b7}},
    {TYPE(FLOAT32_FTZ), 3, 0x17f8ca70, {612, 132836, 8147}, {2448, 32}, 0,
     {0x0000000017f8ca70, 0x0000009900024421, 0x0000000000000002, 0x0000000000000000,
      0x000206e300000263, 0x0000000000001fd2, 0x0b00010800000000, 0x00000227166a9483}},
    {TYPE(FLOAT32), 4, 0x2824920e40, {465, 268284933, 3, 7718980}, {1872, 502229394576, 448}, 0,
     {0x0000002824920e40, 0x00000075000603b1, 0x0000001c4ef34649, 0x0000007000000000,
      0x0ffdb404000001d0, 0x0075c84300000002, 0x0b00002800000000, 0x0000032100e70085}},
    {TYPE(TFLOAT32_FTZ), 3, 0x256bb0, {2878293, 969, 4662962}, {11513184, 120432}, 0,
     {0x0000000000256bb0, 0x000afad600052420, 0x0000000000001d67, 0x0000000000000000,
      0x000003c8002beb54, 0x00000000004726b1, 0x0700000000000000, 0x000000000000bc0f}},
    {TYPE(FLOAT64), 4, 0x269610, {4, 650828706, 2859, 351826692}, {26457180640, 897804285552, 896}, 0,
     {0x0000000000269610, 0x628f889e0004e4b1, 0x000000381094e367, 0x000000d000000000,
      0x26cadba100000003, 0x14f8730300000b2a, 0x0f00001b00000000, 0x000002ee80a52b44}},
    {TYPE(FLOAT64), 5, 0xccaeb4e0, {4, 220, 25, 112, 217551455}, {60672, 1824, 45600, 5107200}, 0,
     {0x00000000ccaeb4e0, 0x00000ed00004e4c0, 0x00000b2200000072, 0x000000000004dee0,
      0x000000db00000003, 0x0000006f00000018, 0x010001c30cf7925e, 0x00000000faec24dc}},
    {TYPE(FLOAT16), 3, 0x5f53370, {1105, 2908, 512}, {2224, 6467392}, 1,
     {0x0000000005f53370, 0x0000008b00066b20, 0x0000000000062af4, 0x0000000000000000,
      0x00000b5b00000450, 0x00000000000001ff, 0x1f00000300000000, 0x0000000000003ba2}},
    {TYPE(FLOAT32), 3, 0x154c9565e0, {52301751, 3, 32850262}, {173248, 519744}, 2,
     {0x000000154c9565e0, 0x00002a4c000033a1, 0x0000000000007ee4, 0x0000000000000000,
      0x00000002031e0fb6, 0x0000000001f54155, 0xa700015800000000, 0x0000003a0ab7867b}},
    {TYPE(UINT8), 3, 0x5476e0, {958, 2531, 1225}, {8276644384, 223450834720}, 2,
     {0x00000000005476e0, 0x1ed5392200047020, 0x00000000406b5272, 0x0000003000000000,
      0x000009e2000003bd, 0x00000000000004c8, 0x4f00016300000000, 0x0000000000000c14}},
    {TYPE(UINT16), 3, 0xeb93fdf2260, {652, 137472, 48748875}, {1312, 180363264}, 0,
     {0x00000eb93fdf2260, 0x00000052000040a1, 0x0000000000ac0200, 0x0000000000000000,
      0x000218ff0000028b, 0x0000000002e7d94a, 0x0f00002800000000, 0x000002b4f46101e2}},
    {TYPE(UINT64), 3, 0x1627dd5f350, {8, 56, 758268072}, {64, 930985744}, 1,
     {0x000001627dd5f350, 0x0000000400006a21, 0x000000000377db71, 0x0000000000000000,
      0x0000003700000007, 0x000000002d3240a7, 0x8b00003000000000, 0x000000c45af25297}},
    {TYPE(UINT32), 4, 0xf3700, {4728, 1085, 1836, 403}, {18912, 495072, 908952192}, 2,
     {0x00000000000f3700, 0x0000049e00047130, 0x0362d828000078de, 0x0000000000000000,
      0x0000043c00001277, 0x000001920000072b, 0xaf0000a700000000, 0x0000000000f68f00}},
    {TYPE(BFLOAT16), 5, 0x976d46a7f70, {1901, 17, 4754, 1172, 3265}, {48, 16680432, 79298773728, 29072}, 0,
     {0x00000976d46a7f70, 0x000000030006a541, 0x2769342e000fe85f, 0x0000010000000719,
      0x000000100000076c, 0x0000049300001291, 0x0f00018600000cc0, 0x000003a40015001f}},
    {TYPE(FLOAT32), 4, 0x11dd6d0, {28932, 2, 968, 4}, {115728, 231456, 64}, 1,
     {0x00000000011dd6d0, 0x00001c4100046bb0, 0x0000000400003882, 0x0000000000000000,
      0x0000000100007103, 0x00000003000003c7, 0x1f000ef000000000, 0x00000000001800a5}},
    {TYPE(UINT64), 4, 0x36fa9c4ca0, {1421, 1168, 3722, 349}, {525634138944, 2027840, 15648}, 2,
     {0x00000036fa9c4ca0, 0xa623c73400061231, 0x000003d20001ef14, 0x0000000700000000,
      0x0000048f0000058c, 0x0000015c00000e89, 0x3100013000000000, 0x000002419dfe6a27}},
    {TYPE(FLOAT64), 4, 0x16f744e1ad00, {21245, 429, 15, 42}, {169968, 72916272, 220699206736}, 1,
     {0x000016f744e1ad00, 0x0000297f00022cb1, 0x362b2a45004589d3, 0x0000030000000000,
      0x000001ac000052fc, 0x000000290000000e, 0x29000a0000000000, 0x0000007b9e0de04a}},
    {TYPE(TFLOAT32_FTZ), 5, 0x787bd1800, {3454, 3545, 2049, 572, 4223}, {13824, 49006080, 100413457920, 54830944}, 2,
     {0x0000000787bd1800, 0x0000036000059441, 0x7611bc60002ebc60, 0x0000010000344a76,
      0x00000dd800000d7d, 0x0000023b00000800, 0xb70000180000107e, 0x000000b8073e7cac}},
    {TYPE(FLOAT32), 4, 0x194fa40, {590, 2148, 888, 3978}, {2368, 480, 426240}, 2,
     {0x000000000194fa40, 0x000000940006d3b1, 0x000068100000001e, 0x0000000000000000,
      0x000008630000024d, 0x00000f8900000377, 0xab00000700000000, 0x00000114005700eb}},
    /* clang-format on */
};

static void read_back(const struct encoded *expected, const uint64_t *map)
{
    struct tensor_map_read read;
    assert_true(tensor_map_read(&read, map));
    assert_int_equal(read.type, expected->type);
    assert_int_equal(read.rank, expected->rank);
    assert_int_equal(read.base, expected->base);
    assert_int_equal(read.interleave, expected->interleave);
    for (uint32_t i = 0; i < expected->rank; i++)
        assert_int_equal(read.sizes[i], expected->sizes[i]);
    for (uint32_t i = 0; i + 1 < expected->rank; i++)
        assert_int_equal(read.strides[i], expected->strides[i]);
}

static void what_the_driver_encoded_is_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(encoded); i++)
        read_back(&encoded[i], encoded[i].map);
}

/* Two of an nvjet kernel's: a bit is set that the driver never sets, and a stride that is not there
 * is no zero. The second is of 16 matrices. */
static void what_cublas_encoded_is_read_back(void **state)
{
    (void)state;
    static const struct encoded own[] = {
        {TYPE(BFLOAT16),
         3,
         0x7f402d850000,
         {256, 256, 1},
         {512, 0},
         0,
         {0x00007f402d850000, 0x0000002000046522, 0x1000000000000000, 0, 0x000000ff000000ff, 0,
          0x3f00000000000000, 0x000000000000000f}},
        {TYPE(BFLOAT16),
         3,
         0x7fa46fa00000,
         {256, 128, 16},
         {512, 65536},
         0,
         {0x00007fa46fa00000, 0x0000002000046522, 0x1000000000001000, 0, 0x0000007f000000ff,
          0x000000000000000f, 0x3f00000000000000, 0x000000000000001f}}};
    for (size_t i = 0; i < COUNT(own); i++)
        read_back(&own[i], own[i].map);
}

/* All but the address. */
static void the_identity_is_all_but_the_address(void **state)
{
    (void)state;
    struct tensor_map_read read, other;
    uint64_t map[WORDS];
    memcpy(map, encoded[0].map, sizeof map);
    assert_true(tensor_map_read(&read, map));
    map[0] += 4096;
    assert_true(tensor_map_read(&other, map));
    assert_int_equal(other.identity, read.identity);
    map[7] ^= 1; /* how the box is picked */
    assert_true(tensor_map_read(&other, map));
    assert_int_not_equal(other.identity, read.identity);
}

static void other_bytes_are_no_map(void **state)
{
    (void)state;
    static const struct {
        int word;
        uint64_t bits;
    } wrong[] = {{0, 8} /* no such address */,
                 {1, 7 << 4} /* rank 8 */,
                 {1, 5 << 4} /* rank 6 */,
                 {5, 1} /* a third size, of rank 2 */,
                 {1, 15 << 7} /* no such type */,
                 {1, 3 << 11} /* no such interleave */,
                 {1, 1 << 20},
                 {3, UINT64_C(1) << 60}};
    struct tensor_map_read read;
    uint64_t map[WORDS];
    for (size_t i = 0; i < COUNT(wrong); i++) {
        memcpy(map, encoded[0].map, sizeof map);
        map[wrong[i].word] |= wrong[i].bits;
        assert_false(tensor_map_read(&read, map));
    }
}

/* Numbers and a pointer, among the parameters of a kernel of cuDNN's behind its maps. */
static void what_lies_behind_an_array_is_no_map(void **state)
{
    (void)state;
    static const uint64_t behind[][WORDS] = {{0, 0, 0, 0xa0005}, {0x7f7f0a000000}, {0}};
    struct tensor_map_read read;
    for (size_t i = 0; i < COUNT(behind); i++)
        assert_false(tensor_map_read(&read, behind[i]));
}

/* What no map was seen to have, bit by bit. How others are picked is not known of im2col maps. */
static void bits_that_are_always_zero_are_asked_for(void **state)
{
    (void)state;
    static const struct {
        unsigned from, to;
        bool tiled;
    } zeros[] = {
        {66, 67, false}, {83, 95, false}, {240, 255, false}, {431, 439, true}, {490, 511, true}};
    struct tensor_map_read read;
    uint64_t map[WORDS];
    for (size_t i = 0; i < COUNT(zeros); i++)
        for (unsigned bit = zeros[i].from; bit <= zeros[i].to; bit++) {
            memcpy(map, encoded[0].map, sizeof map);
            map[bit / 64] |= UINT64_C(1) << bit % 64;
            assert_false(tensor_map_read(&read, map));
            map[1] |= 1;
            assert_int_equal(tensor_map_read(&read, map), zeros[i].tiled);
            assert_true(read.is_im2col);
        }
}

/* ---- The driver that is asked ---- */

/* How another driver's layout differs. */
static enum {
    AS_KNOWN,
    OTHER_BASE,
    OTHER_RANK,
    OTHER_TYPES,
    OTHER_INTERLEAVE,
    OTHER_SIZES,
    OTHER_STRIDES,
    NARROW_STRIDES,
    OTHER_MODES,
    OTHER_BOX,
    OTHERS,
    FAILS = OTHERS
} layout;

static void put(uint64_t *map, unsigned at, unsigned count, uint64_t value)
{
    for (unsigned i = 0; i < count; i++)
        map[(at + i) / 64] |= (value >> i & 1) << (at + i) % 64;
}

static CUresult put_map(CUtensorMap *out, bool im2col, CUtensorMapDataType type, cuuint32_t rank,
                        const void *base, const cuuint64_t *sizes, const cuuint64_t *strides,
                        cuuint32_t side, CUtensorMapInterleave interleave)
{
    static const unsigned numbers[] = {
        [TYPE(UINT8)] = 0, [TYPE(FLOAT16)] = 6, [TYPE(BFLOAT16)] = 10, [TYPE(TFLOAT32)] = 7};
    uint64_t map[16] = {0};
    if (layout == FAILS)
        return CUDA_ERROR_NOT_SUPPORTED;
    put(map, 0, 64, (uintptr_t)base + (layout == OTHER_BASE ? 4096 : 0));
    put(map, 64, 1, im2col != (layout == OTHER_MODES));
    put(map, 68, 3, rank - (layout != OTHER_RANK));
    put(map, 71, 4, numbers[type]);
    put(map, 75, 2, layout == OTHER_INTERLEAVE ? !interleave : interleave);
    put(map, 80, 1, type == TYPE(TFLOAT32) && layout != OTHER_TYPES);
    for (cuuint32_t i = 0; i < rank; i++)
        put(map, 256 + 32 * i + (layout == OTHER_SIZES), 32, sizes[i] - 1);
    for (cuuint32_t i = 0; i + 1 < rank; i++) {
        put(map, 96 + 32 * i, 32, strides[i] >> 4 ^ (layout == OTHER_STRIDES && i == rank - 2));
        put(map, 224 + 4 * i, layout == NARROW_STRIDES ? 3 : 4, strides[i] >> 36);
    }
    put(map, layout == OTHER_BOX ? 448 : 440, 8, side - 1);
    memcpy(out, map, sizeof map);
    return CUDA_SUCCESS;
}

static CUresult encode(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *base,
                       const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
                       const cuuint32_t *steps, CUtensorMapInterleave interleave,
                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                       CUtensorMapFloatOOBfill fill)
{
    (void)steps, (void)swizzle, (void)promotion, (void)fill;
    return put_map(out, false, type, rank, base, sizes, strides, box[0], interleave);
}

static CUresult encode_im2col(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank,
                              void *base, const cuuint64_t *sizes, const cuuint64_t *strides,
                              const int *lower, const int *upper, cuuint32_t channels,
                              cuuint32_t pixels, const cuuint32_t *steps,
                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                              CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    (void)lower, (void)upper, (void)pixels, (void)steps, (void)swizzle;
    (void)promotion, (void)fill;
    return put_map(out, true, type, rank, base, sizes, strides, channels, interleave);
}

static void a_layout_is_trusted_that_the_driver_has(void **state)
{
    (void)state;
    layout = AS_KNOWN;
    assert_int_equal(tensor_map_layout_ask(encode), TENSOR_MAP_LAYOUT_KNOWN);
    assert_int_equal(tensor_map_layout_ask_im2col(encode_im2col), TENSOR_MAP_LAYOUT_KNOWN);
    for (layout = AS_KNOWN + 1; layout < OTHERS; layout++) {
        assert_int_equal(tensor_map_layout_ask(encode), TENSOR_MAP_LAYOUT_OTHER);
        if (layout != OTHER_TYPES) /* the one that it is asked for has no such bit */
            assert_int_equal(tensor_map_layout_ask_im2col(encode_im2col), TENSOR_MAP_LAYOUT_OTHER);
    }
    layout = FAILS; /* another time, perhaps */
    assert_int_equal(tensor_map_layout_ask(encode), TENSOR_MAP_LAYOUT_NOT_ASKED);
    assert_int_equal(tensor_map_layout_ask_im2col(encode_im2col), TENSOR_MAP_LAYOUT_NOT_ASKED);
    assert_int_equal(tensor_map_layout_ask(NULL), TENSOR_MAP_LAYOUT_OTHER);
    assert_int_equal(tensor_map_layout_ask_im2col(NULL), TENSOR_MAP_LAYOUT_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_driver_encoded_is_read_back),
        cmocka_unit_test(what_cublas_encoded_is_read_back),
        cmocka_unit_test(the_identity_is_all_but_the_address),
        cmocka_unit_test(other_bytes_are_no_map),
        cmocka_unit_test(what_lies_behind_an_array_is_no_map),
        cmocka_unit_test(bits_that_are_always_zero_are_asked_for),
        cmocka_unit_test(a_layout_is_trusted_that_the_driver_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
