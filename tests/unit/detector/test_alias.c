/* Aliases against an array that says of each unit which bytes it stands for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/detector/alias.h"
#include <stdlib.h>
#include <string.h>

enum { UNITS = 64 };

/* Every unit of an access must be found once, at the place that the model says. */
static void assert_translated(const struct alias_table *table, const uint64_t *model,
                              uint64_t first, uint64_t units)
{
    struct csan_access access = {.base = first, .bytes = units, .kind = CSAN_WRITE};
    struct csan_access *room;
    size_t count = 1;
    const struct csan_access *parts = alias_canonicalize(table, &access, &count, &room);
    uint64_t at = first;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(parts[i].kind, CSAN_WRITE);
        for (uint64_t k = 0; k < parts[i].bytes; k++)
            assert_int_equal(parts[i].base + k, model[at++]);
    }
    assert_int_equal(at, first + units);
    free(room);
}

static void random_aliases(void **state)
{
    (void)state;
    struct alias_table table;
    alias_init(&table);
    uint64_t model[UNITS];
    for (uint64_t i = 0; i < UNITS; i++)
        model[i] = i;
    srand(7);
    for (int round = 0; round < 20000; round++) {
        uint64_t base = (uint64_t)rand() % UNITS, units = 1 + (uint64_t)rand() % (UNITS - base);
        uint64_t onto = 1000 + (uint64_t)rand() % 1000;
        bool add = rand() % 2;
        if (add)
            assert_true(alias_add(&table, base, units, onto));
        else
            alias_remove(&table, base, units);
        for (uint64_t i = 0; i < units; i++)
            model[base + i] = add ? onto + i : base + i;
        uint64_t first = (uint64_t)rand() % UNITS;
        assert_translated(&table, model, first, 1 + (uint64_t)rand() % (UNITS - first));
    }
    alias_clear(&table);
}

static void an_alias_of_an_alias_is_one_of_the_first(void **state)
{
    (void)state;
    struct alias_table table;
    alias_init(&table);
    assert_true(alias_add(&table, 200, 100, 1000));
    assert_true(alias_add(&table, 400, 50, 220));
    struct csan_access access = {.base = 410, .bytes = 5};
    struct csan_access *room;
    size_t count = 1;
    assert_int_equal(alias_canonicalize(&table, &access, &count, &room)->base, 1030);
    free(room);
    alias_clear(&table);
}

static void a_pattern_moves_as_a_whole(void **state)
{
    (void)state;
    struct alias_table table;
    alias_init(&table);
    const struct csan_dim dim = {16, 4};
    struct csan_access accesses[] = {{.base = 10, .bytes = 4},
                                     {.base = 208, .bytes = 4, .dims = &dim, .dim_count = 1},
                                     {.base = 208, .bytes = CSAN_TO_END}};
    struct csan_access *room;
    size_t count = 3;
    assert_true(alias_add(&table, 200, 100, 1000));
    const struct csan_access *moved = alias_canonicalize(&table, accesses, &count, &room);
    assert_int_equal(count, 3);
    assert_int_equal(moved[0].base, 10);
    assert_int_equal(moved[1].base, 1008);
    assert_int_equal(moved[1].dim_count, 1);
    assert_int_equal(moved[2].base, 1008);
    assert_int_equal(moved[2].bytes, CSAN_TO_END);
    free(room);
    alias_clear(&table);
}

static void what_has_no_alias_is_not_copied(void **state)
{
    (void)state;
    struct alias_table table;
    alias_init(&table);
    struct csan_access access = {.base = 300, .bytes = 5};
    struct csan_access *room;
    size_t count = 1;
    assert_ptr_equal(alias_canonicalize(&table, &access, &count, &room), &access);
    assert_true(alias_add(&table, 200, 100, 1000));
    assert_ptr_equal(alias_canonicalize(&table, &access, &count, &room), &access);
    assert_null(room);
    assert_false(alias_add(&table, 200, 0, 1000));
    assert_false(alias_add(&table, UINT64_MAX, 2, 1000));
    alias_clear(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_aliases),
        cmocka_unit_test(an_alias_of_an_alias_is_one_of_the_first),
        cmocka_unit_test(a_pattern_moves_as_a_whole),
        cmocka_unit_test(what_has_no_alias_is_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
