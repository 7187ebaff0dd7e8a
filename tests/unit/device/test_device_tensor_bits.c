/* Bulk tensor copies of values of four and six bits, against plain loops. */
#include "tests/unit/device/device_tensor.h"

static uint8_t expected[TENSOR_BYTES], box[BOX_BYTES];

/* Of four and six bits (PTX ISA 5.5.1.1): packed in the tensor, and in shared memory as they are or
 * 16 values in 16 bytes. */
struct packed {
    CUtensorMapDataType type;
    unsigned bits, held; /* held: bytes of 16 values in shared memory */
};

enum { PACKED_ROWS = 6, PACKED_BOX = 128, PACKED_BOX_ROWS = 3 };

static struct shape packed_shape(const struct packed *what)
{
    struct shape shape = {
        .type = what->type,
        .rank = 2,
        .bytes = 1,
        .sizes = {2 * PACKED_BOX, PACKED_ROWS},
        .box = {PACKED_BOX, PACKED_BOX_ROWS},
        .steps = {1, 1},
        .swizzle = draw(0, 1) ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_128B,
        .first = {(int)draw(0, 3) * PACKED_BOX - PACKED_BOX, (int)draw(0, 6) - 2}};
    shape.strides[1] = (2 * PACKED_BOX * what->bits / 8 + 31) / 32 * 32;
    shape.box_bytes = PACKED_BOX * PACKED_BOX_ROWS * what->held / 16;
    return shape;
}

static unsigned value_of(const uint8_t *bytes, unsigned bits, unsigned index)
{
    unsigned value = 0;
    for (unsigned i = 0; i < bits; i++)
        value |= (bytes[(index * bits + i) / 8] >> (index * bits + i) % 8 & 1u) << i;
    return value;
}

static void set_value(uint8_t *bytes, unsigned bits, unsigned index, unsigned value)
{
    for (unsigned i = 0; i < bits; i++) {
        const unsigned at = index * bits + i;
        bytes[at / 8] = (uint8_t)((bytes[at / 8] & ~(1u << at % 8)) | (value >> i & 1u) << at % 8);
    }
}

/* Whether value `x` of row `y` of the box lies in the tensor, whose row and value it is then. */
static bool packed_place(const struct shape *shape, unsigned x, unsigned y, uint64_t *row,
                         unsigned *index)
{
    const int64_t column = shape->first[0] + (int64_t)x, line = shape->first[1] + (int64_t)y;
    *row = (uint64_t)line * shape->strides[1];
    *index = (unsigned)column;
    return column >= 0 && column < 2 * PACKED_BOX && line >= 0 && line < PACKED_ROWS;
}

static void bits_are_loaded(void **state)
{
    static const struct packed types[] = {{CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, 4, 8},
                                          {CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, 4, 16},
                                          {CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, 6, 16}};
    (void)state;
    srand(6);
    for (int i = 0; i < CASES; i++) {
        const struct packed *what = &types[i % 3];
        struct shape shape = packed_shape(what);
        CUtensorMap map;
        if (what->bits == 4 && what->held == 8)
            shape.swizzle = draw(0, 1) ? CU_TENSOR_MAP_SWIZZLE_64B : shape.swizzle;
        ok(encode(&shape, &map));
        for (size_t k = 0; k < sizeof memory; k++)
            memory[k] = (uint8_t)rand();
        ok(cuMemcpyHtoD(tensor, memory, sizeof memory));
        counted = PACKED_BOX * PACKED_BOX_ROWS * what->bits / 8;
        run("load", &shape, &map);
        counted = 0;
        ok(cuMemcpyDtoH(found, out, shape.box_bytes));
        for (unsigned y = 0; y < PACKED_BOX_ROWS; y++)
            for (unsigned x = 0; x < PACKED_BOX; x++) {
                uint64_t row;
                unsigned index;
                const bool inside = packed_place(&shape, x, y, &row, &index);
                const unsigned group = (y * PACKED_BOX + x) / 16;
                assert_int_equal(
                    value_of(found + turned(&shape, group * what->held), what->bits, x % 16),
                    inside ? value_of(memory + row, what->bits, index) : 0);
            }
    }
}

/* ".b6p2x16": a byte each in shared memory, whose upper two bits are dropped. */
static void bits_are_stored(void **state)
{
    static const struct packed types[] = {{CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, 4, 8},
                                          {CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, 6, 16}};
    (void)state;
    srand(7);
    for (int i = 0; i < CASES; i++) {
        const struct packed *what = &types[i % 2];
        struct shape shape = packed_shape(what);
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
        for (unsigned y = 0; y < PACKED_BOX_ROWS; y++)
            for (unsigned x = 0; x < PACKED_BOX; x++) {
                uint64_t row;
                unsigned index;
                const uint8_t *group = box + turned(&shape, (y * PACKED_BOX + x) / 16 * what->held);
                if (packed_place(&shape, x, y, &row, &index))
                    set_value(expected + row, what->bits, index,
                              what->bits == 4 ? value_of(group, 4, x % 16) : group[x % 16] & 63u);
            }
        assert_memory_equal(found, expected, sizeof found);
    }
}

/* "Restriction on Tensor Copy instructions", and what cuTensorMapEncodeTiled says of these types.
 */
static void wrong_maps_of_bits_are_refused(void **state)
{
    (void)state;
    const struct packed padded = {CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, 6, 16};
    struct shape right = packed_shape(&padded);
    CUtensorMap map;
    ok(encode(&right, &map));
    REFUSES(wrong.sizes[0] = 192);
    REFUSES(wrong.box[0] = 64);
    REFUSES(wrong.strides[1] = 208);
    REFUSES(wrong.swizzle = CU_TENSOR_MAP_SWIZZLE_64B);
    REFUSES(wrong.type = (CUtensorMapDataType)16);
    right.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
    right.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    ok(encode(&right, &map));
    REFUSES(wrong.sizes[0] = 191);
    REFUSES(wrong.box[0] = 48);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_loaded),
        cmocka_unit_test(bits_are_stored),
        cmocka_unit_test(wrong_maps_of_bits_are_refused),
    };
    return cmocka_run_group_tests_name("device_tensor_bits", tests, start, NULL);
}
