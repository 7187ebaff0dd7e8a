/* Tensor maps and bulk tensor copies of the embedded device, against a plain loop: random tensors
 * of all ranks, element sizes, steps and swizzles, in boxes that reach beyond all ends. "The first
 * element of elementStrides is ignored" (CUDA Driver API, cuTensorMapEncodeTiled). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda.h>
#include "runtime/device/exec/tensor/tensor_map.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ok(call) assert_int_equal((call), CUDA_SUCCESS)

enum { RANKS = 5, TENSOR_BYTES = 1 << 16, BOX_BYTES = 16 << 10, CASES = 150 };

static CUcontext context;
static CUmodule module;
static CUdeviceptr tensor, out;

enum { GATHER = 6, WIDE_128 }; /* in place of a rank */

/* load_N(map, c0...c4, out, bytes, counted): the box as it lies in shared memory. store_N(map,
 * c0...c4, in, bytes): a box from memory. load_6 gathers four rows, and store_6 scatters to them.
 * load_7 has a line of 128 pixels, with a halo of c4. */
static void write_kernel(FILE *file, int rank, bool loads)
{
    const char *const mode = rank == WIDE_128 ? "im2col::w::128"
                             : rank == GATHER ? (loads ? "tile::gather4" : "tile::scatter4")
                                              : "tile";
    static const char *const coordinates[] = {"{%c0}",
                                              "{%c0, %c1}",
                                              "{%c0, %c1, %c2}",
                                              "{%c0, %c1, %c2, %c3}",
                                              "{%c0, %c1, %c2, %c3, %c4}",
                                              "{%c0, %c1, %c2, %c3, %c4}",
                                              "{%c0, %c1, %c2, %c3}"};
    const int named = rank == GATHER ? 2 : rank == WIDE_128 ? 4 : rank;
    fprintf(file,
            ".visible .entry %s_%d(.param .align 64 .b8 m[128], .param .b32 p0, .param .b32 p1, "
            ".param .b32 p2, .param .b32 p3, .param .b32 p4, .param .u64 o, .param .u32 n, "
            ".param .u32 e)\n{\n"
            ".reg .b64 %%rd<8>;\n.reg .b16 %%h<3>;\n.reg .b32 %%r<8>;\n.reg .b32 %%c<5>;\n.reg "
            ".pred %%p<3>;\n"
            ".shared .align 1024 .b8 box[%d];\n.shared .align 8 .b64 bar;\n"
            "mov.b64 %%rd1, m;\ncvta.param.u64 %%rd2, %%rd1;\nld.param.u64 %%rd3, [o];\n"
            "ld.param.u32 %%r1, [n];\nld.param.u32 %%r7, [e];\nmov.u32 %%r2, box;\nmov.u32 %%r3, "
            "bar;\n",
            loads ? "load" : "store", rank, BOX_BYTES);
    for (int i = 0; i < RANKS; i++)
        fprintf(file, "ld.param.b32 %%c%d, [p%d];\n", i, i);
    if (loads)
        fprintf(file,
                "mbarrier.init.shared.b64 [%%r3], 1;\n"
                "mbarrier.arrive.expect_tx.shared.b64 _, [%%r3], %%r7;\n"
                "cvt.u16.u32 %%h1, %%c4;\nmov.u16 %%h2, 0;\n"
                "cp.async.bulk.tensor.%dd.shared::cluster.global.%s.mbarrier::complete_tx::bytes "
                "[%%r2], [%%rd2, %s], [%%r3]%s;\n"
                "$W:\nmbarrier.try_wait.parity.shared.b64 %%p1, [%%r3], 0;\n@!%%p1 bra $W;\n",
                named, mode, coordinates[rank - 1], rank == WIDE_128 ? ", {%h1, %h2}" : "");
    fprintf(file, "mov.u32 %%r4, 0;\n$L:\nadd.s32 %%r5, %%r2, %%r4;\ncvt.u64.u32 %%rd4, %%r4;\n"
                  "add.s64 %%rd5, %%rd3, %%rd4;\n");
    fprintf(file, loads ? "ld.shared.u32 %%r6, [%%r5];\nst.global.u32 [%%rd5], %%r6;\n"
                        : "ld.global.u32 %%r6, [%%rd5];\nst.shared.u32 [%%r5], %%r6;\n");
    fprintf(file, "add.s32 %%r4, %%r4, 4;\nsetp.lt.u32 %%p2, %%r4, %%r1;\n@%%p2 bra $L;\n");
    if (!loads)
        fprintf(file,
                "cp.async.bulk.tensor.%dd.global.shared::cta.%s.bulk_group [%%rd2, %s], [%%r2];\n"
                "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
                named, mode, coordinates[rank - 1]);
    fprintf(file, "ret;\n}\n");
}

