/* alloca, stacksave and stackrestore. */
#include "tests/unit/device/exec/exec_harness.h"

static struct harness h;

static void lanes_take_what_they_need(void **unused)
{
    (void)unused;
    harness_open(&h, "stack");
    uint64_t out = harness_allocate(&h, 512);
    harness_run(&h, "takes", 1, 128, 0, ARGUMENTS(&out));
    for (int thread = 0; thread < 128; thread++) {
        int count = thread % 37 + 1, sum = 0;
        for (int i = 0; i < count; i++)
            sum += 1000 + i;
        for (int i = 0; i < 2 * count; i++)
            sum += 5 + i;
        assert_int_equal(((int *)harness_host(&h, out))[thread], sum);
    }
    harness_close(&h);
}

static void calls_give_back(void **unused)
{
    (void)unused;
    harness_open(&h, "stack");
    uint64_t out = harness_allocate(&h, 512);
    int calls = 100, bytes = 100000; /* ten times what a thread may have at once */
    harness_run(&h, "gives_back", 1, 32, 0, ARGUMENTS(&out, &calls, &bytes));
    for (int thread = 0; thread < 32; thread++)
        assert_int_equal(((int *)harness_host(&h, out))[thread], 300);
    calls = 1, bytes = 100000000;
    assert_int_equal(harness_launch(&h, "gives_back", 1, 32, 0, ARGUMENTS(&out, &calls, &bytes)),
                     EXEC_FAULT);
    assert_int_equal(h.fault.kind, EXEC_FAULT_STACK);
    harness_close(&h);
}

static void restores_in_a_loop(void **unused)
{
    (void)unused;
    static const char *const restores[] = {"stackrestore.u64 %x3;\n", ""};
    for (int k = 0; k < 2; k++) {
        char text[2048];
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_90\n.address_size 64\n"
                 ".visible .entry loops(.param .u64 out)\n{\n"
                 ".reg .b64 %%x<6>; .reg .b32 %%t<6>; .reg .pred %%p;\n"
                 "ld.param.u64 %%x0, [out]; mov.u32 %%t0, %%tid.x; mov.u32 %%t1, 0;\n"
                 "mov.u32 %%t2, 0;\n"
                 "loop:\n"
                 "stacksave.u64 %%x3;\n"
                 "alloca.u64 %%x4, 1024, 32;\n"
                 "and.b64 %%x5, %%x4, 31; cvt.u32.u64 %%t4, %%x5; add.u32 %%t2, %%t2, %%t4;\n"
                 "st.local.u32 [%%x4+1020], %%t1; ld.local.u32 %%t3, [%%x4+1020];\n"
                 "add.u32 %%t2, %%t2, %%t3;\n"
                 "%s"
                 "add.u32 %%t1, %%t1, 1; setp.lt.u32 %%p, %%t1, 4000; @%%p bra loop;\n"
                 "mad.wide.u32 %%x0, %%t0, 4, %%x0; st.global.u32 [%%x0], %%t2; ret;\n}\n",
                 restores[k]);
        harness_open_text(&h, text);
        uint64_t out = harness_allocate(&h, 128);
        enum exec_status status = harness_launch(&h, "loops", 1, 32, 0, ARGUMENTS(&out));
        assert_int_equal(status, k ? EXEC_FAULT : EXEC_DONE);
        if (k)
            assert_int_equal(h.fault.kind, EXEC_FAULT_STACK);
        for (int thread = 0; !k && thread < 32; thread++)
            assert_int_equal(((int *)harness_host(&h, out))[thread], 3999 * 4000 / 2);
        harness_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_take_what_they_need),
                                       cmocka_unit_test(calls_give_back),
                                       cmocka_unit_test(restores_in_a_loop)};
    return harness_run_tests(tests);
}
