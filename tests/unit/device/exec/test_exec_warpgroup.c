/* wgmma against plain loops: the products of tests/integration/wgmma.h, which a GPU is asked for,
 * too; and descriptors that lead outside of shared memory. */
#include "tests/unit/device/exec/exec_harness.h"

#include "tests/integration/wgmma.h"

static struct harness h;
static struct wgmma_test test;

static enum exec_status run(uint64_t descriptor_b)
{
    harness_open_text(&h, wgmma_text(&test));
    uint64_t d = harness_allocate(&h, sizeof test.d_words),
             image = harness_allocate(&h, sizeof test.image),
             a = harness_allocate(&h, sizeof test.a_words),
             metadata = harness_allocate(&h, sizeof test.metadata);
    memcpy(harness_host(&h, d), test.d_words, sizeof test.d_words);
    memcpy(harness_host(&h, image), test.image, sizeof test.image);
    memcpy(harness_host(&h, a), test.a_words, sizeof test.a_words);
    memcpy(harness_host(&h, metadata), test.metadata, sizeof test.metadata);
    const enum exec_status status =
        harness_launch(&h, "product", 1, WGMMA_THREADS, WGMMA_IMAGE,
                       ARGUMENTS(&d, &image, &a, &test.descriptor_a, &descriptor_b, &metadata));
    memcpy(test.d_words, harness_host(&h, d), sizeof test.d_words);
    return status;
}

static void products_of_warp_groups(void **unused)
{
    (void)unused;
    for (int i = 0; i < WGMMA_CASES; i++) {
        const struct wgmma_case *w = &wgmma_cases[i];
        wgmma_prepare(&test, w);
        if (run(test.descriptor_b) != EXEC_DONE)
            fail_msg("%s%s", h.message, h.fault.message);
        const uint32_t wrong = wgmma_wrong(&test, test.d_words);
        if (wrong)
            fail_msg("m64n%uk%u%s.%s.%s.%s, swizzle %u: %u are wrong", w->n, w->k,
                     w->sparse ? ", sparse" : "", w->d, w->a, w->b, w->swizzle, wrong);
        harness_close(&h);
    }
}

