/* Loads of interleaved tensors, against what a GPU loaded. */
#include "tests/unit/device/device_tensor.h"

/* What an H200 (driver 580, CUDA 13.0) said to maps of interleaved tensors, and where 16 bytes of
 * the box in shared memory came from: -1: they are zero. */
/* clang-format off */
#define TYPE(name) CU_TENSOR_MAP_DATA_TYPE_##name
static const struct {
    CUtensorMapDataType type;
    unsigned rank;
    cuuint64_t sizes[RANKS], strides[RANKS - 1];
    cuuint32_t box[RANKS], steps[RANKS];
    int interleave, swizzle, first[RANKS], result;
    unsigned box_bytes;
    struct {
        int place, at;
    } pieces[6];
} interleaved[] = {
    {TYPE(UINT16), 3, {32, 10, 4}, {0x400, 0x1800}, {8, 3, 2}, {1, 1, 1}, 1, 0, {0, 0, 0}, 0, 256,
     {{0x0, 0x0}, {0x10, 0x10}, {0x30, 0x30}, {0x90, 0x1810}, {0xd0, 0x1850}, {0xf0, 0x1870}}},
    {TYPE(UINT16), 3, {32, 10, 4}, {0x400, 0x1800}, {16, 3, 2}, {1, 1, 1}, 1, 0, {0, 0, 0}, 0, 512,
     {{0x0, 0x0}, {0x10, 0x10}, {0x60, 0x60}, {0xf0, 0xf0}, {0x190, 0x1890}, {0x1f0, 0x18f0}}},
    {TYPE(UINT16), 3, {32, 10, 4}, {0x400, 0x1800}, {1, 3, 2}, {1, 1, 1}, 1, 0, {0, 0, 0}, 1, 0,
     {{0}}},
    {TYPE(UINT16), 3, {32, 10, 4}, {0x400, 0x1800}, {2, 3, 2}, {1, 1, 1}, 1, 0, {1, 1, 1}, 1, 0,
     {{0}}},
    {TYPE(UINT16), 3, {32, 10, 4}, {0x400, 0x1800}, {8, 3, 2}, {1, 1, 1}, 1, 0, {1, 1, 1}, 0, 256,
     {{0x0, 0x1c10}, {0x10, 0x1c20}, {0x30, 0x1c40}, {0x90, 0x3420}, {0xd0, 0x3460}, {0xf0, 0x3480}}},
    {TYPE(UINT16), 3, {32, 10, 4}, {0x400, 0x1800}, {8, 3, 2}, {1, 1, 1}, 1, 0, {8, 8, 3}, 0, 256,
     {{0x0, 0x6880}, {0x10, 0x6890}, {0x30, 0x68b0}, {0x90, -1}, {0xd0, -1}, {0xf0, -1}}},
    {TYPE(UINT16), 3, {4, 10, 4}, {0x400, 0x1800}, {2, 3, 2}, {1, 1, 1}, 1, 0, {1, 1, 1}, 1, 0,
     {{0}}},
    {TYPE(UINT16), 3, {20, 10, 4}, {0x400, 0x1800}, {8, 3, 2}, {1, 1, 1}, 1, 0, {16, 0, 0}, 0, 256,
     {{0x0, 0x100}, {0x10, 0x110}, {0x30, 0x130}, {0x90, 0x1910}, {0xd0, -1}, {0xf0, -1}}},
    {TYPE(UINT16), 3, {64, 10, 4}, {0x400, 0x1800}, {32, 4, 2}, {2, 2, 1}, 1, 0, {0, 0, 0}, 0, 512,
     {{0x0, 0x0}, {0x10, 0x20}, {0x60, 0xc0}, {0xf0, 0x1e0}, {0x190, 0x1920}, {0x1f0, 0x19e0}}},
    {TYPE(UINT16), 3, {64, 10, 4}, {0x400, 0x1800}, {64, 4, 2}, {8, 2, 1}, 1, 0, {0, 0, 0}, 0, 256,
     {{0x0, 0x0}, {0x10, 0x80}, {0x30, 0x180}, {0x90, 0x1880}, {0xd0, 0x1a80}, {0xf0, 0x1b80}}},
    {TYPE(UINT16), 4, {32, 10, 4, 3}, {0x200, 0xc00, 0x3000}, {16, 3, 2, 2}, {1, 1, 1, 1}, 1, 0, {0, 0, 0, 0}, 0, 1536,
     {{0x0, 0x0}, {0x10, 0x10}, {0x130, 0x230}, {0x290, 0x490}, {0x490, 0x3290}, {0x5f0, 0x34f0}}},
    {TYPE(UINT16), 4, {32, 10, 4, 3}, {0x200, 0xc00, 0x3000}, {16, 3, 2, 2}, {1, 1, 1, 1}, 1, 0, {8, -1, 1, 1}, 0, 1536,
     {{0x0, -1}, {0x10, -1}, {0x130, 0x3cb0}, {0x290, 0x3f10}, {0x490, 0x6d10}, {0x5f0, 0x6f70}}},
    {TYPE(UINT16), 5, {32, 5, 4, 3, 2}, {0x100, 0x600, 0x1800, 0x6000}, {16, 2, 2, 2, 2}, {1, 1, 1, 1, 1}, 1, 0, {8, 1, 1, 1, 0}, 0, 2048,
     {{0x0, 0x1f80}, {0x10, 0x1f90}, {0x130, 0x20b0}, {0x290, 0x2610}, {0x490, 0x8010}, {0x5f0, 0x8170}}},
    {TYPE(UINT16), 5, {32, 5, 4, 3, 2}, {0x100, 0x600, 0x1800, 0x6000}, {16, 2, 2, 2, 2}, {1, 1, 1, 1, 1}, 1, 0, {-8, 4, 3, 2, 1}, 0, 2048,
     {{0x0, -1}, {0x10, -1}, {0x130, -1}, {0x290, -1}, {0x490, -1}, {0x5f0, -1}}},
    {TYPE(UINT16), 3, {32, 10, 4}, {0x400, 0x1800}, {32, 6, 2}, {1, 1, 1}, 1, 1, {0, 0, 0}, 0, 1024,
     {{0x0, 0x0}, {0x10, 0x10}, {0xc0, 0xd0}, {0x1c0, 0x1d0}, {0x310, 0x1910}, {0x3f0, 0x19e0}}},
    {TYPE(UINT16), 3, {32, 10, 4}, {0x400, 0x1800}, {32, 6, 2}, {1, 1, 1}, 1, 2, {0, 0, 0}, 0, 1024,
     {{0x0, 0x0}, {0x10, 0x10}, {0xc0, 0xd0}, {0x1c0, 0x1f0}, {0x310, 0x1930}, {0x3f0, 0x19c0}}},
    {TYPE(UINT16), 3, {32, 10, 4}, {0x400, 0x1800}, {32, 6, 2}, {1, 1, 1}, 1, 3, {0, 0, 0}, 0, 1024,
     {{0x0, 0x0}, {0x10, 0x10}, {0xc0, 0xd0}, {0x1c0, 0x1f0}, {0x310, 0x1970}, {0x3f0, 0x1980}}},
    {TYPE(UINT16), 3, {64, 10, 4}, {0x400, 0x1800}, {16, 3, 2}, {1, 1, 1}, 2, 1, {0, 0, 0}, 0, 1024,
     {{0x0, 0x0}, {0x10, 0x10}, {0xc0, 0xd0}, {0x1c0, 0x1d0}, {0x310, 0x1910}, {0x3f0, 0x19e0}}},
    {TYPE(UINT16), 3, {64, 10, 4}, {0x400, 0x1800}, {32, 6, 2}, {1, 1, 1}, 2, 1, {0, 0, 0}, 0, 2048,
     {{0x0, 0x0}, {0x10, 0x10}, {0x130, 0x130}, {0x290, 0x280}, {0x490, 0x1880}, {0x5f0, 0x19e0}}},
    {TYPE(UINT16), 3, {64, 10, 4}, {0x400, 0x1800}, {2, 6, 2}, {1, 1, 1}, 2, 1, {1, 0, 0}, 1, 0,
     {{0}}},
    {TYPE(UINT16), 4, {64, 10, 4, 3}, {0x200, 0xc00, 0x3000}, {32, 3, 2, 2}, {1, 1, 1, 1}, 2, 1, {16, 1, 1, 1}, 0, 6144,
     {{0x0, 0x4000}, {0x10, 0x4010}, {0x130, 0x4130}, {0x290, 0x4280}, {0x490, 0x4280}, {0x5f0, 0x43e0}}},
    {TYPE(INT32), 4, {32, 10, 4, 3}, {0x200, 0xc00, 0x3000}, {16, 3, 2, 2}, {1, 1, 1, 1}, 2, 1, {8, 1, 1, 1}, 0, 3072,
     {{0x0, 0x3f00}, {0x10, 0x3f10}, {0x130, 0x4030}, {0x290, 0x4180}, {0x490, 0x4380}, {0x5f0, 0x44e0}}},
    {TYPE(INT32), 4, {32, 10, 4, 3}, {0x200, 0xc00, 0x3000}, {8, 3, 2, 2}, {1, 1, 1, 1}, 1, 0, {4, 1, 1, 1}, 0, 768,
     {{0x0, 0x3e40}, {0x10, 0x3e50}, {0x90, 0x4050}, {0x160, 0x42a0}, {0x250, 0x7090}, {0x2f0, 0x72b0}}},
    {TYPE(UINT16), 2, {32, 10}, {0x400}, {8, 3}, {1, 1}, 1, 0, {0, 0}, 1, 0,
     {{0}}},
};
/* clang-format on */

