/* The verifier of access sets must find every kind of wrong set, and nothing wrong in a right one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/access/verify.h"

enum { BASE = 0x10000, BYTES = 0x1000 };

static struct verify_base bases[2];
static struct access_base set_bases[2];

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        bases[i] =
            (struct verify_base){.address = BASE + 0x100 * i, .allocation = BASE, .bytes = BYTES};
    return 0;
}

static struct verify_result check(const struct access_range *ranges, uint32_t range_count,
                                  const struct verify_touch *touches, size_t touch_count)
{
    struct access_set set = {.bases = set_bases,
                             .ranges = ranges,
                             .base_count = 2,
                             .range_count = range_count,
                             .complete = true};
    struct verify_case checked = {
        .set = &set, .bases = bases, .touches = touches, .touch_count = touch_count};
    struct verify_result result;
    verify_check(&checked, &result);
    return result;
}

static struct verify_touch touch(uint32_t kind, uint64_t address, uint64_t bytes)
{
    return (struct verify_touch){.kind = kind, .address = address, .bytes = bytes};
}

static struct access_range range(uint32_t kind, uint32_t bound, int64_t offset, uint64_t bytes)
{
    return (struct access_range){
        .kind = (uint8_t)kind, .bound = (uint8_t)bound, .offset = offset, .bytes = bytes};
}

static void assert_disagreement(const struct verify_result *result, uint32_t at,
                                enum verify_fault fault, uint64_t address, uint64_t bytes)
{
    assert_int_equal(result->verdict, VERIFY_DISAGREES);
    assert_true(at < result->count);
    assert_int_equal(result->disagreements[at].fault, fault);
    assert_int_equal(result->disagreements[at].address, address);
    assert_int_equal(result->disagreements[at].bytes, bytes);
}

static void nothing_agrees_with_nothing(void **state)
{
    (void)state;
    struct verify_result result = check(NULL, 0, NULL, 0);
    assert_int_equal(result.verdict, VERIFY_AGREES);
}

static void equal_ranges_agree(void **state)
{
    (void)state;
    struct access_range set[] = {range(ACCESS_WRITE, ACCESS_EXACT, 16, 64),
                                 range(ACCESS_READ, ACCESS_EXACT, 64, 8)};
    struct verify_touch truth[] = {touch(ACCESS_WRITE, BASE + 16, 64),
                                   touch(ACCESS_READ, BASE + 64, 8)};
    assert_int_equal(check(set, 2, truth, 2).verdict, VERIFY_AGREES);
}

static void touched_byte_outside_is_unsound(void **state)
{
    (void)state;
    struct access_range set = range(ACCESS_WRITE, ACCESS_BOUND_GUARD, 16, 64);
    struct verify_touch before = touch(ACCESS_WRITE, BASE + 15, 64);
    struct verify_touch after = touch(ACCESS_WRITE, BASE + 20, 61);
    struct verify_result result = check(&set, 1, &before, 1);
    assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE + 15, 1);
    result = check(&set, 1, &after, 1);
    assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE + 80, 1);
    result = check(NULL, 0, &after, 1);
    assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE + 20, 61);
}

static void gap_between_ranges_is_unsound(void **state)
{
    (void)state;
    struct access_range set[] = {range(ACCESS_READ, ACCESS_BOUND_DATA, 40, 24),
                                 range(ACCESS_READ, ACCESS_BOUND_DATA, 0, 32)};
    struct verify_touch truth = touch(ACCESS_READ, BASE + 4, 56);
    struct verify_result result = check(set, 2, &truth, 1);
    assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE + 32, 8);
    set[1].bytes = 40;
    assert_int_equal(check(set, 2, &truth, 1).verdict, VERIFY_AGREES);
}

static void kinds_do_not_stand_for_each_other(void **state)
{
    (void)state;
    for (uint32_t claimed = ACCESS_READ; claimed <= ACCESS_ATOMIC; claimed++)
        for (uint32_t real = ACCESS_READ; real <= ACCESS_ATOMIC; real++) {
            struct access_range set = range(claimed, ACCESS_EXACT, 0, 4);
            struct verify_touch truth = touch(real, BASE, 4);
            struct verify_result result = check(&set, 1, &truth, 1);
            assert_int_equal(result.verdict, claimed == real ? VERIFY_AGREES : VERIFY_DISAGREES);
            assert_int_equal(result.count, claimed == real ? 0 : 2);
        }
}

/* By machine code a strong load is a load, and an atomic operation of a block's an atomic one; a
 * load is no store. */
