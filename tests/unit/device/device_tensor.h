/* What tests of tensor maps and bulk tensor copies share: kernels that load and store a box, and
 * what a map and a copy are given. */
#ifndef TESTS_UNIT_DEVICE_DEVICE_TENSOR_H
#define TESTS_UNIT_DEVICE_DEVICE_TENSOR_H

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
static inline void write_kernel(FILE *file, int rank, bool loads)
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

static inline int start(void **state)
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

static inline unsigned draw(unsigned least, unsigned most)
{
    return least + (unsigned)rand() % (most - least + 1);
}

static inline CUresult encode(const struct shape *shape, CUtensorMap *map)
{
    return cuTensorMapEncodeTiled(
        map, shape->type, shape->rank, (void *)(uintptr_t)tensor, shape->sizes, shape->strides + 1,
        shape->box, shape->steps, CU_TENSOR_MAP_INTERLEAVE_NONE, shape->swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

/* The tables of "Swizzling Modes": by its number, a line of 128 bytes has other columns. */
static inline unsigned turned(const struct shape *shape, unsigned offset)
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

/* Bytes of shared memory that hold the box: a swizzle turns whole lines. */
static inline unsigned reach(const struct shape *shape)
{
    return (shape->box_bytes + 127) / 128 * 128;
}

static unsigned counted; /* bytes that the mbarrier counts; 0: those of the box */

/* `which`: a rank, or what is in place of one. */
static inline CUresult try_to_run(const char *what, unsigned which, const struct shape *shape,
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

static inline void run(const char *what, const struct shape *shape, const CUtensorMap *map)
{
    ok(try_to_run(what, shape->rank, shape, map));
}

/* Stores: a box that begins below 0 is an illegal instruction. */
static inline void start_inside(struct shape *shape)
{
    for (unsigned i = 0; i < shape->rank; i++)
        shape->first[i] = abs(shape->first[i]);
}

static uint8_t memory[TENSOR_BYTES], found[TENSOR_BYTES];

#define REFUSES(change)                                                                            \
    do {                                                                                           \
        struct shape wrong = right;                                                                \
        change;                                                                                    \
        assert_int_equal(encode(&wrong, &map), CUDA_ERROR_INVALID_VALUE);                          \
    } while (0)

#endif