/* The last descriptor that fits is taken; one chunk more is a fault that names the address. */
static void descriptors_end_with_shared_memory(void **unused)
{
    (void)unused;
    wgmma_prepare(&test, &wgmma_cases[0]);
    const uint64_t most = (WGMMA_IMAGE - 2 * 64 * 16) >> 4; /* 64 columns of 32 bytes */
    const uint64_t rest = test.descriptor_b & ~0x3fffull;
    assert_int_equal(run(rest | most), EXEC_DONE);
    harness_close(&h);
    assert_int_equal(run(rest | (most + 1)), EXEC_FAULT);
    assert_int_equal(h.fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
    harness_close(&h);
}

/* Where an H200 (driver 580, CUDA 13.0) read B of a sparse product along k: m64n16k32 of f16, all
 * of whose values were their own number in shared memory. Bytes behind the descriptor's base, of
 * (column, k). */
static const uint32_t columns[] = {0, 3, 4, 11, 15}, depths[] = {0, 8, 16, 24};
/* clang-format off */
static const struct {
    uint32_t leading, stride, swizzle, start, at[5][4];
} measured[] = {
    {16, 256, 32, 0,
     {{0, 16, 16, 32}, {96, 112, 112, 144}, {144, 128, 128, 176}, {352, 368, 368, 400}, {496, 480, 480, 512}}},
    {256, 256, 32, 0,
     {{0, 16, 256, 272}, {96, 112, 352, 368}, {144, 128, 400, 384}, {352, 368, 608, 624}, {496, 480, 752, 736}}},
    {512, 256, 32, 0,
     {{0, 16, 512, 528}, {96, 112, 608, 624}, {144, 128, 656, 640}, {352, 368, 864, 880}, {496, 480, 1008, 992}}},
    {1024, 256, 32, 0,
     {{0, 16, 1024, 1040}, {96, 112, 1120, 1136}, {144, 128, 1168, 1152}, {352, 368, 1376, 1392}, {496, 480, 1520, 1504}}},
    {512, 512, 32, 0,
     {{0, 16, 512, 528}, {96, 112, 608, 624}, {144, 128, 656, 640}, {608, 624, 1120, 1136}, {752, 736, 1264, 1248}}},
    {256, 512, 32, 0,
     {{0, 16, 256, 272}, {96, 112, 352, 368}, {144, 128, 400, 384}, {608, 624, 864, 880}, {752, 736, 1008, 992}}},
    {512, 256, 32, 32,
     {{32, 48, 544, 560}, {144, 128, 656, 640}, {176, 160, 688, 672}, {400, 384, 912, 896}, {512, 528, 1024, 1040}}},
    {16, 512, 64, 0,
     {{0, 16, 32, 48}, {208, 192, 240, 224}, {288, 304, 256, 272}, {720, 704, 752, 736}, {1008, 992, 976, 960}}},
    {512, 512, 64, 0,
     {{0, 16, 32, 48}, {208, 192, 240, 224}, {288, 304, 256, 272}, {720, 704, 752, 736}, {1008, 992, 976, 960}}},
    {512, 128, 0, 0,
     {{0, 512, 1024, 1536}, {48, 560, 1072, 1584}, {64, 576, 1088, 1600}, {176, 688, 1200, 1712}, {240, 752, 1264, 1776}}},
};
/* clang-format on */

/* The half of a number below 2048. */
static uint16_t half_of(uint32_t number)
{
    if (!number)
        return 0;
    const uint32_t exponent = 31u - (uint32_t)__builtin_clz(number);
    return (uint16_t)((exponent + 15) << 10 | ((number << 10 >> exponent) & 0x3ff));
}

/* Row `r` of A has a one at k = r % 32, and no other. */
static void prepare_one_of_each_row(void)
{
    uint16_t held[64][16] = {{0}};
    memset(test.a_words, 0, sizeof test.a_words);
    memset(test.metadata, 0, sizeof test.metadata);
    memset(test.d_words, 0, sizeof test.d_words);
    for (uint32_t row = 0; row < 64; row++)
        for (uint32_t group = 0; group < 8; group++) {
            const uint32_t k = row % 32, in = k % 4, first = k / 4 != group ? 0 : in < 3 ? in : 2;
            if (k / 4 == group)
                held[row][group * 2 + (in == 3)] = half_of(1);
            test.metadata[row / 16 * 32 + row % 8 * 4 + group / 4] |=
                ((first + 1) << 2 | first) << (row % 16 / 8 * 16 + group % 4 * 4);
        }
    for (uint32_t t = 0; t < WGMMA_THREADS; t++)
        for (uint32_t r = 0; r < 8; r++)
            test.a_words[r / 2 * WGMMA_THREADS + t] |=
                (uint32_t)
                    held[t / 32 * 16 + t % 32 / 4 + r / 2 % 2 * 8][(t % 4 + r / 4 * 4) * 2 + r % 2]
                << r % 2 * 16;
}

/* Element (k, column) of D. */
static float product_at(uint32_t k, uint32_t column)
{
    const uint32_t thread = k / 16 * 32 + k % 8 * 4 + column % 8 / 2;
    const uint32_t element = column / 8 * 4 + k % 16 / 8 * 2 + column % 2;
    float value;
    memcpy(&value, &test.d_words[element * WGMMA_THREADS + thread], sizeof value);
    return value;
}

static void sparse_lines_lie_where_a_gpu_has_them(void **unused)
{
    (void)unused;
    struct wgmma_case what = {.d = "f32", .a = "f16", .b = "f16", .n = 16, .k = 32};
    static const uint64_t kinds[] = {0, 3, 2}; /* by swizzle / 32 */
    what.in_registers = 1;
    what.sparse = 1;
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        wgmma_prepare(&test, &what);
        prepare_one_of_each_row();
        for (uint32_t at = 0; at < 2048; at++) {
            const uint16_t value = half_of(at);
            memcpy(test.image + at * sizeof value, &value, sizeof value);
        }
        const uint64_t descriptor =
            measured[i].start >> 4 | (uint64_t)measured[i].leading >> 4 << 16 |
            (uint64_t)measured[i].stride >> 4 << 32 | kinds[measured[i].swizzle / 32] << 62;
        assert_int_equal(run(descriptor), EXEC_DONE);
        for (size_t c = 0; c < 5; c++)
            for (size_t k = 0; k < 4; k++)
                assert_int_equal(product_at(depths[k], columns[c]) * 2, measured[i].at[c][k]);
        harness_close(&h);
    }
}

static void other_forms_are_refused(void **unused)
{
    (void)unused;
    static const char *const forms[] = {
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d, %d, %p, 1, 1, 0, "
        "0;",
        "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%s0,%s1,%s2,%s3,%s0,%s1,%s2,%s3,%s0,%s1,"
        "%s2,%s3,%s0,%s1,%s2,%s3,%s0,%s1,%s2,%s3}, %d, %d, %p;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 {%f0,%f1,%f2,%f3}, %d, %d, %p, 1, 1, "
        "0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2}, %d, %d, %p, 1, 1, 0, 0;",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d, %d, %p, 1, 1;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d, %d, %r, 2, "
        "%p, 1, 1, 0, 0;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d, %d, %r, 0, "
        "%p, 1, 1;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d, %d, %r, 0, "
        "%p, 1, 1, 0, 0;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 {%f0,%f1,%f2,%f3}, %d, %d, %r, 1, "
        "%p, 1, 1;"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char text[1024], message[512];
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
                 ".reg .f32 %%f<4>; .reg .b64 %%d; .reg .b32 %%r, %%s<4>; .reg .pred "
                 "%%p;\n%s\nret;\n}\n",
                 forms[i]);
        harness_open_text(&h, text);
        assert_false(exec_prepare(h.image, harness_kernel(&h, "k"), message, sizeof message));
        harness_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_of_warp_groups),
                                       cmocka_unit_test(descriptors_end_with_shared_memory),
                                       cmocka_unit_test(sparse_lines_lie_where_a_gpu_has_them),
                                       cmocka_unit_test(other_forms_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