static void atomic_may_be_either_without_strength(void **state)
{
    (void)state;
    for (uint32_t claimed = ACCESS_READ; claimed <= ACCESS_ATOMIC; claimed++)
        for (uint32_t real = ACCESS_READ; real <= ACCESS_ATOMIC; real++) {
            struct access_range claimed_range = range(claimed, ACCESS_EXACT, 0, 8);
            struct access_set set = {.bases = set_bases,
                                     .ranges = &claimed_range,
                                     .base_count = 2,
                                     .range_count = 1,
                                     .complete = true};
            struct verify_touch truth[] = {touch(real, BASE, 8), touch(real, BASE + 8, 4)};
            struct verify_case checked = {.set = &set,
                                          .bases = bases,
                                          .touches = truth,
                                          .touch_count = 1,
                                          .any_strength = true};
            struct verify_result result;
            bool matches = claimed == real || claimed == ACCESS_ATOMIC || real == ACCESS_ATOMIC;
            verify_check(&checked, &result);
            assert_int_equal(result.verdict, matches ? VERIFY_AGREES : VERIFY_DISAGREES);
            assert_int_equal(result.count, matches ? 0 : 2);
            if (!matches)
                continue;
            checked.touch_count = 2;
            verify_check(&checked, &result);
            assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE + 8, 4);
            truth[0].bytes = 4;
            checked.touch_count = 1;
            verify_check(&checked, &result);
            assert_disagreement(&result, 0, VERIFY_NOT_EXACT, BASE + 4, 4);
        }
}

/* It says what was not touched, and nothing of what was. */
static void coarse_truth_judges_exact_ranges_alone(void **state)
{
    (void)state;
    struct access_range ranges[] = {range(ACCESS_WRITE, ACCESS_EXACT, 16, 64)};
    struct access_set set = {
        .bases = set_bases, .ranges = ranges, .base_count = 2, .range_count = 1, .complete = true};
    struct verify_touch truth = touch(ACCESS_WRITE, BASE, 128);
    struct verify_case checked = {
        .set = &set, .bases = bases, .touches = &truth, .touch_count = 1, .coarse = true};
    struct verify_result result;
    verify_check(&checked, &result);
    assert_int_equal(result.verdict, VERIFY_AGREES);
    truth.bytes = 64;
    verify_check(&checked, &result);
    assert_int_equal(result.count, 1);
    assert_disagreement(&result, 0, VERIFY_NOT_EXACT, BASE + 64, 16);
}

static void untouched_byte_is_not_exact(void **state)
{
    (void)state;
    struct access_range set[] = {range(ACCESS_READ, ACCESS_BOUND_GUARD, 0, 256),
                                 range(ACCESS_READ, ACCESS_EXACT, 0, 64)};
    struct verify_touch truth[] = {touch(ACCESS_READ, BASE, 30), touch(ACCESS_READ, BASE + 33, 90)};
    struct verify_result result = check(set, 2, truth, 2);
    assert_disagreement(&result, 0, VERIFY_NOT_EXACT, BASE + 30, 3);
    assert_int_equal(result.disagreements[0].range, 1);
    assert_int_equal(result.count, 1);
}

static void exact_range_may_be_touched_through_another(void **state)
{
    (void)state;
    struct access_range set[] = {range(ACCESS_READ, ACCESS_EXACT, 0x100, 64),
                                 range(ACCESS_READ, ACCESS_EXACT, 0, 64)};
    set[1].base = 1; /* the same bytes through the second base */
    struct verify_touch truth = touch(ACCESS_READ, BASE + 0x100, 64);
    assert_int_equal(check(set, 2, &truth, 1).verdict, VERIFY_AGREES);
}

static void strides_of_any_shape_and_order(void **state)
{
    (void)state;
    /* 8 rows of 4 elements of 4 bytes, 8 apart: rows described upwards, elements downwards */
    static const struct access_dim dims[] = {{-8, 4}, {128, 8}};
    struct access_range set = range(ACCESS_WRITE, ACCESS_EXACT, 24, 4);
    set.dims = dims;
    set.dim_count = 2;
    struct verify_touch truth = {
        .address = BASE, .bytes = 4, .kind = ACCESS_WRITE, .dims = 2, {128, 8}, {8, 4}};
    assert_int_equal(check(&set, 1, &truth, 1).verdict, VERIFY_AGREES);
    truth.count[0] = 7;
    struct verify_result result = check(&set, 1, &truth, 1);
    assert_disagreement(&result, 0, VERIFY_NOT_EXACT, BASE + 7 * 128, 4);
    truth.count[0] = 9;
    result = check(&set, 1, &truth, 1);
    assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE + 8 * 128, 4);
    truth.count[0] = 8;
    truth.stride[1] = 4;
    result = check(&set, 1, &truth, 1);
    assert_int_equal(result.count, 2);
    assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE + 4, 4);
    assert_disagreement(&result, 1, VERIFY_NOT_EXACT, BASE + 16, 4);
}

