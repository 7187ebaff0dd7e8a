/* Products with scales of blocks against plain loops: the products of
 * tests/integration/mma_scaled.h, which a GPU can be asked for, too; and forms and places of scales
 * that there are not. */
#include "tests/unit/device/exec/exec_harness.h"

#include "tests/integration/mma_scaled.h"

static struct harness h;
static struct scaled_test test;

static uint64_t copied(const void *words, uint64_t bytes)
{
    const uint64_t memory = harness_allocate(&h, bytes);
    memcpy(harness_host(&h, memory), words, bytes);
    return memory;
}

static enum exec_status run(uint64_t *d)
{
    harness_open_text(&h, scaled_text(&test));
    *d = harness_allocate(&h, sizeof test.c_words);
    uint64_t a = copied(test.a_words, sizeof test.a_words),
             b = copied(test.b_words, sizeof test.b_words),
             c = copied(test.c_words, sizeof test.c_words),
             s = copied(test.scales, sizeof test.scales),
             e = copied(test.metadata, sizeof test.metadata);
    return harness_launch(&h, "product", 1, 32, 0, ARGUMENTS(d, &a, &b, &c, &s, &e));
}

static void scaled_products_by_the_book(void **unused)
{
    (void)unused;
    for (int i = 0; i < SCALED_CASES; i++) {
        const struct scaled_case *w = &scaled_cases[i];
        uint64_t d;
        scaled_prepare(&test, w);
        if (run(&d) != EXEC_DONE)
            fail_msg("%s%s", h.message, h.fault.message);
        const uint32_t wrong = scaled_wrong(&test, harness_host(&h, d));
        if (wrong)
            fail_msg("%s, %s.%s.%s, %u parts: %u are wrong", w->kind, w->a, w->b, w->scale,
                     w->parts, wrong);
        harness_close(&h);
    }
}

/* Scales begin at a multiple of their count, in one of two lanes of A and one of four of B. */
static void places_end(void **unused)
{
    (void)unused;
    static const struct {
        int which;
        uint32_t byte[2], thread[2];
    } places[] = {
        {5, {1, 0}, {0, 0}}, {5, {0, 4}, {0, 0}}, {8, {2, 0}, {0, 0}},
        {0, {0, 4}, {0, 0}}, {0, {0, 0}, {2, 0}}, {0, {0, 0}, {0, 4}},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct scaled_case w = scaled_cases[places[i].which];
        uint64_t d;
        scaled_prepare(&test, &w);
        memcpy(test.what.byte, places[i].byte, sizeof test.what.byte);
        memcpy(test.what.thread, places[i].thread, sizeof test.what.thread);
        assert_int_equal(run(&d), EXEC_FAULT);
        assert_int_equal(h.fault.kind, EXEC_FAULT_ILLEGAL_INSTRUCTION);
        harness_close(&h);
    }
}

/* A NaN of ue8m0 makes NaNs of its row alone. */
static void a_scale_may_be_no_number(void **unused)
{
    (void)unused;
    uint64_t d;
    scaled_prepare(&test, &scaled_cases[0]);
    test.scales[4] = 0xff; /* row 1 */
    assert_int_equal(run(&d), EXEC_DONE);
    const float *got = harness_host(&h, d);
    for (int lane = 0; lane < SCALED_LANES; lane++)
        for (int r = 0; r < 4; r++)
            assert_int_equal(isnan(got[r * SCALED_LANES + lane]) != 0, lane / 4 == 1 && r < 2);
    harness_close(&h);
}

static void other_forms_are_refused(void **unused)
{
    (void)unused;
    static const struct scaled_case forms[] = {
        {"mxf4", "e2m1", "e2m1", "ue4m3", 2, {0, 0}, {0, 0}, 0, 1},
        {"mxf4", "e2m1", "e2m1", "ue8m0", 4, {0, 0}, {0, 0}, 0, 1},
        {"mxf4nvf4", "e2m1", "e2m1", "ue4m3", 2, {0, 0}, {0, 0}, 0, 1},
        {"mxf4nvf4", "e2m1", "e2m1", "ue4m3", 4, {0, 0}, {0, 0}, 0, 0},
        {"mxf8f6f4", "e4m3", "e4m3", "ue8m0", 2, {0, 0}, {0, 0}, 0, 1},
        {"mxf8f6f4", "e4m3", "e4m3", "ue4m3", 1, {0, 0}, {0, 0}, 0, 1},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char message[512];
        scaled_prepare(&test, &forms[i]);
        harness_open_text(&h, scaled_text(&test));
        assert_false(exec_prepare(h.image, harness_kernel(&h, "product"), message, sizeof message));
        harness_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaled_products_by_the_book), cmocka_unit_test(places_end),
        cmocka_unit_test(a_scale_may_be_no_number), cmocka_unit_test(other_forms_are_refused)};
    return harness_run_tests(tests);
}
