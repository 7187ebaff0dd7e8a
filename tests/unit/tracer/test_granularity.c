/* How fine and how large records are made, by what launches showed. */
#include "runtime/tracer/granularity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { LARGEST = RECORD_SIZES - 1 };

static void words_in_small_records_at_first(void **state)
{
    (void)state;
    struct granularity_history history;
    granularity_history_init(&history);
    struct granularity granularity = granularity_for(&history, 256, 4096);
    assert_int_equal(granularity.shift, 2);
    assert_int_equal(granularity.size, 0);
    assert_false(granularity.coarse);
    struct granularity unknown = granularity_for(NULL, 256, 4096);
    assert_int_equal(unknown.shift, granularity.shift);
    assert_int_equal(unknown.size, granularity.size);
    assert_false(unknown.coarse);
}

/* As many threads have larger ones from then on, fewer have not. */
static void what_is_full_grows(void **state)
{
    (void)state;
    struct granularity_history history;
    granularity_history_init(&history);
    struct granularity granularity = granularity_for(&history, 1000, 0);
    granularity_too_small(&history, &granularity, 1000, LARGEST);
    assert_int_equal(granularity_for(&history, 1000, 0).size, 1);
    assert_int_equal(granularity_for(&history, 2000, 0).size, 1);
    assert_int_equal(granularity_for(&history, 999, 0).size, 0);
    assert_int_equal(granularity_for(&history, 1000, 0).shift, 2);
}

/* A launch that fills the largest record gets coarser granules, and coarser again. */
static void the_largest_grow_coarse(void **state)
{
    (void)state;
    struct granularity_history history;
    granularity_history_init(&history);
    uint32_t before = 2;
    for (int i = 0; i < 3; i++) {
        struct granularity granularity = granularity_for(&history, 1000, 0);
        assert_true(i == 0 || granularity.coarse);
        granularity.size = LARGEST;
        granularity_too_small(&history, &granularity, 1000, LARGEST);
        granularity = granularity_for(&history, 1000, 0);
        assert_true(granularity.coarse);
        assert_true(granularity.shift > before);
        before = granularity.shift;
    }
    assert_false(granularity_for(&history, 999, 0).coarse);
}

static void narrow_accesses_take_bytes(void **state)
{
    (void)state;
    struct granularity_history history;
    granularity_history_init(&history);
    granularity_too_wide(&history);
    assert_int_equal(granularity_for(&history, 1, 0).shift, 0);
}

/* Large blocks, as far as so many threads get round in them. */
static void reach_makes_records_large(void **state)
{
    (void)state;
    struct granularity_history history;
    granularity_history_init(&history);
    const uint64_t reach = UINT64_C(64) << 30;
    assert_int_equal(granularity_for(&history, UINT64_MAX, reach).size, LARGEST);
    assert_int_equal(granularity_for(&history, 1, reach).size, 0);
}

/* Beyond three quarters of its slots the next is taken. */
static void a_quarter_of_the_slots_stays_free(void **state)
{
    (void)state;
    for (uint32_t size = 0; size < LARGEST; size++) {
        const uint64_t chunk = UINT64_C(1) << (RECORD_CHUNK_SHIFT + 2),
                       full = UINT64_C(3) << record_slot_shift(size) >> 2;
        assert_int_equal(granularity_for(NULL, UINT64_MAX, (full - 1) * chunk).size, size);
        assert_int_equal(granularity_for(NULL, UINT64_MAX, full * chunk).size, size + 1);
    }
}

/* What a larger one had no room for, a smaller one has none for either. */
static void smaller_records_are_too_small_as_well(void **state)
{
    (void)state;
    struct granularity_history history;
    granularity_history_init(&history);
    const struct granularity granularity = {.size = 1, .shift = 2};
    granularity_too_small(&history, &granularity, 1000, LARGEST);
    assert_int_equal(granularity_for(&history, 1000, 0).size, 2);
    assert_false(granularity_for(&history, 1000, 0).coarse);
}

/* And where there is no memory for larger ones, these are no help. */
static void the_largest_that_there_is_grows_coarse(void **state)
{
    (void)state;
    struct granularity_history history;
    granularity_history_init(&history);
    const struct granularity granularity = {.size = 1, .shift = 2};
    granularity_too_small(&history, &granularity, 1000, 1);
    assert_true(granularity_for(&history, 1000, 0).coarse);
    assert_int_equal(granularity_for(&history, 1000, 0).shift, 6);
}

/* Each time by as much; from bytes to words first. */
static void granules_grow_sixteenfold(void **state)
{
    (void)state;
    struct granularity_history history;
    for (uint32_t shift = 0; shift <= 6; shift += shift ? 4 : 2) {
        granularity_history_init(&history);
        const struct granularity granularity = {.size = LARGEST, .shift = shift};
        granularity_too_small(&history, &granularity, 1000, LARGEST);
        assert_int_equal(granularity_for(&history, 1000, 0).shift, shift ? shift + 4 : 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_in_small_records_at_first),
                                       cmocka_unit_test(what_is_full_grows),
                                       cmocka_unit_test(the_largest_grow_coarse),
                                       cmocka_unit_test(narrow_accesses_take_bytes),
                                       cmocka_unit_test(reach_makes_records_large),
                                       cmocka_unit_test(a_quarter_of_the_slots_stays_free),
                                       cmocka_unit_test(smaller_records_are_too_small_as_well),
                                       cmocka_unit_test(the_largest_that_there_is_grows_coarse),
                                       cmocka_unit_test(granules_grow_sixteenfold)};
    return cmocka_run_group_tests_name("granularity", tests, NULL, NULL);
}
