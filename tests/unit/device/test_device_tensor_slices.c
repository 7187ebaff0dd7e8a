/* Interleaved tensors: loads of several slices, im2col, stores, reductions, NaN outside, and maps
 * that a kernel changes, all against what a GPU did. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/device/tensor_interleave_cases.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ok(call) assert_int_equal((call), CUDA_SUCCESS)

enum {
    SPACE = 128 << 10,
    BOX_BYTES = 16 << 10,
    PIECE = 16,
    CASE_COUNT = sizeof interleave_cases / sizeof *interleave_cases
};

static CUcontext context;
static CUmodule copies;
static CUdeviceptr space, out;

static void write_head(FILE *file, const char *name)
{
    fprintf(
        file,
        ".visible .entry %s(.param .align 64 .b8 m[128], .param .align 4 .b8 c[20], "
        ".param .align 4 .b8 f[12], .param .u64 o)\n{\n"
        ".reg .b64 %%map, %%out, %%at, %%rd;\n.reg .b16 %%h<3>;\n.reg .b32 %%c<5>, %%f<3>, %%box,"
        " %%bar, %%k, %%s, %%v;\n.reg .pred %%p;\n"
        ".shared .align 1024 .b8 box[%d];\n.shared .align 8 .b64 bar;\n"
        "mov.b64 %%map, m;\ncvta.param.u64 %%map, %%map;\nld.param.u64 %%out, [o];\n"
        "mov.u32 %%box, box;\nmov.u32 %%bar, bar;\n",
        name, BOX_BYTES);
    for (int i = 0; i < RANKS; i++)
        fprintf(file, "ld.param.b32 %%c%d, [c+%d];\n", i, 4 * i);
    for (int i = 0; i < 3; i++)
        fprintf(file, "ld.param.b32 %%f%d, [f+%d];\ncvt.u16.u32 %%h%d, %%f%d;\n", i, 4 * i, i, i);
}

/* From or to `out`, which is as large as the box. */
static void write_loop(FILE *file, bool loads)
{
    fprintf(file,
            "mov.u32 %%k, 0;\n$L:\nadd.s32 %%s, %%box, %%k;\ncvt.u64.u32 %%rd, %%k;\n"
            "add.s64 %%at, %%out, %%rd;\n%sadd.s32 %%k, %%k, 4;\nsetp.lt.u32 %%p, %%k, %d;\n"
            "@%%p bra $L;\n",
            loads ? "ld.shared.u32 %v, [%s];\nst.global.u32 [%at], %v;\n"
                  : "ld.global.u32 %v, [%at];\nst.shared.u32 [%s], %v;\n",
            BOX_BYTES);
}

static void write_copy(FILE *file, int what, int mode, int rank)
{
    static const char *const places[] = {"%c0, %c1, %c2", "%c0, %c1, %c2, %c3",
                                         "%c0, %c1, %c2, %c3, %c4"};
    static const char *const offsets[] = {"{%h0}", "{%h0, %h1}", "{%h0, %h1, %h2}"};
    static const char *const whats[] = {"load", "store", "reduce"};
    char name[32];
    snprintf(name, sizeof name, "%s_%s_%d", whats[what], mode == IM2COL ? "im2col" : "tile", rank);
    write_head(file, name);
    if (what == LOAD) { /* what the box does not reach stays 0xee */
        write_loop(file, false);
        fprintf(file,
                "mbarrier.init.shared.b64 [%%bar], 1;\n"
                "cp.async.bulk.tensor.%dd.shared::cluster.global.%s.mbarrier::complete_tx::bytes "
                "[%%box], [%%map, {%s}], [%%bar]%s%s;\nbra $S;\n$S:\n",
                rank, mode == IM2COL ? "im2col" : "tile", places[rank - 3],
                mode == IM2COL ? ", " : "", mode == IM2COL ? offsets[rank - 3] : "");
        fprintf(file, "mov.u32 %%k, 0;\n$M:\nadd.s32 %%s, %%box, %%k;\ncvt.u64.u32 %%rd, %%k;\n"
                      "add.s64 %%at, %%out, %%rd;\nld.shared.u32 %%v, [%%s];\n"
                      "st.global.u32 [%%at], %%v;\nadd.s32 %%k, %%k, 4;\n");
        fprintf(file, "setp.lt.u32 %%p, %%k, %d;\n@%%p bra $M;\nret;\n}\n", BOX_BYTES);
        return;
    }
    write_loop(file, false);
    fprintf(
        file,
        "cp.%sasync.bulk.tensor.%dd.global.shared::cta%s.%s.bulk_group [%%map, {%s}], [%%box];\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n",
        what == REDUCE ? "reduce." : "", rank, what == REDUCE ? ".add" : "",
        mode == IM2COL ? "im2col_no_offs" : "tile", places[rank - 3]);
}

