/* Tensor maps and bulk tensor copies of the embedded device, against a plain loop: random tensors
 * of all ranks, element sizes, steps and swizzles, in boxes that reach beyond all ends. "The first
 * element of elementStrides is ignored" (CUDA Driver API, cuTensorMapEncodeTiled). */
#include "tests/unit/device/device_tensor.h"

static uint8_t expected[TENSOR_BYTES], box[BOX_BYTES];

static struct shape random_shape(void)
{
    static const CUtensorMapDataType types[] = {
        CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        CU_TENSOR_MAP_DATA_TYPE_INT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT64};
    struct shape shape = {.rank = draw(1, RANKS)};
    const unsigned which = draw(0, 3);
    shape.type = types[which];
    shape.bytes = 1u << which;
    static const struct {
        CUtensorMapSwizzle swizzle;
        unsigned most; /* bytes of the box along the innermost axis */
    } swizzles[] = {{CU_TENSOR_MAP_SWIZZLE_NONE, 64},
                    {CU_TENSOR_MAP_SWIZZLE_32B, 32},
                    {CU_TENSOR_MAP_SWIZZLE_64B, 64},
                    {CU_TENSOR_MAP_SWIZZLE_128B, 128},
                    {CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, 128},
                    {CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B, 128}};
    const unsigned chosen = draw(0, 5), most = swizzles[chosen].most;
    shape.swizzle = swizzles[chosen].swizzle;
    cuuint64_t span = 1;
    shape.box_bytes = shape.bytes;
    for (unsigned i = 0; i < shape.rank; i++) {
        shape.steps[i] = draw(0, 2) ? 1 : draw(1, 3);
        shape.count[i] = i ? draw(1, 3) : draw(1, most / 16) * 16 / shape.bytes;
        shape.box[i] = i ? (shape.count[i] - 1) * shape.steps[i] + 1 : shape.count[i];
        shape.sizes[i] = i ? draw(1, 5) : draw(1, 40);
        shape.strides[i] = i ? (span + 15) / 16 * 16 + 16 * draw(0, 1) : shape.bytes;
        span = shape.strides[i] * shape.sizes[i];
        /* "an illegal instruction" is what else a GPU says along the innermost axis */
        shape.first[i] = i ? (int)draw(0, 12) - 6 : ((int)draw(0, 8) - 3) * 16 / (int)shape.bytes;
        shape.box_bytes *= shape.count[i];
    }
    return shape;
}

/* Calls `element` for each of the box with where it lies in the tensor, or -1, and in the box. */
static void walk(const struct shape *shape,
                 void (*element)(void *user, int64_t at, unsigned place, unsigned bytes),
                 void *user)
{
    unsigned index[RANKS] = {0};
    for (unsigned place = 0; place < shape->box_bytes; place += shape->bytes) {
        int64_t at = 0;
        for (unsigned i = 0; i < shape->rank; i++) {
            const int64_t c = shape->first[i] + (int64_t)index[i] * (i ? shape->steps[i] : 1);
            at = at < 0 || c < 0 || c >= (int64_t)shape->sizes[i]
                     ? -1
                     : at + c * (int64_t)shape->strides[i];
        }
        element(user, at, turned(shape, place), shape->bytes);
        for (unsigned i = 0; i < shape->rank && ++index[i] == shape->count[i]; i++)
            index[i] = 0;
    }
}

static void load_element(void *user, int64_t at, unsigned place, unsigned bytes)
{
    (void)user;
    if (at < 0)
        memset(expected + place, 0, bytes);
    else
        memcpy(expected + place, memory + at, bytes);
}

static void store_element(void *user, int64_t at, unsigned place, unsigned bytes)
{
    (void)user;
    if (at >= 0)
        memcpy(expected + at, box + place, bytes);
}

static void loads_as_a_loop_does(void **state)
{
    (void)state;
    srand(3);
    for (int i = 0; i < CASES; i++) {
        const struct shape shape = random_shape();
        CUtensorMap map;
        ok(encode(&shape, &map));
        for (size_t k = 0; k < sizeof memory; k++)
            memory[k] = (uint8_t)rand();
        ok(cuMemcpyHtoD(tensor, memory, sizeof memory));
        run("load", &shape, &map);
        ok(cuMemcpyDtoH(found, out, reach(&shape)));
        memcpy(expected, found, reach(&shape)); /* between elements lies anything */
        walk(&shape, load_element, NULL);
        assert_memory_equal(found, expected, reach(&shape));
    }
}

