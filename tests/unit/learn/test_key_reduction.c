/* Which words may leave a key: those seen to have no effect, and no word that was seen to have one.
 */
#include "runtime/learn/key_reduction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS = 6, LAUNCHES = 64, VALUES = 4 };

static uint32_t words[LAUNCHES][WORDS];
static struct key_reduction_launch launches[LAUNCHES];
static size_t count;
static uint8_t pinned[WORDS], kept[WORDS];

static int begin(void **state)
{
    (void)state;
    count = 0;
    memset(pinned, 0, sizeof pinned);
    memset(kept, 1, sizeof kept);
    return 0;
}

static void launch(uint64_t key, int set)
{
    for (int i = 0; i < WORDS; i++) /* no single byte of a word distinguishes launches */
        words[count][i] = (uint32_t)(key >> 8 * i & 0xff) * 0x01010101u;
    launches[count] = (struct key_reduction_launch){words[count], (uint32_t)set};
    count++;
}

static size_t find(void)
{
    return key_reduction_find(launches, count, WORDS, pinned, kept, VALUES);
}

static void assert_kept(const char *wanted)
{
    char text[WORDS + 1] = "";
    for (int i = 0; i < WORDS; i++)
        text[i] = kept[i] ? '1' : '0';
    assert_string_equal(text, wanted);
}

static void a_seed_leaves_at_its_fourth_value(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < VALUES; i++) {
        assert_int_equal(find(), 0);
        launch(7 | i << 16, 0);
    }
    assert_int_equal(find(), 1);
    assert_kept("110111");
}

static void a_size_stays(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20; i++)
        launch(i, (int)i);
    assert_int_equal(find(), 0);
    assert_kept("111111");
}

/* Two sizes in turn, and a seed of three bytes with every launch. */
static void a_seed_leaves_beside_a_size(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2 * VALUES; i++)
        launch(i % 2 | (i * 77 + 1) << 8 | (i * 3) << 16 | (i + 9) << 24, (int)(i % 2));
    assert_int_equal(find(), 3);
    assert_kept("100011");
}

/* Two sizes that change apart from each other, and two seeds. */
static void seeds_leave_beside_sizes(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 4 * VALUES; i++)
        launch(i % 2 | (i / 2 % 2) << 8 | (i * 5) << 16 | (i * 7) << 24, (int)(i % 4));
    assert_int_equal(find(), 2);
    assert_kept("110011");
}

/* Five values of the first byte, the fourth with another set, and a seed that always changes: each
 * of the two may be to blame. */
static void what_may_be_to_blame_stays(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 8; i++)
        launch(i | (i * 9 + 1) << 8, i == 3);
    assert_int_equal(find(), 0);
    assert_kept("111111");
    for (uint64_t i = 0; i < VALUES; i++)
        launch(3 | (200 + i) << 8, 1); /* that one again: it was not the seed */
    assert_int_equal(find(), 1);
    assert_kept("101111");
}

/* Alone it was without effect four times, and once with. */
static void one_effect_is_enough_to_stay(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 6; i++)
        launch(i, i == 5);
    assert_int_equal(find(), 0);
}

static void pinned_bytes_stay(void **state)
{
    (void)state;
    pinned[0] = 1;
    for (uint64_t i = 0; i < 10; i++)
        launch(i | i << 8, 0);
    assert_int_equal(find(), 0); /* the second never varies alone */
    for (uint64_t i = 0; i < VALUES; i++)
        launch(3 | (100 + i) << 8, 0);
    assert_int_equal(find(), 1);
    assert_kept("101111");
}

static void the_same_set_lets_all_that_varies_leave(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < VALUES; i++)
        launch(i | i << 8 | (i % 2) << 16, 0);
    assert_int_equal(find(), 0); /* each value of the third byte saw two of the others */
    for (uint64_t i = 0; i < VALUES; i++)
        launch((i + 10) | (i + 10) << 8 | (i % 2) << 16, 0);
    assert_int_equal(find(), 2);
    assert_kept("001111");
}