static CUresult encode_interleaved(size_t i, CUtensorMap *map)
{
    return cuTensorMapEncodeTiled(
        map, interleaved[i].type, interleaved[i].rank, (void *)(uintptr_t)tensor,
        interleaved[i].sizes, interleaved[i].strides, interleaved[i].box, interleaved[i].steps,
        (CUtensorMapInterleave)interleaved[i].interleave,
        (CUtensorMapSwizzle)interleaved[i].swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static void interleaved_boxes_lie_where_a_gpu_has_them(void **state)
{
    static const uint8_t zeros[TENSOR_PIECE];
    (void)state;
    for (size_t k = 0; k < sizeof memory; k++)
        memory[k] = (uint8_t)((k / 2 + 1) >> k % 2 * 8);
    ok(cuMemcpyHtoD(tensor, memory, sizeof memory));
    for (size_t i = 0; i < sizeof interleaved / sizeof *interleaved; i++) {
        CUtensorMap map;
        assert_int_equal(encode_interleaved(i, &map), interleaved[i].result);
        if (interleaved[i].result)
            continue;
        struct shape shape = {.rank = interleaved[i].rank, .box_bytes = interleaved[i].box_bytes};
        memcpy(shape.first, interleaved[i].first, sizeof shape.first);
        run("load", &shape, &map); /* the mbarrier counts box_bytes */
        ok(cuMemcpyDtoH(found, out, reach(&shape)));
        for (size_t p = 0; p < 6 && (!p || interleaved[i].pieces[p].place); p++) {
            const int at = interleaved[i].pieces[p].at;
            assert_memory_equal(found + interleaved[i].pieces[p].place,
                                at < 0 ? zeros : memory + at, TENSOR_PIECE);
        }
    }
}

/* Of swizzles with atoms nothing was measured. Wide im2col modes have no interleaved tensors. */
static void other_interleaved_tensors_are_refused(void **state)
{
    (void)state;
    const cuuint64_t sizes[] = {32, 10, 4}, strides[] = {0x400, 0x1800}, odd[] = {0x410, 0x1800};
    const cuuint32_t wide[] = {16, 9, 1}, narrow[] = {16, 8, 1}, steps[] = {1, 1, 1};
    const struct {
        const cuuint32_t *box;
        const cuuint64_t *strides;
        CUtensorMapInterleave interleave;
        CUtensorMapSwizzle swizzle;
        CUtensorMapFloatOOBfill fill;
        CUresult result;
    } cases[] = {{narrow, strides, 1, 0, 0, CUDA_SUCCESS},
                 {narrow, strides, 2, 1, 0, CUDA_SUCCESS},
                 {wide, strides, 1, 0, 0, CUDA_SUCCESS},
                 {narrow, strides, 1, 0, 1, CUDA_SUCCESS},
                 {narrow, strides, 1, 4, 0, CUDA_ERROR_NOT_SUPPORTED},
                 {narrow, strides, 2, 0, 0, CUDA_ERROR_INVALID_VALUE},
                 {narrow, odd, 2, 1, 0, CUDA_ERROR_INVALID_VALUE},
                 {narrow, odd, 1, 0, 0, CUDA_SUCCESS},
                 {narrow, strides, 3, 0, 0, CUDA_ERROR_INVALID_VALUE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUtensorMap map;
        assert_int_equal(cuTensorMapEncodeTiled(
                             &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, (void *)(uintptr_t)tensor,
                             sizes, cases[i].strides, cases[i].box, steps, cases[i].interleave,
                             cases[i].swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, cases[i].fill),
                         cases[i].result);
    }
    CUtensorMap map;
    assert_int_equal(cuTensorMapEncodeIm2colWide(
                         &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, (void *)(uintptr_t)tensor, sizes,
                         strides, 0, 0, 32, 4, steps, CU_TENSOR_MAP_INTERLEAVE_16B,
                         CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, CU_TENSOR_MAP_SWIZZLE_64B,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                     CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleaved_boxes_lie_where_a_gpu_has_them),
        cmocka_unit_test(other_interleaved_tensors_are_refused),
    };
    return cmocka_run_group_tests_name("device_tensor_interleave", tests, start, NULL);
}