static void overlapping_and_contiguous_dimensions_join(void **state)
{
    (void)state;
    /* a billion starts, all within 1,004 bytes: strides 4 and 0, and 4 again */
    static const struct access_dim dims[] = {{0, 1u << 30}, {4, 1000}, {-4, 2}};
    struct access_range set = range(ACCESS_READ, ACCESS_EXACT, 4, 4);
    set.dims = dims;
    set.dim_count = 3;
    struct verify_touch truth = touch(ACCESS_READ, BASE, 4004);
    assert_int_equal(check(&set, 1, &truth, 1).verdict, VERIFY_AGREES);
}

static void bounded_range_ends_with_its_allocation(void **state)
{
    (void)state;
    struct access_range set = range(ACCESS_WRITE, ACCESS_BOUND_DATA, -0x20000, 0x80000);
    struct verify_touch inside = touch(ACCESS_WRITE, BASE, BYTES);
    struct verify_touch past = touch(ACCESS_WRITE, BASE + BYTES - 4, 8);
    assert_int_equal(check(&set, 1, &inside, 1).verdict, VERIFY_AGREES);
    struct verify_result result = check(&set, 1, &past, 1);
    assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE + BYTES, 4);
}

static void to_end_starts_at_the_pointer_and_whole_does_not(void **state)
{
    (void)state;
    struct access_range set = range(ACCESS_READ, ACCESS_BOUND_DIRECTION, 0, ACCESS_TO_END);
    set.base = 1;
    struct verify_touch end = touch(ACCESS_READ, BASE + 0x100, BYTES - 0x100);
    struct verify_touch whole = touch(ACCESS_READ, BASE, BYTES);
    assert_int_equal(check(&set, 1, &end, 1).verdict, VERIFY_AGREES);
    struct verify_result result = check(&set, 1, &whole, 1);
    assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE, 0x100);
    set.bytes = ACCESS_WHOLE;
    assert_int_equal(check(&set, 1, &whole, 1).verdict, VERIFY_AGREES);
}

static void pointer_to_no_allocation(void **state)
{
    (void)state;
    bases[0].bytes = 0;
    struct verify_touch truth = touch(ACCESS_READ, BASE, 8);
    struct access_range bounded = range(ACCESS_READ, ACCESS_BOUND_DATA, 0, 8);
    struct verify_result result = check(&bounded, 1, &truth, 1);
    assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE, 8);
    struct access_range exact = range(ACCESS_READ, ACCESS_EXACT, 0, 8);
    assert_int_equal(check(&exact, 1, &truth, 1).verdict, VERIFY_AGREES);
    bases[0].absent = true;
    result = check(&exact, 1, &truth, 1);
    assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE, 8);
    assert_int_equal(check(&exact, 1, NULL, 0).verdict, VERIFY_AGREES);
}

static void incomplete_sets_answer_for_exact_ranges(void **state)
{
    (void)state;
    struct access_range ranges = range(ACCESS_READ, ACCESS_EXACT, 0, 8);
    struct access_set set = {
        .bases = set_bases, .ranges = &ranges, .base_count = 2, .range_count = 1};
    struct verify_touch truth[] = {touch(ACCESS_READ, BASE, 8), touch(ACCESS_WRITE, BASE + 8, 8)};
    struct verify_case checked = {.set = &set, .bases = bases, .touches = truth, .touch_count = 2};
    struct verify_result result;
    verify_check(&checked, &result);
    assert_int_equal(result.verdict, VERIFY_AGREES);
    truth[0].bytes = 7;
    verify_check(&checked, &result);
    assert_disagreement(&result, 0, VERIFY_NOT_EXACT, BASE + 7, 1);
    checked.unfinished = true;
    verify_check(&checked, &result);
    assert_int_equal(result.verdict, VERIFY_AGREES);
}

static void unwatched_bases_need_not_be_touched(void **state)
{
    (void)state;
    struct access_range set = range(ACCESS_READ, ACCESS_EXACT, 0, 8);
    bases[0].unwatched = true;
    assert_int_equal(check(&set, 1, NULL, 0).verdict, VERIFY_AGREES);
    struct verify_touch truth = touch(ACCESS_READ, BASE + 8, 1);
    struct verify_result result = check(&set, 1, &truth, 1);
    assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE + 8, 1);
}

