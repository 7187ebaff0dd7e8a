/* The range map against a plain sorted array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/base/range_map.h"
#include <stdlib.h>
#include <string.h>

struct element {
    struct range range;
    uint64_t value;
};

enum { UNITS = 4000 };

/* Each unit of address space is free (0) or belongs to a range of one unit with that value. */
static void random_inserts_and_removals(void **state)
{
    (void)state;
    uint64_t model[UNITS] = {0};
    struct range_map map;
    range_map_init(&map, sizeof(struct element));
    size_t count = 0;
    srand(1);
    for (int round = 0; round < 60000; round++) {
        uint64_t unit = (uint64_t)rand() % UNITS;
        struct range_cursor cursor = range_map_seek(&map, unit * 10);
        struct element *element = range_map_at(&map, cursor);
        bool present = element && element->range.start == unit * 10;
        assert_int_equal(present, model[unit] != 0);
        bool grow = (round / 10000) % 2 == 0;
        if (!present && (grow || rand() % 4 == 0)) {
            element = range_map_insert(&map, &cursor, (struct range){unit * 10, unit * 10 + 7});
            assert_non_null(element);
            assert_ptr_equal(range_map_at(&map, cursor), element);
            assert_int_equal(element->value, 0);
            element->value = model[unit] = (uint64_t)rand() + 1;
            count++;
        } else if (present && (!grow || rand() % 4 == 0)) {
            range_map_remove(&map, &cursor);
            model[unit] = 0;
            count--;
            element = range_map_at(&map, cursor);
            assert_true(!element || element->range.start > unit * 10);
        }
        assert_int_equal(map.count, count);
        uint64_t probe = (uint64_t)rand() % (UNITS * 10);
        for (int i = 0; i < 3 && probe < UNITS * 10; i++, probe += 10) { /* as lists of pointers */
            element = range_map_find(&map, probe);
            assert_int_equal(element != NULL, model[probe / 10] && probe % 10 < 7);
            if (element)
                assert_int_equal(element->value, model[probe / 10]);
        }
    }
    struct range_cursor cursor = {0, 0};
    for (uint64_t unit = 0; unit < UNITS; unit++) {
        if (!model[unit])
            continue;
        struct element *element = range_map_at(&map, cursor);
        assert_int_equal(element->value, model[unit]);
        cursor = range_map_next(&map, cursor);
    }
    assert_null(range_map_at(&map, cursor));
    range_map_clear(&map);
}

static void before_and_between(void **state)
{
    (void)state;
    struct range_map map;
    range_map_init(&map, sizeof(struct element));
    for (uint64_t i = 0; i < 1000; i++) {
        struct range_cursor cursor = range_map_seek(&map, i * 10);
        assert_non_null(range_map_insert(&map, &cursor, (struct range){i * 10, i * 10 + 10}));
    }
    for (uint64_t i = 1; i < 1000; i++) {
        struct range_cursor cursor = range_map_seek(&map, i * 10);
        struct element *before = range_map_before(&map, cursor);
        assert_int_equal(before->range.start, (i - 1) * 10);
    }
    assert_null(range_map_before(&map, range_map_seek(&map, 0)));
    assert_null(range_map_at(&map, range_map_seek(&map, 10000)));
    range_map_clear(&map);
}

/* Against an array that says of each byte whose it is. */
static void random_cuts(void **state)
{
    (void)state;
    enum { BYTES = 2000 };
    uint64_t model[BYTES] = {0};
    struct range_map map;
    range_map_init(&map, sizeof(struct element));
    srand(2);
    for (uint64_t round = 1; round <= 20000; round++) {
        uint64_t start = (uint64_t)rand() % BYTES;
        uint64_t longest = BYTES - start < 40 ? BYTES - start : 40;
        struct range range = {start, start + 1 + (uint64_t)rand() % longest};
        assert_true(range_map_cut(&map, range));
        bool fill = rand() % 3 != 0;
        if (fill) {
            struct range_cursor cursor = range_map_seek(&map, range.start);
            struct element *element = range_map_insert(&map, &cursor, range);
            assert_non_null(element);
            element->value = round;
        }
        assert_int_equal(range_map_overlaps(&map, range), fill);
        for (uint64_t at = range.start; at < range.end; at++)
            model[at] = fill ? round : 0;
        if (round % 50)
            continue;
        struct range_map copy;
        assert_true(range_map_copy(&copy, &map));
        for (uint64_t at = 0; at < BYTES; at++) {
            const struct element *element = range_map_find(&map, at);
            const struct element *copied = range_map_find(&copy, at);
            assert_int_equal(element ? element->value : 0, model[at]);
            assert_int_equal(copied ? copied->value : 0, model[at]);
        }
        assert_int_equal(copy.count, map.count);
        range_map_clear(&copy);
    }
    range_map_clear(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_inserts_and_removals),
        cmocka_unit_test(before_and_between),
        cmocka_unit_test(random_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
