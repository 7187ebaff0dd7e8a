/* st.async, red.async and the mbarrier operations that count their bytes: which blocks get what is
 * in tests/integration/cluster_async_numbers.cu; here, what an mbarrier counts, and refused forms.
 */
#include "tests/unit/device/exec/exec_harness.h"

static struct harness h;

static void open_kernel(const char *body)
{
    char text[4096];
    snprintf(
        text, sizeof text,
        ".version 8.6\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%x<8>; .reg .b32 %%t<9>; .reg .pred %%p; "
        ".reg .b16 %%h<2>;\n"
        ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 data[64];\n"
        "ld.param.u64 %%x0, [p]; mov.u32 %%t0, bar; mov.u32 %%t1, data; mov.u32 %%t2, 5;\n"
        "mov.u32 %%t8, 0;\nmapa.shared::cluster.u32 %%t3, %%t0, %%t8;\n"
        "mapa.shared::cluster.u32 %%t4, %%t1, %%t8;\n%s\nret;\n}\n",
        body);
    harness_open_text(&h, text);
}

static const uint32_t *run(const char *body)
{
    open_kernel(body);
    uint64_t memory = harness_allocate(&h, 64);
    harness_run(&h, "k", 1, 1, 0, ARGUMENTS(&memory));
    return harness_host(&h, memory);
}

#define TEST(at)                                                                                   \
    "mbarrier.test_wait.parity.shared.b64 %p, [%t0], 0; selp.u32 %t5, 1, 0, %p;\n"                 \
    "st.global.u32 [%x0+" at "], %t5;\n"

/* The phase ends when the last byte has come, not before. */
static void bytes_are_counted(void **unused)
{
    (void)unused;
    const uint32_t *got =
        run("mbarrier.init.shared.b64 [%t0], 1;\n"
            "mbarrier.arrive.expect_tx.shared.b64 _, [%t0], 28;\n" TEST(
                "0") "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%t4], {%t2, 6, "
                     "7, 8}, "
                     "[%t3];\n" TEST("4") "st.async.shared::cluster.mbarrier::complete_tx::bytes."
                                          "b64 [%t4+16], 9, [%t3];\n" TEST(
                                              "8") "red.async.relaxed.cluster.shared::cluster."
                                                   "mbarrier::complete_tx::bytes.add.u32 "
                                                   "[%t4+16], 11, [%t3];\n" TEST(
                                                       "12") "ld.shared.u32 %t6, [%t1+12]; "
                                                             "st.global.u32 [%x0+16], %t6;\n"
                                                             "ld.shared.u32 %t6, [%t1+16]; "
                                                             "st.global.u32 [%x0+20], %t6;\n");
    const uint32_t expected[] = {0, 0, 0, 1, 8, 20};
    assert_memory_equal(got, expected, sizeof expected);
    harness_close(&h);
}

static void transactions_are_completed_by_hand(void **unused)
{
    (void)unused;
    const uint32_t *got =
        run("mbarrier.init.shared.b64 [%t0], 3;\n"
            "mbarrier.arrive.shared.b64 %x1, [%t0];\n"
            "mbarrier.arrive.shared.b64 %x2, [%t0];\n"
            "mbarrier.pending_count.b64 %t6, %x1; st.global.u32 [%x0+8], %t6;\n"
            "mbarrier.pending_count.b64 %t6, %x2; st.global.u32 [%x0+12], %t6;\n"
            "mbarrier.arrive.expect_tx.shared.b64 _, [%t0], 5;\n" TEST(
                "0") "mbarrier.complete_tx.shared::cta.b64 [%t0], %t2;\n" TEST("4"));
    const uint32_t expected[] = {0, 1, 3, 2};
    assert_memory_equal(got, expected, sizeof expected);
    harness_close(&h);
}

static void zeroes_are_stored(void **unused)
{
    (void)unused;
    const uint32_t *got =
        run("st.shared.v4.b32 [%t1], {5, 5, 5, 5}; st.shared.v4.b32 [%t1+16], {5, 5, "
            "5, 5};\nst.bulk.weak.shared::cta [%t1+8], 16, 0;\n"
            "ld.shared.v4.b32 {%t4, %t5, %t6, %t7}, [%t1]; st.global.v4.b32 [%x0], "
            "{%t4, %t5, %t6, %t7};\nld.shared.v4.b32 {%t4, %t5, %t6, %t7}, [%t1+16]; "
            "st.global.v4.b32 [%x0+16], {%t4, %t5, %t6, %t7};\n");
    const uint32_t expected[] = {5, 5, 0, 0, 0, 0, 5, 5};
    assert_memory_equal(got, expected, sizeof expected);
    harness_close(&h);
    open_kernel("st.bulk.weak.shared::cta [%t1+8], 12, 0;");
    uint64_t memory = harness_allocate(&h, 64);
    assert_int_equal(harness_launch(&h, "k", 1, 1, 0, ARGUMENTS(&memory)), EXEC_FAULT);
    assert_int_equal(h.fault.kind, EXEC_FAULT_ILLEGAL_INSTRUCTION);
    harness_close(&h);
}

/* Bytes 0, 1, 4 to 7 and 15 of each 16. */
static void bytes_are_copied_by_a_mask(void **unused)
{
    (void)unused;
    open_kernel("st.shared.v4.b32 [%t1], {0x04030201, 0x14131211, 0x24232221, 0x34333231};\n"
                "st.shared.v4.b32 [%t1+16], {0x44434241, 0x54535251, 0x64636261, 0x74737271};\n"
                "mov.b16 %h0, 0x80f3;\n"
                "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%x0], [%t1], 32, %h0;\n"
                "mov.b16 %h0, 0;\n"
                "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%x0], [%t1], 32, %h0;\n");
    uint64_t memory = harness_allocate(&h, 64);
    memset(harness_host(&h, memory), 0xee, 64);
    h.touches = true;
    harness_run(&h, "k", 1, 1, 0, ARGUMENTS(&memory));
    const uint32_t expected[] = {0xeeee0201, 0x14131211, 0xeeeeeeee, 0x34eeeeee, 0xeeee4241,
                                 0x54535251, 0xeeeeeeee, 0x74eeeeee, 0xeeeeeeee};
    assert_memory_equal(harness_host(&h, memory), expected, sizeof expected);
    uint64_t bytes = 0;
    for (size_t i = 0; i < h.range_count; i++) {
        assert_int_equal(h.ranges[i].kind, DEVICE_TRACE_WRITE);
        bytes += h.ranges[i].bytes * (h.ranges[i].dims ? h.ranges[i].count[0] : 1);
    }
    assert_int_equal(bytes, 14);
    harness_close(&h);
}

static void other_forms_are_refused(void **unused)
{
    (void)unused;
    static const char *const forms[] = {
        "st.async.release.gpu.global.b32 [%x0], %t2;",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%t4], %t2;",
        "red.async.release.gpu.global.add.u32 [%x0], %t2;",
        "mbarrier.complete_tx.shared::cta.b64 [%t0];",
        "st.bulk.weak.shared::cta [%t1], 16, 1;",
        "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%x0], [%t1], 32;",
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char message[512];
        open_kernel(forms[i]);
        assert_false(exec_prepare(h.image, harness_kernel(&h, "k"), message, sizeof message));
        harness_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_counted), cmocka_unit_test(transactions_are_completed_by_hand),
        cmocka_unit_test(zeroes_are_stored), cmocka_unit_test(bytes_are_copied_by_a_mask),
        cmocka_unit_test(other_forms_are_refused)};
    return harness_run_tests(tests);
}
