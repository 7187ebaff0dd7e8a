/* Blocks that host and device share, against a model of bytes, and with readers beside a writer. */
#include "runtime/hook/host/host_blocks.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { UNITS = 200, UNIT = 4096, BASE = 1 << 20 };

static bool model[UNITS];

static struct range random_range(void)
{
    const unsigned first = (unsigned)rand() % UNITS, count = 1 + (unsigned)rand() % 12;
    const unsigned last = first + count < UNITS ? first + count : UNITS;
    return (struct range){BASE + (uint64_t)first * UNIT, BASE + (uint64_t)last * UNIT};
}

static bool any_within_hull(uint64_t address)
{
    return host_blocks_may_have((struct range){address, address + 1});
}

static void is_within_hull(uint64_t address, bool is)
{
    assert_int_equal(any_within_hull(address), is);
    assert_int_equal(host_blocks_may_have_address(address), is);
}

static void is_as_the_model(void)
{
    unsigned first = UNITS, last = 0;
    for (unsigned i = 0; i < UNITS; i++) {
        const uint64_t start = BASE + (uint64_t)i * UNIT;
        assert_int_equal(host_blocks_has(start), model[i]);
        assert_int_equal(host_blocks_has(start + UNIT - 1), model[i]);
        first = model[i] && first == UNITS ? i : first;
        last = model[i] ? i : last;
    }
    for (unsigned i = 0; i < UNITS; i++)
        is_within_hull(BASE + (uint64_t)i * UNIT, first <= i && i <= last);
    assert_false(host_blocks_has(BASE - 1));
    assert_false(host_blocks_has(BASE + UNITS * UNIT));
}

static void any_sequence(void **state)
{
    (void)state;
    srand(7);
    for (int turn = 0; turn < 3000; turn++) {
        const struct range range = random_range();
        const bool adds = rand() % 2;
        (adds ? host_blocks_add : host_blocks_remove)(range);
        for (uint64_t at = range.start; at < range.end; at += UNIT)
            model[(at - BASE) / UNIT] = adds;
        is_as_the_model();
    }
    host_blocks_remove((struct range){0, UINT64_MAX});
    memset(model, 0, sizeof model);
    is_as_the_model();
}

static void words(void **state)
{
    struct __attribute__((packed)) {
        uint64_t number, pointer;
        char more[3];
    } parameters = {5, 0x500000 + 100, {1, 2, 3}};
    (void)state;
    assert_false(host_blocks_any(&parameters, sizeof parameters));
    host_blocks_add((struct range){0x500000, 0x501000});
    assert_true(host_blocks_any(&parameters, sizeof parameters));
    parameters.pointer = 0x501000;
    assert_false(host_blocks_any(&parameters, sizeof parameters));
    host_blocks_add((struct range){0x700000, 0x701000}); /* it lies between two */
    assert_false(host_blocks_any(&parameters, sizeof parameters));
    parameters.pointer = 0x700fff;
    assert_true(host_blocks_any(&parameters, sizeof parameters));
    host_blocks_remove((struct range){0x700000, 0x701000});
    assert_false(host_blocks_any(&parameters, sizeof parameters));
    parameters.pointer = UINT64_MAX;
    assert_false(host_blocks_any(&parameters, sizeof parameters));
    host_blocks_remove((struct range){0x500000, 0x501000});
}

static bool stop;

static void *reads(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        if (!host_blocks_has(0x900010) || !any_within_hull(0x900010) ||
            !host_blocks_may_have_address(0x900010)) /* it is always there */
            return (void *)1;
    return unused;
}

static void readers_beside_a_writer(void **state)
{
    pthread_t readers[2];
    void *failed;
    (void)state;
    host_blocks_add((struct range){0x900000, 0x901000});
    for (int i = 0; i < 2; i++)
        pthread_create(&readers[i], NULL, reads, NULL);
    for (uint64_t i = 0; i < 100000; i++) {
        host_blocks_add((struct range){0x100000 + i % 97 * 4096, 0x101000 + i % 97 * 4096});
        host_blocks_remove((struct range){0x100000 + i % 89 * 4096, 0x101000 + i % 89 * 4096});
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++) {
        pthread_join(readers[i], &failed);
        assert_null(failed);
    }
    host_blocks_remove((struct range){0, UINT64_MAX});
}

/* The last: from here on each address may be in one. */
static void more_than_can_be_kept(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 5000; i++)
        host_blocks_add((struct range){i << 20, (i << 20) + 64});
    assert_true(host_blocks_has(UINT64_C(4999) << 20));
    assert_true(host_blocks_has(1));
    is_within_hull(1, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sequence),
        cmocka_unit_test(words),
        cmocka_unit_test(readers_beside_a_writer),
        cmocka_unit_test(more_than_can_be_kept),
    };
    return cmocka_run_group_tests_name("host_blocks", tests, NULL, NULL);
}
