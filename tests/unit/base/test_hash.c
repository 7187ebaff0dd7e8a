/* Reports, baselines and learned files keep hashes: their values are those of every earlier
 * version. */
#include "csan/base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void bytes_and_texts_are_fnv_1a(void **state)
{
    (void)state;
    assert_int_equal(hash_bytes(HASH_START, "", 0), 0xcbf29ce484222325);
    assert_int_equal(hash_bytes(HASH_START, "a", 1), 0xaf63dc4c8601ec8c);
    assert_int_equal(hash_bytes(HASH_START, "foobar", 6), 0x85944171f73967e8);
    assert_int_equal(hash_text(HASH_START, "foobar"), hash_bytes(HASH_START, "foobar", 7));
    assert_int_equal(hash_text(HASH_START, NULL), hash_text(HASH_START, ""));
}

static void mixing_never_changes(void **state)
{
    (void)state;
    assert_int_equal(hash_mix(0, 0), 0xec0da830c0861664);
    assert_int_equal(hash_mix(7, 0x123456789), 0xec8e0ba7313e0837);
    assert_int_equal(hash_mix_bytes(0, "", 0), 0xa0d96c5bca7ad5d6);
    assert_int_equal(hash_mix_bytes(1, "nineteen characters", 19), 0x2a12672a3df326d2);
}

static void what_is_mixed_in_another_way_differs(void **state)
{
    (void)state;
    assert_int_not_equal(hash_mix(hash_mix(0, 1), 2), hash_mix(hash_mix(0, 2), 1));
    assert_int_not_equal(hash_mix_bytes(0, "a\0", 2), hash_mix_bytes(0, "a", 1));
}

/* Each bit of each byte counts, and so does how many there are. */
static void memory_that_differs_has_another_hash(void **state)
{
    (void)state;
    uint8_t bytes[200] = {0};
    for (size_t count = 0; count < sizeof bytes; count++) {
        const uint64_t hash = hash_memory(bytes, count);
        assert_int_not_equal(hash, hash_memory(bytes, count + 1));
        for (size_t bit = 0; bit < 8 * count; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_int_not_equal(hash, hash_memory(bytes, count));
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

static void memory_that_is_moved_has_another_hash(void **state)
{
    (void)state;
    const uint64_t words[2][8] = {{1, 2, 3, 4, 5, 6, 7, 8}, {5, 6, 7, 8, 1, 2, 3, 4}};
    assert_int_not_equal(hash_memory(words[0], 64), hash_memory(words[1], 64));
}

static void neighbours_spread(void **state)
{
    (void)state;
    uint8_t seen[1024] = {0};
    for (uint64_t page = 0; page < 1024; page++)
        seen[hash_spread(0x7f0000000 + page) >> 54]++;
    for (size_t i = 0; i < 1024; i++)
        assert_true(seen[i] <= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_and_texts_are_fnv_1a),
        cmocka_unit_test(mixing_never_changes),
        cmocka_unit_test(what_is_mixed_in_another_way_differs),
        cmocka_unit_test(memory_that_differs_has_another_hash),
        cmocka_unit_test(memory_that_is_moved_has_another_hash),
        cmocka_unit_test(neighbours_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