static void too_large_is_said(void **state)
{
    (void)state;
    static const struct access_dim dims[] = {{16, 1u << 24}};
    struct access_range set = range(ACCESS_READ, ACCESS_EXACT, 0, 4);
    set.dims = dims;
    set.dim_count = 1;
    struct verify_touch truth = touch(ACCESS_READ, BASE, 4);
    assert_int_equal(check(&set, 1, &truth, 1).verdict, VERIFY_TOO_LARGE);
    truth = (struct verify_touch){
        .address = BASE, .bytes = 1, .kind = ACCESS_READ, .dims = 1, {2}, {UINT64_MAX}};
    set.dim_count = 0;
    set.bytes = 1u << 26;
    assert_int_equal(check(&set, 1, &truth, 1).verdict, VERIFY_TOO_LARGE);
}

static void end_of_the_address_space(void **state)
{
    (void)state;
    bases[0] = (struct verify_base){
        .address = UINT64_MAX - 15, .allocation = UINT64_MAX - 15, .bytes = 16};
    struct access_range set[] = {range(ACCESS_READ, ACCESS_BOUND_DATA, 0, 15),
                                 range(ACCESS_READ, ACCESS_BOUND_DATA, 15, 1)};
    struct verify_touch truth = touch(ACCESS_READ, UINT64_MAX - 15, 16);
    assert_int_equal(check(set, 2, &truth, 1).verdict, VERIFY_AGREES);
    struct verify_result result = check(set, 1, &truth, 1);
    assert_disagreement(&result, 0, VERIFY_UNSOUND, UINT64_MAX, 1);
}

/* Random runs against a plain array of bytes. */
static void random_sets_as_by_bytes(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 3000; round++) {
        unsigned char claimed[512] = {0}, real[512] = {0};
        struct access_range set[5];
        struct access_dim dims[5][2];
        struct verify_touch truth[5];
        int unsound = -1;
        for (int i = 0; i < 5; i++) {
            int outer = rand() % 3 + 1, inner = rand() % 4 + 1, bytes = rand() % 8 + 1;
            int stride[] = {rand() % 40, rand() % 12}, at = 150 + rand() % 100;
            int sign[] = {rand() % 2 ? 1 : -1, rand() % 2 ? 1 : -1};
            dims[i][0] = (struct access_dim){stride[0] * sign[0], (uint64_t)outer};
            dims[i][1] = (struct access_dim){stride[1] * sign[1], (uint64_t)inner};
            set[i] = range(ACCESS_READ, ACCESS_BOUND_DATA, at, (uint64_t)bytes);
            set[i].dims = dims[i];
            set[i].dim_count = 2;
            for (int a = 0; a < outer; a++)
                for (int b = 0; b < inner; b++)
                    memset(claimed + at + a * stride[0] * sign[0] + b * stride[1] * sign[1], 1,
                           (size_t)bytes);
            uint64_t first = (uint64_t)(150 + rand() % 150), run = (uint64_t)(rand() % 12);
            truth[i] = touch(ACCESS_READ, BASE + first, run);
            memset(real + first, 1, run);
        }
        for (int i = 511; i >= 0; i--)
            unsound = real[i] && !claimed[i] ? i : unsound;
        struct verify_result result = check(set, 5, truth, 5);
        if (unsound < 0) {
            assert_int_equal(result.verdict, VERIFY_AGREES);
            continue;
        }
        int end = unsound;
        while (real[end] && !claimed[end])
            end++;
        assert_disagreement(&result, 0, VERIFY_UNSOUND, BASE + (uint64_t)unsound,
                            (uint64_t)(end - unsound));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_agrees_with_nothing, setup),
        cmocka_unit_test_setup(equal_ranges_agree, setup),
        cmocka_unit_test_setup(touched_byte_outside_is_unsound, setup),
        cmocka_unit_test_setup(gap_between_ranges_is_unsound, setup),
        cmocka_unit_test_setup(kinds_do_not_stand_for_each_other, setup),
        cmocka_unit_test_setup(atomic_may_be_either_without_strength, setup),
        cmocka_unit_test_setup(coarse_truth_judges_exact_ranges_alone, setup),
        cmocka_unit_test_setup(untouched_byte_is_not_exact, setup),
        cmocka_unit_test_setup(exact_range_may_be_touched_through_another, setup),
        cmocka_unit_test_setup(strides_of_any_shape_and_order, setup),
        cmocka_unit_test_setup(overlapping_and_contiguous_dimensions_join, setup),
        cmocka_unit_test_setup(bounded_range_ends_with_its_allocation, setup),
        cmocka_unit_test_setup(to_end_starts_at_the_pointer_and_whole_does_not, setup),
        cmocka_unit_test_setup(pointer_to_no_allocation, setup),
        cmocka_unit_test_setup(incomplete_sets_answer_for_exact_ranges, setup),
        cmocka_unit_test_setup(unwatched_bases_need_not_be_touched, setup),
        cmocka_unit_test_setup(too_large_is_said, setup),
        cmocka_unit_test_setup(end_of_the_address_space, setup),
        cmocka_unit_test_setup(random_sets_as_by_bytes, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