/* replace_N: what case N does to its map, which is at `o`. */
static void write_replace(FILE *file, size_t number)
{
    const struct interleave_case *c = &interleave_cases[number];
    char name[32], axis[16] = "";
    snprintf(name, sizeof name, "replace_%zu", number);
    write_head(file, name);
    if (c->axis >= 0)
        snprintf(axis, sizeof axis, "%d, ", c->axis);
    const bool wide = !strcmp(c->field, "global_stride");
    fprintf(file, "mov.u32 %%v, %u;\nmov.u64 %%rd, %u;\n", c->value, c->value);
    fprintf(file, "tensormap.replace.tile.%s.global.b1024.b%d [%%out], %s", c->field,
            wide ? 64 : 32, axis);
    if (c->axis >= 0)
        fprintf(file, "%s;\nret;\n}\n", wide ? "%rd" : "%v");
    else
        fprintf(file, "%u;\nret;\n}\n", c->value);
}

static int load_copies(void **state)
{
    char *text = NULL;
    size_t bytes;
    (void)state;
    FILE *file = open_memstream(&text, &bytes);
    fprintf(file, ".version 8.3\n.target sm_90a\n.address_size 64\n");
    for (int what = LOAD; what <= REDUCE; what++)
        for (int mode = TILE; mode <= IM2COL; mode++)
            for (int rank = 3; rank <= RANKS; rank++)
                write_copy(file, what, mode, rank);
    for (size_t i = 0; i < CASE_COUNT; i++)
        if (interleave_cases[i].field)
            write_replace(file, i);
    fclose(file);
    const int failed = cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) ||
                       cuCtxSetCurrent(context) || cuModuleLoadData(&copies, text) ||
                       cuMemAlloc(&space, SPACE) || cuMemAlloc(&out, BOX_BYTES);
    free(text);
    return failed;
}

/* ---- a case ---------------------------------------------------------------------------------- */

static CUresult encode_case(const struct interleave_case *c, CUtensorMap *map)
{
    void *const base = (void *)(uintptr_t)space;
    return c->mode == IM2COL
               ? cuTensorMapEncodeIm2col(
                     map, c->type, c->rank, base, c->sizes, c->strides, c->lower, c->upper,
                     c->box[0], c->box[1], c->steps, (CUtensorMapInterleave)c->interleave,
                     (CUtensorMapSwizzle)c->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                     (CUtensorMapFloatOOBfill)c->fill)
               : cuTensorMapEncodeTiled(
                     map, c->type, c->rank, base, c->sizes, c->strides, c->box, c->steps,
                     (CUtensorMapInterleave)c->interleave, (CUtensorMapSwizzle)c->swizzle,
                     CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)c->fill);
}