static int start(void **state)
{
    char *text = NULL;
    size_t bytes;
    (void)state;
    FILE *file = open_memstream(&text, &bytes);
    fprintf(file, ".version 8.0\n.target sm_90\n.address_size 64\n");
    for (int rank = 1; rank <= GATHER; rank++) {
        write_kernel(file, rank, true);
        write_kernel(file, rank, false);
    }
    write_kernel(file, WIDE_128, true);
    fclose(file);
    int failed = cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
                 cuModuleLoadData(&module, text) || cuMemAlloc(&tensor, TENSOR_BYTES) ||
                 cuMemAlloc(&out, BOX_BYTES);
    free(text);
    return failed;
}

struct shape {
    CUtensorMapDataType type;
    unsigned rank, bytes;
    cuuint64_t sizes[RANKS], strides[RANKS]; /* strides[0]: an element */
    cuuint32_t box[RANKS], steps[RANKS], count[RANKS];
    CUtensorMapSwizzle swizzle;
    int first[RANKS];
    unsigned box_bytes;
};

static unsigned draw(unsigned least, unsigned most)
{
    return least + (unsigned)rand() % (most - least + 1);
}

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

static CUresult encode(const struct shape *shape, CUtensorMap *map)
{
    return cuTensorMapEncodeTiled(
        map, shape->type, shape->rank, (void *)(uintptr_t)tensor, shape->sizes, shape->strides + 1,
        shape->box, shape->steps, CU_TENSOR_MAP_INTERLEAVE_NONE, shape->swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* The tables of "Swizzling Modes": by its number, a line of 128 bytes has other columns. */
static unsigned turned(const struct shape *shape, unsigned offset)
{
    const unsigned line = offset >> 7;
    switch (shape->swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_32B:
        return offset ^ (line & 1) << 4;
    case CU_TENSOR_MAP_SWIZZLE_64B:
        return offset ^ (line & 3) << 4;
    case CU_TENSOR_MAP_SWIZZLE_128B:
        return offset ^ (line & 7) << 4;
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B:
        return offset ^ (line & 3) << 5;
    case CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B:
        return offset ^ (line & 1) << 6;
    default:
        return offset;
    }
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

/* Bytes of shared memory that hold the box: a swizzle turns whole lines. */
static unsigned reach(const struct shape *shape)
{
    return (shape->box_bytes + 127) / 128 * 128;
}

static unsigned counted; /* bytes that the mbarrier counts; 0: those of the box */

/* `which`: a rank, or what is in place of one. */
static CUresult try_to_run(const char *what, unsigned which, const struct shape *shape,
                           const CUtensorMap *map)
{
    char name[16];
    CUfunction function;
    int first[RANKS];
    unsigned bytes = reach(shape);
    unsigned expect = counted ? counted : shape->box_bytes;
    memcpy(first, shape->first, sizeof first);
    void *parameters[] = {(void *)map, &first[0], &first[1], &first[2], &first[3],
                          &first[4],   &out,      &bytes,    &expect};
    snprintf(name, sizeof name, "%s_%u", what, which);
    ok(cuModuleGetFunction(&function, module, name));
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    return cuCtxSynchronize();
}

static void run(const char *what, const struct shape *shape, const CUtensorMap *map)
{
    ok(try_to_run(what, shape->rank, shape, map));
}

static uint8_t memory[TENSOR_BYTES], expected[TENSOR_BYTES], box[BOX_BYTES], found[TENSOR_BYTES];

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
        const struct shape shape = random_shape();
        CUtensorMap map;
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

#define REFUSES(change)                                                                            \
    do {                                                                                           \
        struct shape wrong = right;                                                                \
        change;                                                                                    \
        assert_int_equal(encode(&wrong, &map), CUDA_ERROR_INVALID_VALUE);                          \
    } while (0)

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

/* What an H200 (driver 580, CUDA 13.0) said to maps of interleaved tensors, and where 16 bytes of
 * the box in shared memory came from: -1: they are zero. */
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
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {32, 10, 4},
     {0x400, 0x1800},
     {8, 3, 2},
     {1, 1, 1},
     1,
     0,
     {0, 0, 0},
     0,
     256,
     {{0x0, 0x0}, {0x10, 0x10}, {0x30, 0x30}, {0x90, 0x1810}, {0xd0, 0x1850}, {0xf0, 0x1870}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {32, 10, 4},
     {0x400, 0x1800},
     {16, 3, 2},
     {1, 1, 1},
     1,
     0,
     {0, 0, 0},
     0,
     512,
     {{0x0, 0x0}, {0x10, 0x10}, {0x60, 0x60}, {0xf0, 0xf0}, {0x190, 0x1890}, {0x1f0, 0x18f0}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {32, 10, 4},
     {0x400, 0x1800},
     {1, 3, 2},
     {1, 1, 1},
     1,
     0,
     {0, 0, 0},
     1,
     0,
     {{0}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {32, 10, 4},
     {0x400, 0x1800},
     {2, 3, 2},
     {1, 1, 1},
     1,
     0,
     {1, 1, 1},
     1,
     0,
     {{0}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {32, 10, 4},
     {0x400, 0x1800},
     {8, 3, 2},
     {1, 1, 1},
     1,
     0,
     {1, 1, 1},
     0,
     256,
     {{0x0, 0x1c10},
      {0x10, 0x1c20},
      {0x30, 0x1c40},
      {0x90, 0x3420},
      {0xd0, 0x3460},
      {0xf0, 0x3480}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {32, 10, 4},
     {0x400, 0x1800},
     {8, 3, 2},
     {1, 1, 1},
     1,
     0,
     {8, 8, 3},
     0,
     256,
     {{0x0, 0x6880}, {0x10, 0x6890}, {0x30, 0x68b0}, {0x90, -1}, {0xd0, -1}, {0xf0, -1}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {4, 10, 4},
     {0x400, 0x1800},
     {2, 3, 2},
     {1, 1, 1},
     1,
     0,
     {1, 1, 1},
     1,
     0,
     {{0}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {20, 10, 4},
     {0x400, 0x1800},
     {8, 3, 2},
     {1, 1, 1},
     1,
     0,
     {16, 0, 0},
     0,
     256,
     {{0x0, 0x100}, {0x10, 0x110}, {0x30, 0x130}, {0x90, 0x1910}, {0xd0, -1}, {0xf0, -1}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {64, 10, 4},
     {0x400, 0x1800},
     {32, 4, 2},
     {2, 2, 1},
     1,
     0,
     {0, 0, 0},
     0,
     512,
     {{0x0, 0x0}, {0x10, 0x20}, {0x60, 0xc0}, {0xf0, 0x1e0}, {0x190, 0x1920}, {0x1f0, 0x19e0}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {64, 10, 4},
     {0x400, 0x1800},
     {64, 4, 2},
     {8, 2, 1},
     1,
     0,
     {0, 0, 0},
     0,
     256,
     {{0x0, 0x0}, {0x10, 0x80}, {0x30, 0x180}, {0x90, 0x1880}, {0xd0, 0x1a80}, {0xf0, 0x1b80}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     4,
     {32, 10, 4, 3},
     {0x200, 0xc00, 0x3000},
     {16, 3, 2, 2},
     {1, 1, 1, 1},
     1,
     0,
     {0, 0, 0, 0},
     0,
     1536,
     {{0x0, 0x0}, {0x10, 0x10}, {0x130, 0x230}, {0x290, 0x490}, {0x490, 0x3290}, {0x5f0, 0x34f0}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     4,
     {32, 10, 4, 3},
     {0x200, 0xc00, 0x3000},
     {16, 3, 2, 2},
     {1, 1, 1, 1},
     1,
     0,
     {8, -1, 1, 1},
     0,
     1536,
     {{0x0, -1}, {0x10, -1}, {0x130, 0x3cb0}, {0x290, 0x3f10}, {0x490, 0x6d10}, {0x5f0, 0x6f70}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     5,
     {32, 5, 4, 3, 2},
     {0x100, 0x600, 0x1800, 0x6000},
     {16, 2, 2, 2, 2},
     {1, 1, 1, 1, 1},
     1,
     0,
     {8, 1, 1, 1, 0},
     0,
     2048,
     {{0x0, 0x1f80},
      {0x10, 0x1f90},
      {0x130, 0x20b0},
      {0x290, 0x2610},
      {0x490, 0x8010},
      {0x5f0, 0x8170}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     5,
     {32, 5, 4, 3, 2},
     {0x100, 0x600, 0x1800, 0x6000},
     {16, 2, 2, 2, 2},
     {1, 1, 1, 1, 1},
     1,
     0,
     {-8, 4, 3, 2, 1},
     0,
     2048,
     {{0x0, -1}, {0x10, -1}, {0x130, -1}, {0x290, -1}, {0x490, -1}, {0x5f0, -1}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {32, 10, 4},
     {0x400, 0x1800},
     {32, 6, 2},
     {1, 1, 1},
     1,
     1,
     {0, 0, 0},
     0,
     1024,
     {{0x0, 0x0}, {0x10, 0x10}, {0xc0, 0xd0}, {0x1c0, 0x1d0}, {0x310, 0x1910}, {0x3f0, 0x19e0}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {32, 10, 4},
     {0x400, 0x1800},
     {32, 6, 2},
     {1, 1, 1},
     1,
     2,
     {0, 0, 0},
     0,
     1024,
     {{0x0, 0x0}, {0x10, 0x10}, {0xc0, 0xd0}, {0x1c0, 0x1f0}, {0x310, 0x1930}, {0x3f0, 0x19c0}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {32, 10, 4},
     {0x400, 0x1800},
     {32, 6, 2},
     {1, 1, 1},
     1,
     3,
     {0, 0, 0},
     0,
     1024,
     {{0x0, 0x0}, {0x10, 0x10}, {0xc0, 0xd0}, {0x1c0, 0x1f0}, {0x310, 0x1970}, {0x3f0, 0x1980}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {64, 10, 4},
     {0x400, 0x1800},
     {16, 3, 2},
     {1, 1, 1},
     2,
     1,
     {0, 0, 0},
     0,
     1024,
     {{0x0, 0x0}, {0x10, 0x10}, {0xc0, 0xd0}, {0x1c0, 0x1d0}, {0x310, 0x1910}, {0x3f0, 0x19e0}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {64, 10, 4},
     {0x400, 0x1800},
     {32, 6, 2},
     {1, 1, 1},
     2,
     1,
     {0, 0, 0},
     0,
     2048,
     {{0x0, 0x0}, {0x10, 0x10}, {0x130, 0x130}, {0x290, 0x280}, {0x490, 0x1880}, {0x5f0, 0x19e0}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     3,
     {64, 10, 4},
     {0x400, 0x1800},
     {2, 6, 2},
     {1, 1, 1},
     2,
     1,
     {1, 0, 0},
     1,
     0,
     {{0}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     4,
     {64, 10, 4, 3},
     {0x200, 0xc00, 0x3000},
     {32, 3, 2, 2},
     {1, 1, 1, 1},
     2,
     1,
     {16, 1, 1, 1},
     0,
     6144,
     {{0x0, 0x4000},
      {0x10, 0x4010},
      {0x130, 0x4130},
      {0x290, 0x4280},
      {0x490, 0x4280},
      {0x5f0, 0x43e0}}},
    {CU_TENSOR_MAP_DATA_TYPE_INT32,
     4,
     {32, 10, 4, 3},
     {0x200, 0xc00, 0x3000},
     {16, 3, 2, 2},
     {1, 1, 1, 1},
     2,
     1,
     {8, 1, 1, 1},
     0,
     3072,
     {{0x0, 0x3f00},
      {0x10, 0x3f10},
      {0x130, 0x4030},
      {0x290, 0x4180},
      {0x490, 0x4380},
      {0x5f0, 0x44e0}}},
    {CU_TENSOR_MAP_DATA_TYPE_INT32,
     4,
     {32, 10, 4, 3},
     {0x200, 0xc00, 0x3000},
     {8, 3, 2, 2},
     {1, 1, 1, 1},
     1,
     0,
     {4, 1, 1, 1},
     0,
     768,
     {{0x0, 0x3e40},
      {0x10, 0x3e50},
      {0x90, 0x4050},
      {0x160, 0x42a0},
      {0x250, 0x7090},
      {0x2f0, 0x72b0}}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT16,
     2,
     {32, 10},
     {0x400},
     {8, 3},
     {1, 1},
     1,
     0,
     {0, 0},
     1,
     0,
     {{0}}},
};

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

/* Of a box with the channels of two slices nothing was measured, nor of NaN and atoms. */
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
                 {wide, strides, 1, 0, 0, CUDA_ERROR_NOT_SUPPORTED},
                 {narrow, strides, 1, 0, 1, CUDA_ERROR_NOT_SUPPORTED},
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
        cmocka_unit_test(bits_are_loaded),
        cmocka_unit_test(bits_are_stored),
        cmocka_unit_test(wrong_maps_of_bits_are_refused),
        cmocka_unit_test(an_axis_of_one_needs_no_stride),
        cmocka_unit_test(wrong_lines_of_pixels_are_refused),
        cmocka_unit_test(wrong_columns_of_pixels_are_refused),
        cmocka_unit_test(wrong_maps_are_refused),
        cmocka_unit_test(an_address_is_replaced),
        cmocka_unit_test(maps_that_were_written_over),
        cmocka_unit_test(interleaved_boxes_lie_where_a_gpu_has_them),
        cmocka_unit_test(other_interleaved_tensors_are_refused),
        cmocka_unit_test(a_halo_that_no_section_places_fails),
    };
    return cmocka_run_group_tests_name("device_tensor", tests, start, NULL);
}
