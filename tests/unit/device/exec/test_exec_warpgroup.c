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

/* 64 bytes along k do not fit into rows of 32. */
static void sparse_lines_need_wide_rows(void **unused)
{
    (void)unused;
    struct wgmma_case narrow = wgmma_cases[0];
    narrow.sparse = 1;
    narrow.k = 32;
    wgmma_prepare(&test, &narrow);
    assert_int_equal(run(test.descriptor_b | 3ull << 62), EXEC_FAULT);
    assert_int_equal(h.fault.kind, EXEC_FAULT_UNSUPPORTED);
    assert_non_null(strstr(h.fault.message, "a sparse product with B along k in rows of 32 bytes"));
    harness_close(&h);
}

static void other_forms_are_refused(void **unused)
{
    (void)unused;
    static const char *const forms[] = {
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16 {%f0,%f1,%f2,%f3}, %d, %d, %p, 1, 1, 0, "
        "0;",
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
                 ".reg .f32 %%f<4>; .reg .b64 %%d; .reg .b32 %%r; .reg .pred %%p;\n%s\nret;\n}\n",
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
                                       cmocka_unit_test(sparse_lines_need_wide_rows),
                                       cmocka_unit_test(other_forms_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