static CUresult launch(const char *name, const struct interleave_case *c, const CUtensorMap *map,
                       CUdeviceptr argument)
{
    CUfunction function;
    void *parameters[] = {(void *)map, (void *)c->first, (void *)c->offset, &argument};
    ok(cuModuleGetFunction(&function, copies, name));
    ok(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    return cuCtxSynchronize();
}

static void replace_field(size_t number, CUtensorMap *map)
{
    char name[32];
    CUdeviceptr there;
    ok(cuMemAlloc(&there, sizeof *map));
    ok(cuMemcpyHtoD(there, map, sizeof *map));
    snprintf(name, sizeof name, "replace_%zu", number);
    ok(launch(name, &interleave_cases[number], map, there));
    ok(cuMemcpyDtoH(map, there, sizeof *map));
    ok(cuMemFree(there));
}

static bool is_halves(const struct interleave_case *c)
{
    return c->type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
}

static uint16_t half_of(unsigned value)
{
    unsigned power = 31 - (unsigned)__builtin_clz(value);
    return (uint16_t)((power + 15) << 10 | ((value << 10 >> power) & 1023));
}

enum { BEFORE = 0x01000000 }; /* integers that are added to */

/* Values count from 1: so each piece says where it came from. */
static void fill_memory(const struct interleave_case *c, uint8_t *global, uint8_t *box)
{
    memset(global, 0, SPACE);
    memset(box, 0xee, BOX_BYTES);
    for (unsigned i = 0; i < SPACE / 2 && c->what == LOAD; i++)
        ((uint16_t *)global)[i] = (uint16_t)(i + 1);
    for (unsigned i = 0; i < BOX_BYTES / 2 && c->what != LOAD; i++)
        ((uint16_t *)box)[i] = c->what == REDUCE ? half_of(i % 2048 + 1) : (uint16_t)(i + 1);
    if (c->what != REDUCE || is_halves(c))
        return;
    for (unsigned i = 0; i < SPACE / 4; i++)
        ((uint32_t *)global)[i] = BEFORE;
    for (unsigned i = 0; i < BOX_BYTES / 4; i++)
        ((uint32_t *)box)[i] = i + 1;
}

/* Where the piece came from. */
static int origin_of(const struct interleave_case *c, const uint8_t *piece)
{
    const bool words = c->what == REDUCE && !is_halves(c);
    const unsigned unit = words ? 4 : 2, count = PIECE / unit;
    unsigned values[PIECE / 2];
    bool row = true, same = true;
    for (unsigned k = 0; k < count; k++) {
        uint32_t word = 0;
        memcpy(&word, piece + k * unit, unit);
        if (words)
            word -= BEFORE;
        for (unsigned i = 1; c->what == REDUCE && !words && word && i <= 2048; i++)
            if (half_of(i) == word) {
                word = i;
                break;
            }
        values[k] = word;
        row &= values[k] == values[0] + k;
        same &= values[k] == values[0];
    }
    if (same && (values[0] == 0 || values[0] == 0x7ff7))
        return values[0] ? OF_NAN : OF_ZERO;
    assert_true(row && values[0]);
    return (int)((values[0] - 1) * unit);
}

static void add_to(unsigned *hash, unsigned word)
{
    for (int k = 0; k < 4; k++)
        *hash = (*hash ^ (word >> 8 * k & 255)) * 16777619u;
}

/* Of the box, or of what was written. */
static void check_pieces(const struct interleave_case *c, const uint8_t *bytes, unsigned end,
                         const uint8_t *before)
{
    unsigned hash = 2166136261u, count = 0, seen = 0;
    for (unsigned at = 0; at < end; at += PIECE) {
        if (before && !memcmp(bytes + at, before + at, PIECE))
            continue;
        const int origin = origin_of(c, bytes + at);
        add_to(&hash, at);
        add_to(&hash, (unsigned)origin);
        count++;
        for (int k = 0; k < 3; k++)
            if (c->pieces[k].place == (int)at) {
                assert_int_equal(origin, c->pieces[k].at);
                seen |= 1u << k;
            }
    }
    assert_int_equal(before ? count : count * PIECE, c->count);
    assert_int_equal(seen, count ? 7 : 0);
    assert_int_equal(hash, c->all);
}

static unsigned box_end(const uint8_t *box)
{
    unsigned end = BOX_BYTES;
    while (end > 0 && box[end - 1] == 0xee)
        end--;
    return (end + PIECE - 1) / PIECE * PIECE;
}

static void play(size_t number)
{
    static uint8_t before[SPACE], after[SPACE], box[BOX_BYTES];
    static const char *const whats[] = {"load", "store", "reduce"};
    const struct interleave_case *c = &interleave_cases[number];
    char name[32];
    CUtensorMap map;
    fill_memory(c, before, box);
    ok(cuMemcpyHtoD(space, before, SPACE));
    ok(cuMemcpyHtoD(out, box, BOX_BYTES));
    assert_int_equal(encode_case(c, &map), c->result);
    if (c->result)
        return;
    if (c->field)
        replace_field(number, &map);
    snprintf(name, sizeof name, "%s_%s_%u", whats[c->what], c->mode == IM2COL ? "im2col" : "tile",
             c->rank);
    ok(launch(name, c, &map, out));
    ok(cuMemcpyDtoH(box, out, BOX_BYTES));
    ok(cuMemcpyDtoH(after, space, SPACE));
    if (c->what == LOAD)
        check_pieces(c, box, box_end(box), NULL);
    else
        check_pieces(c, after, SPACE, before);
}

static void slices_lie_where_a_gpu_has_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASE_COUNT; i++)
        if (!interleave_cases[i].fails) {
            print_message("%zu ", i); /* which one, if it fails */
            play(i);
        }
    print_message("\n");
}

/* Stores below 0, and sums of a type that has none. */
static size_t refused;

static void what_a_gpu_refuses_is_refused(void **state)
{
    (void)state;
    static const char *const whats[] = {"load", "store", "reduce"};
    const struct interleave_case *c = &interleave_cases[refused];
    char name[32];
    CUtensorMap map;
    ok(encode_case(c, &map));
    snprintf(name, sizeof name, "%s_%s_%u", whats[c->what], c->mode == IM2COL ? "im2col" : "tile",
             c->rank);
    assert_int_equal(launch(name, c, &map, out), CUDA_ERROR_ILLEGAL_INSTRUCTION);
}

/* Each ends its context: so it has a process of its own. */
static int play_refused(size_t number)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_gpu_refuses_is_refused)};
    int status = 1;
    const pid_t child = fork();
    refused = number;
    if (child == 0)
        _exit(
            cmocka_run_group_tests_name("device_tensor_slices_refused", tests, load_copies, NULL));
    return child < 0 || waitpid(child, &status, 0) != child || status;
}

int main(void)
{
    int failed = 0;
    for (size_t i = 0; i < CASE_COUNT; i++)
        if (interleave_cases[i].fails)
            failed += play_refused(i);
    const struct CMUnitTest tests[] = {cmocka_unit_test(slices_lie_where_a_gpu_has_them)};
    return cmocka_run_group_tests_name("device_tensor_slices", tests, load_copies, NULL) || failed;
}
