/* Arrays that grow: by one, to a size, to a number; without memory and beyond all sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static bool memory_is_short;
static unsigned calls;   /* of realloc, */
static size_t last_size; /* with so many bytes the last time */

static void *realloc_counted(void *items, size_t bytes)
{
    calls++;
    last_size = bytes;
    return memory_is_short ? NULL : realloc(items, bytes);
}

#define realloc realloc_counted
#include "csan/base/array.h"
#undef realloc

static int before_each(void **state)
{
    (void)state;
    memory_is_short = false;
    calls = 0;
    last_size = 0;
    return 0;
}

static void one_by_one_it_doubles(void **state)
{
    (void)state;
    uint32_t *items = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 1000; i++) {
        assert_true(array_room(&items, i, &capacity, 16, SIZE_MAX, sizeof *items));
        assert_true(i < capacity);
        items[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    assert_int_equal(capacity, 1024);
    assert_int_equal(calls, 7); /* 16, 32, ... 1024 */
    assert_int_equal(last_size, 1024 * sizeof *items);
    free(items);
}

static void a_size_is_reached_at_once(void **state)
{
    (void)state;
    uint64_t *items = NULL;
    size_t capacity = 0;
    assert_true(array_reserve(&items, 0, &capacity, 8, SIZE_MAX, sizeof *items));
    assert_null(items);
    assert_true(array_reserve(&items, 100, &capacity, 8, SIZE_MAX, sizeof *items));
    assert_int_equal(capacity, 128);
    assert_true(array_reserve(&items, 128, &capacity, 8, SIZE_MAX, sizeof *items));
    assert_int_equal(calls, 1);
    assert_true(array_reserve(&items, 129, &capacity, 8, SIZE_MAX, sizeof *items));
    assert_int_equal(capacity, 256);
    free(items);
}

static void new_elements_of_a_number_are_zero(void **state)
{
    (void)state;
    uint16_t *items = NULL;
    size_t capacity = 0;
    assert_true(array_reach(&items, 0, &capacity, 4, SIZE_MAX, sizeof *items));
    assert_int_equal(capacity, 4);
    memset(items, 0xff, 4 * sizeof *items);
    assert_true(array_reach(&items, 3, &capacity, 4, SIZE_MAX, sizeof *items));
    assert_int_equal(calls, 1);
    assert_true(array_reach(&items, 4, &capacity, 4, SIZE_MAX, sizeof *items));
    assert_int_equal(capacity, 8);
    assert_true(array_reach(&items, 100, &capacity, 4, SIZE_MAX, sizeof *items));
    assert_int_equal(capacity, 128);
    for (size_t i = 0; i < capacity; i++)
        assert_int_equal(items[i], i < 4 ? 0xffff : 0);
    free(items);
}

static void without_a_capacity_powers_of_two_grow(void **state)
{
    (void)state;
    uint8_t *items = NULL;
    for (size_t i = 0; i < 100; i++) {
        assert_true(array_grow(&items, i, sizeof *items));
        items[i] = (uint8_t)i;
    }
    assert_int_equal(calls, 8); /* 1, 2, 4, ... 128 */
    assert_int_equal(last_size, 128);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(items[i], i);
    free(items);
}

static void a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    uint32_t *items = NULL;
    size_t capacity = 0;
    assert_true(array_room(&items, 0, &capacity, 2, SIZE_MAX, sizeof *items));
    items[0] = 7;
    uint32_t *const before = items;
    memory_is_short = true;
    assert_true(array_room(&items, 1, &capacity, 2, SIZE_MAX, sizeof *items));
    assert_false(array_room(&items, 2, &capacity, 2, SIZE_MAX, sizeof *items));
    assert_false(array_reserve(&items, 3, &capacity, 2, SIZE_MAX, sizeof *items));
    assert_false(array_reach(&items, 2, &capacity, 2, SIZE_MAX, sizeof *items));
    assert_false(array_grow(&items, 2, sizeof *items));
    assert_int_equal(calls, 5);
    assert_ptr_equal(items, before);
    assert_int_equal(items[0], 7);
    assert_int_equal(capacity, 2);
    memory_is_short = false;
    assert_true(array_room(&items, 2, &capacity, 2, SIZE_MAX, sizeof *items));
    assert_int_equal(items[0], 7);
    assert_int_equal(capacity, 4);
    free(items);
}

static void no_more_than_the_most_is_had(void **state)
{
    (void)state;
    uint8_t *items = NULL;
    size_t capacity = 0;
    assert_false(array_room(&items, 0, &capacity, 8, 7, 1));
    assert_false(array_reserve(&items, 33, &capacity, 8, 32, 1));
    assert_false(array_reach(&items, 32, &capacity, 8, 32, 1));
    assert_int_equal(calls, 0);
    assert_null(items);
    assert_int_equal(capacity, 0);
    assert_true(array_reach(&items, 31, &capacity, 8, 32, 1));
    assert_int_equal(capacity, 32);
    assert_false(array_room(&items, 32, &capacity, 8, 32, 1));
    assert_false(array_room(&items, 32, &capacity, 8, 63, 1));
    assert_int_equal(calls, 1);
    assert_true(array_room(&items, 32, &capacity, 8, 64, 1));
    assert_int_equal(capacity, 64);
    free(items);
}

/* realloc is never asked for a size that wrapped. */
static void sizes_do_not_wrap(void **state)
{
    (void)state;
    void *items = NULL;
    size_t capacity = 0;
    memory_is_short = true;
    /* bytes of the first room, of a doubled one, and of the number itself */
    assert_false(array_room(&items, 0, &capacity, 16, SIZE_MAX, SIZE_MAX / 8));
    assert_false(array_reserve(&items, SIZE_MAX / 4 + 1, &capacity, 16, SIZE_MAX, 4));
    assert_false(array_reach(&items, SIZE_MAX, &capacity, 16, SIZE_MAX, 1));
    assert_false(array_reach(&items, SIZE_MAX - 1, &capacity, 16, SIZE_MAX, 1));
    capacity = SIZE_MAX / 2 + 1;
    assert_false(array_room(&items, capacity, &capacity, 16, SIZE_MAX, 1));
    assert_int_equal(capacity, SIZE_MAX / 2 + 1);
    capacity = SIZE_MAX / 16 + 1;
    assert_false(array_room(&items, capacity, &capacity, 16, SIZE_MAX, 8));
    assert_false(array_grow(&items, SIZE_MAX / 16 + 1, 8));
    assert_int_equal(calls, 0);
    /* the largest that a size_t counts is asked for */
    capacity = SIZE_MAX / 4 + 1;
    assert_false(array_room(&items, capacity, &capacity, 16, SIZE_MAX, 1));
    assert_int_equal(calls, 1);
    assert_int_equal(last_size, SIZE_MAX / 2 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_by_one_it_doubles, before_each),
        cmocka_unit_test_setup(a_size_is_reached_at_once, before_each),
        cmocka_unit_test_setup(new_elements_of_a_number_are_zero, before_each),
        cmocka_unit_test_setup(without_a_capacity_powers_of_two_grow, before_each),
        cmocka_unit_test_setup(a_failed_allocation_changes_nothing, before_each),
        cmocka_unit_test_setup(no_more_than_the_most_is_had, before_each),
        cmocka_unit_test_setup(sizes_do_not_wrap, before_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