/* ---- Random functions of the bytes ---- */

/* Six bytes of which some have an effect: the set is a table of those. Whatever leaves, the kept
 * bytes must distinguish the sets of the launches seen; and where every byte with an effect has one
 * at each of its values, none of them leaves. */
static void random_functions(void **state)
{
    uint64_t random = 12345;
    size_t left = 0;
    for (int round = 0; round < 4000; round++) {
        begin(state);
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t effect = random >> 8 & 0x3f, few = random >> 20 & 0x3f, draw = random;
        size_t many = 4 + (random >> 40) % (LAUNCHES - 4);
        for (size_t i = 0; i < many; i++) {
            uint64_t key = 0, which = 0;
            for (int b = 0; b < WORDS; b++) {
                draw ^= draw << 13, draw ^= draw >> 7, draw ^= draw << 17;
                uint64_t value = (draw >> 11) % (few >> b & 1 ? 2 : 9);
                key |= value << 8 * b;
                if (effect >> b & 1)
                    which = which * 9 + value;
            }
            launch(key, (int)((which * 0x9e3779b97f4a7c15u) >> 58));
        }
        left += find();
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < i; k++) {
                bool agree = true;
                for (int b = 0; b < WORDS; b++)
                    agree = agree && (!kept[b] || words[i][b] == words[k][b]);
                assert_true(!agree || launches[i].set == launches[k].set);
            }
        for (int b = 0; b < WORDS; b++) { /* values that it took while the kept ones agreed */
            size_t best = 0;
            for (size_t i = 0; i < count && !kept[b]; i++) {
                bool seen[16] = {false};
                size_t values = 0;
                for (size_t k = 0; k < count; k++) {
                    bool agree = true;
                    for (int c = 0; c < WORDS; c++)
                        agree = agree && (!kept[c] || words[i][c] == words[k][c]);
                    values += agree && !seen[words[k][b] & 0xf];
                    seen[words[k][b] & 0xf] |= agree;
                }
                best = values > best ? values : best;
            }
            assert_true(kept[b] || best >= VALUES);
        }
    }
    assert_true(left > 1000);
}

/* Words that were never set, and change together. */
static void words_of_one_bound_leave_together(void **state)
{
    (void)state;
    const uint64_t stale[VALUES] = {0x000100, 0x010100, 0x020200, 0x010200};
    for (int i = 0; i < VALUES; i++) {
        launch(stale[i], 0);
        launches[i].bounded = true;
        assert_int_equal(find(), i == VALUES - 1 ? 2 : 0);
    }
    assert_kept("100111");
    launch(0x03000000 | stale[0], 0); /* what varies now does so in as many launches */
    launches[count - 1].bounded = true;
    assert_int_equal(find(), 1);
    assert_kept("100011");
}

static void a_word_that_leads_out_of_the_bound_stays(void **state)
{
    (void)state;
    for (int i = 0; i < VALUES; i++) {
        launch((uint64_t)i << 8, 0);
        launches[i].bounded = true;
    }
    launch(0x0300000001, 1);
    launch(0x0300000101, 1);
    assert_int_equal(find(), 1);
    assert_true(!kept[1] && (kept[0] || kept[4]));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        TEST(a_seed_leaves_at_its_fourth_value),
        TEST(a_size_stays),
        TEST(a_seed_leaves_beside_a_size),
        TEST(seeds_leave_beside_sizes),
        TEST(what_may_be_to_blame_stays),
        TEST(one_effect_is_enough_to_stay),
        TEST(pinned_bytes_stay),
        TEST(the_same_set_lets_all_that_varies_leave),
        TEST(random_functions),
        TEST(words_of_one_bound_leave_together),
        TEST(a_word_that_leads_out_of_the_bound_stays),
    };
    return cmocka_run_group_tests_name("matter", tests, NULL, NULL);
}
