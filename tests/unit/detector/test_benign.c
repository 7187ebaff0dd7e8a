/* Accesses cut around benign bytes, against a map of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/detector/benign.h"
#include <stdlib.h>
#include <string.h>

enum { BASE = 4096, BYTES = 512 };

static uint64_t no_end(void *user, uint64_t base)
{
    (void)user;
    (void)base;
    return 0;
}

static uint64_t the_end(void *user, uint64_t base)
{
    (void)base;
    return *(uint64_t *)user;
}

/* ---- ranges */

static const struct range *range_at(const struct benign_table *table, size_t number)
{
    struct range_cursor cursor = {0, 0};
    while (number-- > 0)
        cursor = range_map_next(&table->ranges, cursor);
    return range_map_at(&table->ranges, cursor);
}

static void ranges_join_and_split(void **state)
{
    (void)state;
    struct benign_table table;
    benign_init(&table);
    assert_true(benign_add(&table, (struct range){10, 20}));
    assert_true(benign_add(&table, (struct range){30, 40}));
    assert_true(benign_add(&table, (struct range){20, 25}));
    assert_int_equal(table.ranges.count, 2);
    assert_int_equal(range_at(&table, 0)->end, 25);
    benign_remove(&table, (struct range){12, 14});
    assert_int_equal(table.ranges.count, 3);
    assert_int_equal(range_at(&table, 0)->end, 12);
    assert_int_equal(range_at(&table, 1)->start, 14);
    assert_true(benign_add(&table, (struct range){0, 100}));
    assert_int_equal(table.ranges.count, 1);
    benign_remove(&table, (struct range){0, 100});
    assert_int_equal(table.ranges.count, 0);
    benign_clear(&table);
}

/* ---- accesses */

static void mark(const struct csan_access *access, uint8_t dim, uint64_t base, uint8_t *bytes)
{
    if (dim == access->dim_count) {
        for (uint64_t i = 0; i < access->bytes; i++)
            bytes[base + i - BASE]++;
        return;
    }
    for (uint64_t i = 0; i < access->dims[dim].count; i++)
        mark(access, dim + 1, base + i * (uint64_t)access->dims[dim].stride, bytes);
}

static void check(const struct benign_table *table, const struct csan_access *access)
{
    static uint8_t wanted[BYTES], got[BYTES];
    size_t count = 1;
    void *room;
    memset(wanted, 0, sizeof wanted);
    memset(got, 0, sizeof got);
    mark(access, 0, access->base, wanted);
    for (size_t i = 0; i < table->ranges.count; i++)
        memset(wanted + (range_at(table, i)->start - BASE), 0,
               range_at(table, i)->end - range_at(table, i)->start);
    const struct csan_access *parts = benign_cut(table, access, &count, no_end, NULL, &room);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(parts[i].kind, access->kind);
        assert_int_equal(parts[i].argument, access->argument);
        mark(&parts[i], 0, parts[i].base, got);
    }
    for (size_t i = 0; i < BYTES; i++)
        if (!wanted[i] != !got[i])
            fail_msg("byte %zu is %s", i, got[i] ? "touched" : "lost");
    free(room);
}

static void random_patterns_lose_just_the_benign_bytes(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        struct benign_table table;
        benign_init(&table);
        struct csan_dim dims[2];
        struct csan_access access = {.base = BASE + 100 + (uint64_t)(rand() % 50),
                                     .bytes = 1 + (uint64_t)(rand() % 9),
                                     .dims = dims,
                                     .dim_count = (uint8_t)(rand() % 3),
                                     .kind = CSAN_WRITE,
                                     .argument = 3};
        for (int i = 0; i < 2; i++)
            dims[i] = (struct csan_dim){rand() % 21 - 5, 1 + (uint64_t)(rand() % 9)};
        for (int i = rand() % 5; i >= 0; i--) {
            uint64_t start = BASE + (uint64_t)(rand() % 400);
            benign_add(&table, (struct range){start, start + 1 + (uint64_t)(rand() % 30)});
        }
        check(&table, &access);
        benign_clear(&table);
    }
}

static void a_long_pattern_is_cut_where_it_must_be(void **state)
{
    (void)state;
    struct benign_table table;
    benign_init(&table);
    const struct csan_dim dim = {16, 1u << 30};
    const struct csan_access access = {
        .base = 0x10000, .bytes = 4, .dims = &dim, .dim_count = 1, .kind = CSAN_READ};
    size_t count = 1;
    void *room;
    benign_add(&table, (struct range){0x10000 + 16, 0x10000 + (16u << 20)});
    const struct csan_access *parts = benign_cut(&table, &access, &count, no_end, NULL, &room);
    assert_int_equal(count, 2);
    assert_int_equal(parts[0].base, 0x10000);
    assert_int_equal(parts[0].dim_count, 0);
    assert_int_equal(parts[1].base, 0x10000 + (16u << 20));
    assert_int_equal(parts[1].dims[0].count, (1u << 30) - (1u << 20));
    free(room);
    benign_clear(&table);
}

static void an_access_to_the_end_has_one(void **state)
{
    (void)state;
    struct benign_table table;
    benign_init(&table);
    const struct csan_access access = {.base = 100, .bytes = CSAN_TO_END, .kind = CSAN_READ};
    uint64_t end = 200;
    size_t count = 1;
    void *room;
    benign_add(&table, (struct range){150, 160});
    const struct csan_access *parts = benign_cut(&table, &access, &count, the_end, &end, &room);
    assert_int_equal(count, 2);
    assert_int_equal(parts[1].base, 160);
    assert_int_equal(parts[1].bytes, 40);
    free(room);
    end = 150;
    count = 1;
    assert_ptr_equal(benign_cut(&table, &access, &count, the_end, &end, &room), &access);
    assert_null(room);
    benign_clear(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_join_and_split),
        cmocka_unit_test(random_patterns_lose_just_the_benign_bytes),
        cmocka_unit_test(a_long_pattern_is_cut_where_it_must_be),
        cmocka_unit_test(an_access_to_the_end_has_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
