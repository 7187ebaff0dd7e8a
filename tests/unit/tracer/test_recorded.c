/* What was recorded of a launch, joined with what it touches besides: against a table of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/tracer/recorded.h"

#include <stdlib.h>
#include <string.h>

enum { SPAN = 1024, KINDS = 3, MOST = 6, ROUNDS = 2000 };

static uint8_t expected[KINDS][SPAN], found[KINDS][SPAN];
static uint32_t seed = 1;

static uint32_t below(uint32_t limit)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)seed * limit >> 32);
}

/* How often each of its bytes is said. */
static void put(uint8_t table[KINDS][SPAN], const struct device_trace_range *range)
{
    for (uint64_t i = 0; i < (range->dims > 1 ? range->count[0] : 1); i++)
        for (uint64_t k = 0; k < (range->dims ? range->count[range->dims - 1] : 1); k++) {
            uint64_t at = range->address + (range->dims > 1 ? i * range->stride[0] : 0) +
                          (range->dims ? k * range->stride[range->dims - 1] : 0);
            for (uint64_t b = 0; b < range->bytes; b++)
                table[range->kind][at + b]++;
        }
}

/* Dimensions in any order, which may lie over each other. */
static struct device_trace_range any_range(void)
{
    struct device_trace_range range = {
        .bytes = 1 + below(24), .kind = below(KINDS), .dims = below(3)};
    uint64_t span = range.bytes;
    for (uint32_t i = 0; i < range.dims; i++) {
        range.count[i] = 1 + below(4);
        range.stride[i] = below(90);
        span += range.stride[i] * (range.count[i] - 1);
    }
    range.address = below((uint32_t)(SPAN - span));
    return range;
}

static void compare(const struct recorded *recorded)
{
    memset(found, 0, sizeof found);
    for (size_t i = 0; i < recorded->count; i++)
        put(found, &recorded->ranges[i]);
    for (uint32_t kind = 0; kind < KINDS; kind++)
        for (uint32_t at = 0; at < SPAN; at++)
            assert_int_equal(found[kind][at], expected[kind][at] != 0); /* none twice */
}

static void joined_ranges_are_the_bytes_of_both(void **state)
{
    (void)state;
    struct device_trace_range ranges[MOST];
    for (int round = 0; round < ROUNDS; round++) {
        struct recorded recorded = {.whole = true};
        memset(expected, 0, sizeof expected);
        for (int times = 0; times < 2; times++) { /* the second joins what the first made */
            uint32_t count = below(MOST + 1);
            for (uint32_t i = 0; i < count; i++) {
                ranges[i] = any_range();
                put(expected, &ranges[i]);
            }
            recorded_join(&recorded, ranges, count);
            assert_true(recorded.whole);
            compare(&recorded);
        }
        recorded_clear(&recorded);
    }
}

/* What lies between the rows that are nearest to each other comes in. */
static void too_many_rows_become_one_range(void **state)
{
    (void)state;
    const struct {
        struct device_trace_range range, expected;
    } cases[] = {
        {{.address = 64, .bytes = 1, .dims = 1, .stride = {2}, .count = {UINT64_C(1) << 40}},
         {.address = 64, .bytes = (UINT64_C(1) << 41) - 1}},
        {{.bytes = 1, .dims = 2, .stride = {1 << 20, 2}, .count = {1 << 15, 1 << 16}},
         {.bytes = (1 << 17) - 1, .dims = 1, .stride = {1 << 20}, .count = {1 << 15}}},
        {{.bytes = 1, .dims = 2, .stride = {2, 1 << 20}, .count = {1 << 16, 1 << 15}},
         {.bytes = (1 << 17) - 1, .dims = 1, .stride = {1 << 20}, .count = {1 << 15}}},
        {{.bytes = 1, .dims = 2, .stride = {1 << 20, 2}, .count = {1 << 17, 1 << 16}},
         {.bytes = (UINT64_C(1) << 37) - (1 << 20) + (1 << 17) - 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recorded recorded = {.whole = true};
        const struct device_trace_range *range = &cases[i].expected;
        recorded_join(&recorded, &cases[i].range, 1);
        assert_true(recorded.whole);
        assert_int_equal(recorded.count, 1);
        assert_int_equal(recorded.ranges->address, range->address);
        assert_int_equal(recorded.ranges->bytes, range->bytes);
        assert_int_equal(recorded.ranges->dims, range->dims);
        if (range->dims)
            assert_memory_equal(recorded.ranges->count, range->count, sizeof *range->count);
        recorded_clear(&recorded);
    }
}

/* Few rows stay as they are. */
static void of_many_the_largest_is_coarser(void **state)
{
    (void)state;
    struct recorded recorded = {.whole = true};
    const struct device_trace_range ranges[] = {
        {.address = 1 << 24, .bytes = 1, .dims = 1, .stride = {2}, .count = {3}},
        {.bytes = 1, .dims = 1, .stride = {2}, .count = {1 << 16}},
        {.address = 1 << 25, .bytes = 1, .dims = 1, .stride = {3}, .count = {4}}};
    recorded_join(&recorded, ranges, 3);
    assert_true(recorded.whole);
    assert_int_equal(recorded.count, 3);
    assert_int_equal(recorded.ranges[0].bytes, (1 << 17) - 1);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(recorded.ranges[i].bytes, 1);
        assert_int_equal(recorded.ranges[i].count[0], 2 + i);
    }
    recorded_clear(&recorded);
}

/* The result is exact, or there is none. */
static void too_much_that_was_recorded_is_not_whole(void **state)
{
    (void)state;
    struct device_trace_range *much = malloc(sizeof *much);
    *much = (struct device_trace_range){
        .bytes = 1, .dims = 2, .stride = {1 << 20, 2}, .count = {1 << 10, 1 << 10}};
    struct recorded recorded = {.whole = true, .count = 1, .ranges = much};
    const struct device_trace_range little = {.bytes = 4};
    recorded_join(&recorded, &little, 1);
    assert_false(recorded.whole);
    recorded_clear(&recorded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_ranges_are_the_bytes_of_both),
        cmocka_unit_test(too_many_rows_become_one_range),
        cmocka_unit_test(of_many_the_largest_is_coarser),
        cmocka_unit_test(too_much_that_was_recorded_is_not_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