static void stores_as_a_loop_does(void **state)
{
    (void)state;
    srand(4);
    for (int i = 0; i < CASES; i++) {
        struct shape shape = random_shape();
        CUtensorMap map;
        start_inside(&shape);
        ok(encode(&shape, &map));
        for (size_t k = 0; k < sizeof box; k++)
            box[k] = (uint8_t)rand();
        memset(expected, 0xee, sizeof expected);
        ok(cuMemcpyHtoD(tensor, expected, sizeof expected));
        ok(cuMemcpyHtoD(out, box, sizeof box));
        run("store", &shape, &map);
        ok(cuMemcpyDtoH(found, tensor, sizeof found));
        walk(&shape, store_element, NULL);
        assert_memory_equal(found, expected, sizeof found);
    }
}

/* A matrix whose rows are copied one by one; shape.first: a column, and four rows. */
static struct shape random_rows(void)
{
    struct shape shape = random_shape();
    while (shape.rank != 2)
        shape = random_shape();
    shape.box[1] = shape.count[1] = shape.steps[1] = 1;
    shape.sizes[1] = draw(4, 40);
    shape.box_bytes = 4 * shape.bytes * shape.count[0];
    for (int i = 1; i < RANKS; i++) { /* each another one, so that stores have one result */
        shape.first[i] = (int)draw(0, 44) - 2;
        for (int k = 1; k < i; k++)
            if (shape.first[k] == shape.first[i])
                i = k = 0;
    }
    return shape;
}

static void walk_rows(const struct shape *shape,
                      void (*element)(void *user, int64_t at, unsigned place, unsigned bytes))
{
    unsigned place = 0;
    for (unsigned row = 1; row < RANKS; row++)
        for (unsigned i = 0; i < shape->count[0]; i++, place += shape->bytes) {
            const int64_t x = shape->first[0] + (int64_t)i, y = shape->first[row];
            const bool inside =
                x >= 0 && x < (int64_t)shape->sizes[0] && y >= 0 && y < (int64_t)shape->sizes[1];
            element(NULL, inside ? x * shape->bytes + y * (int64_t)shape->strides[1] : -1,
                    turned(shape, place), shape->bytes);
        }
}

static void rows_as_a_loop_does(void **state)
{
    (void)state;
    srand(5);
    for (int i = 0; i < CASES; i++) {
        const struct shape shape = random_rows();
        CUtensorMap map;
        ok(encode(&shape, &map));
        for (size_t k = 0; k < sizeof memory; k++)
            memory[k] = (uint8_t)rand();
        ok(cuMemcpyHtoD(tensor, memory, sizeof memory));
        ok(try_to_run("load", GATHER, &shape, &map));
        ok(cuMemcpyDtoH(found, out, reach(&shape)));
        memcpy(expected, found, reach(&shape));
        walk_rows(&shape, load_element);
        assert_memory_equal(found, expected, reach(&shape));

        memcpy(box, memory, sizeof box);
        memset(expected, 0xee, sizeof expected);
        ok(cuMemcpyHtoD(tensor, expected, sizeof expected));
        ok(cuMemcpyHtoD(out, box, sizeof box));
        ok(try_to_run("store", GATHER, &shape, &map));
        ok(cuMemcpyDtoH(found, tensor, sizeof found));
        walk_rows(&shape, store_element);
        assert_memory_equal(found, expected, sizeof found);
    }
}

