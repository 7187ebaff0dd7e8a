/* mma.sp against plain loops: the products of tests/integration/mma_sparse.h, which a GPU is asked
 * for, too; and selectors that a shape does not have. */
#include "tests/unit/device/exec/exec_harness.h"

#include "tests/integration/mma_sparse.h"

static struct harness h;
static struct sparse_test test;

static uint64_t copied(const void *words, uint64_t bytes)
{
    const uint64_t memory = harness_allocate(&h, bytes);
    memcpy(harness_host(&h, memory), words, bytes);
    return memory;
}

static void sparse_products_by_the_book(void **unused)
{
    (void)unused;
    for (int i = 0; i < SPARSE_CASES; i++) {
        const struct sparse_case *w = &sparse_cases[i];
        sparse_prepare(&test, w);
        harness_open_text(&h, sparse_text(&test));
        uint64_t d = harness_allocate(&h, 4 * 128), a = copied(test.a_words, sizeof test.a_words),
                 b = copied(test.b_words, sizeof test.b_words),
                 c = copied(test.c_words, sizeof test.c_words),
                 e = copied(test.metadata, sizeof test.metadata);
        harness_run(&h, "product", 1, 32, 0, ARGUMENTS(&d, &a, &b, &c, &e));
        const uint32_t wrong = sparse_wrong(&test, harness_host(&h, d));
        if (wrong)
            fail_msg("m16n8k%u.%s.%s.%s, selector %u: %u are wrong", w->k, w->c, w->a, w->b,
                     w->selector, wrong);
        harness_close(&h);
    }
}

/* Where two lanes of four give metadata there are two selectors, where all do there is one. */
static void selectors_end(void **unused)
{
    (void)unused;
    for (int i = 0; i < SPARSE_CASES; i++) {
        struct sparse_case w = sparse_cases[i];
        const uint32_t lanes = w.k * w.bits == 256 ? (w.bits >= 16 ? 1 : 2) : w.bits >= 16 ? 2 : 4;
        for (uint32_t over = 0; over < 2; over++) {
            char message[512];
            w.selector = 4 / lanes - 1;
            sparse_prepare(&test, &w);
            test.what.selector += over;
            harness_open_text(&h, sparse_text(&test));
            assert_int_equal(
                exec_prepare(h.image, harness_kernel(&h, "product"), message, sizeof message),
                !over);
            harness_close(&h);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sparse_products_by_the_book),
                                       cmocka_unit_test(selectors_end)};
    return harness_run_tests(tests);
}
