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

/* Of more rows than anybody has time for nothing is told. */
static void too_much_is_not_whole(void **state)
{
    (void)state;
    struct recorded recorded = {.whole = true};
    const struct device_trace_range much[] = {
        {.bytes = 1, .dims = 1, .stride = {2}, .count = {UINT64_C(1) << 40}},
        {.bytes = 1, .dims = 2, .stride = {1 << 20, 2}, .count = {1 << 16, 1 << 16}}};
    const struct device_trace_range little = {.bytes = 4};
    recorded_join(&recorded, &little, 1);
    for (int i = 0; i < 2; i++) {
        recorded.whole = true;
        recorded_join(&recorded, &much[i], 1);
        assert_false(recorded.whole);
    }
    recorded_clear(&recorded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_ranges_are_the_bytes_of_both),
        cmocka_unit_test(too_much_is_not_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