static CUresult encode_wide(CUtensorMap *map, CUtensorMapIm2ColWideMode mode,
                            CUtensorMapSwizzle swizzle, int lower, int upper)
{
    const cuuint64_t sizes[] = {16, 8, 8, 4}, strides[] = {64, 512, 4096};
    const cuuint32_t steps[] = {1, 1, 1, 1};
    return cuTensorMapEncodeIm2colWide(
        map, CU_TENSOR_MAP_DATA_TYPE_INT32, 4, (void *)(uintptr_t)tensor, sizes, strides, lower,
        upper, 16, 8, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, mode, swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* An axis of one element needs no stride: programs give 0 for it. */
static void an_axis_of_one_needs_no_stride(void **state)
{
    (void)state;
    struct shape shape = {.type = CU_TENSOR_MAP_DATA_TYPE_INT32,
                          .rank = 3,
                          .bytes = 4,
                          .sizes = {16, 4, 1},
                          .strides = {4, 64, 0},
                          .box = {4, 2, 1},
                          .steps = {1, 1, 1},
                          .count = {4, 2, 1},
                          .first = {4, 1, 0},
                          .box_bytes = 32};
    CUtensorMap map;
    ok(encode(&shape, &map));
    for (size_t k = 0; k < sizeof memory; k++)
        memory[k] = (uint8_t)(k * 7);
    ok(cuMemcpyHtoD(tensor, memory, sizeof memory));
    run("load", &shape, &map);
    ok(cuMemcpyDtoH(found, out, shape.box_bytes));
    walk(&shape, load_element, NULL);
    assert_memory_equal(found, expected, shape.box_bytes);
}

/* "cuTensorMapEncodeIm2colWide" */
static void wrong_lines_of_pixels_are_refused(void **state)
{
    (void)state;
    const CUtensorMapIm2ColWideMode W = CU_TENSOR_MAP_IM2COL_WIDE_MODE_W;
    const CUtensorMapSwizzle S64 = CU_TENSOR_MAP_SWIZZLE_64B;
    CUtensorMap map;
    ok(encode_wide(&map, W, S64, -32768, 32767));
    ok(encode_wide(&map, W, CU_TENSOR_MAP_SWIZZLE_128B, 0, -7));
    assert_int_equal(encode_wide(&map, W, S64, 0, -8), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(encode_wide(&map, W, S64, -32769, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(encode_wide(&map, W, S64, 0, 32768), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(encode_wide(&map, (CUtensorMapIm2ColWideMode)2, S64, 0, 0),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(encode_wide(&map, W, CU_TENSOR_MAP_SWIZZLE_NONE, 0, 0),
                     CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(encode_wide(&map, W, CU_TENSOR_MAP_SWIZZLE_32B, 0, 0),
                     CUDA_ERROR_INVALID_VALUE);
    ok(encode_wide(&map, W, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, 0, 0));
    assert_int_equal(encode_wide(&map, W, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B, 0, 0),
                     CUDA_ERROR_INVALID_VALUE);
}

static void wrong_maps_are_refused(void **state)
{
    (void)state;
    struct shape right = {.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                          .rank = 2,
                          .sizes = {64, 8},
                          .strides = {2, 128},
                          .box = {32, 4},
                          .steps = {1, 1},
                          .swizzle = CU_TENSOR_MAP_SWIZZLE_64B};
    CUtensorMap map;
    ok(encode(&right, &map));
    REFUSES(wrong.rank = 0);
    REFUSES(wrong.rank = 6);
    REFUSES(wrong.sizes[1] = 0);
    REFUSES(wrong.strides[1] = 120);
    REFUSES(wrong.box[0] = 257);
    REFUSES(wrong.box[0] = 12); /* 24 bytes */
    REFUSES(wrong.box[0] = 64); /* more than the swizzle's 64 bytes */
    REFUSES(wrong.steps[0] = 9);
    REFUSES(wrong.steps[1] = 0);
    right.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B;
    assert_int_equal(encode(&right, &map), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cuTensorMapReplaceAddress(&map, (void *)8), CUDA_ERROR_INVALID_VALUE);
    memset(&map, 0, sizeof map);
    assert_int_equal(cuTensorMapReplaceAddress(&map, (void *)16), CUDA_ERROR_INVALID_VALUE);
}

/* "cuTensorMapEncodeIm2col": corners by the rank, columns of up to 1024 pixels, whole pieces of 16
 * bytes for each pixel. */
static void wrong_columns_of_pixels_are_refused(void **state)
{
    (void)state;
    const struct {
        unsigned rank, channels, pixels, step;
        int lower, upper;
        CUresult result;
    } cases[] = {{4, 16, 64, 1, -1, -1, CUDA_SUCCESS},
                 {3, 16, 1024, 8, -32768, 32767, CUDA_SUCCESS},
                 {5, 256, 1, 1, -16, 15, CUDA_SUCCESS},
                 {2, 16, 64, 1, 0, 0, CUDA_ERROR_INVALID_VALUE},
                 {4, 257, 64, 1, 0, 0, CUDA_ERROR_INVALID_VALUE},
                 {4, 8, 64, 1, 0, 0, CUDA_ERROR_INVALID_VALUE},
                 {4, 16, 0, 1, 0, 0, CUDA_ERROR_INVALID_VALUE},
                 {4, 16, 1025, 1, 0, 0, CUDA_ERROR_INVALID_VALUE},
                 {4, 16, 64, 9, 0, 0, CUDA_ERROR_INVALID_VALUE},
                 {4, 16, 64, 1, -129, 0, CUDA_ERROR_INVALID_VALUE},
                 {4, 16, 64, 1, 0, 128, CUDA_ERROR_INVALID_VALUE},
                 {5, 16, 64, 1, 0, 16, CUDA_ERROR_INVALID_VALUE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUtensorMap map;
        const cuuint64_t sizes[] = {16, 8, 8, 4, 2}, strides[] = {16, 128, 1024, 4096};
        const int lower[] = {cases[i].lower, 0, 0}, upper[] = {cases[i].upper, 0, 0};
        const cuuint32_t steps[] = {1, cases[i].step, 1, 1, 1};
        assert_int_equal(cuTensorMapEncodeIm2col(
                             &map, CU_TENSOR_MAP_DATA_TYPE_UINT8, cases[i].rank,
                             (void *)(uintptr_t)tensor, sizes, strides, lower, upper,
                             cases[i].channels, cases[i].pixels, steps,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                         cases[i].result);
    }
}

static void an_address_is_replaced(void **state)
{
    (void)state;
    struct shape shape = {.type = CU_TENSOR_MAP_DATA_TYPE_INT32,
                          .rank = 1,
                          .bytes = 4,
                          .sizes = {64},
                          .strides = {4},
                          .box = {8},
                          .steps = {1},
                          .count = {8},
                          .box_bytes = 32};
    CUtensorMap map;
    ok(encode(&shape, &map));
    for (size_t k = 0; k < sizeof memory; k++)
        memory[k] = (uint8_t)k;
    ok(cuMemcpyHtoD(tensor, memory, sizeof memory));
    ok(cuTensorMapReplaceAddress(&map, (void *)(uintptr_t)(tensor + 64)));
    run("load", &shape, &map);
    ok(cuMemcpyDtoH(found, out, 32));
    assert_memory_equal(found, memory + 64, 32);
}

/* Each byte of a map in turn, with all values: it is refused, or what is copied lies in the shared
 * memory that it reaches over. */
static void maps_that_were_written_over(void **state)
{
    (void)state;
    struct shape shape = {.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                          .rank = 2,
                          .sizes = {64, 8},
                          .strides = {2, 128},
                          .box = {32, 3},
                          .steps = {1, 1},
                          .swizzle = CU_TENSOR_MAP_SWIZZLE_64B};
    CUtensorMap encoded;
    struct tensor_map map;
    unsigned refused = 0;
    ok(encode(&shape, &encoded));
    for (size_t i = 0; i < sizeof map; i++)
        for (int value = 0; value < 256; value++) {
            memcpy(&map, &encoded, sizeof map);
            ((uint8_t *)&map)[i] = (uint8_t)value;
            if (!tensor_map_is_valid(&map)) {
                refused++;
                continue;
            }
            const uint64_t end = tensor_map_box_bytes(&map),
                           reach = tensor_map_shared_bytes(&map, end);
            const uint32_t all = tensor_map_held_bytes(&map),
                           held =
                               all < TENSOR_PIECE ? all : TENSOR_PIECE; /* a swizzle turns pieces */
            for (uint64_t at = 0; at < end; at += held)
                assert_true(tensor_map_shared_place(&map, 3 * TENSOR_SHARED_ALIGNMENT, at) + held <=
                            reach);
        }
    assert_true(refused > 3000);
}

/* Which ends the context: the last test. */
static void a_halo_that_no_section_places_fails(void **state)
{
    (void)state;
    struct shape shape = {.first = {0, 0, 0, 0, 0}, .box_bytes = 128 * 64};
    CUtensorMap map;
    ok(encode_wide(&map, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128, CU_TENSOR_MAP_SWIZZLE_64B, 0, 0));
    ok(try_to_run("load", WIDE_128, &shape, &map));
    shape.first[4] = 1;
    assert_int_equal(try_to_run("load", WIDE_128, &shape, &map), CUDA_ERROR_LAUNCH_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_as_a_loop_does),
        cmocka_unit_test(stores_as_a_loop_does),
        cmocka_unit_test(rows_as_a_loop_does),
        cmocka_unit_test(an_axis_of_one_needs_no_stride),
        cmocka_unit_test(wrong_lines_of_pixels_are_refused),
        cmocka_unit_test(wrong_columns_of_pixels_are_refused),
        cmocka_unit_test(wrong_maps_are_refused),
        cmocka_unit_test(an_address_is_replaced),
        cmocka_unit_test(maps_that_were_written_over),
        cmocka_unit_test(a_halo_that_no_section_places_fails),
    };
    return cmocka_run_group_tests_name("device_tensor", tests, start, NULL);
}
