/* What device memory is known to hold: what is remembered, what makes it forgotten, and when the
 * version changes. */
#include "runtime/hook/state/known_contents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Of the hooks' driver: set by the stubs of calls that csan does not follow. */
uint8_t driver_unmodelled_called;

enum { BASE = 0x10000 };

static uint64_t value_at(uint64_t address)
{
    uint64_t value = 0;
    assert_true(known_contents_read(address, sizeof value, &value));
    return value;
}

static int is_known(uint64_t address)
{
    uint64_t value;
    return known_contents_read(address, sizeof value, &value);
}

static void remember(uint64_t address, uint64_t value)
{
    known_contents_written(address, sizeof value, &value, false);
}

static int setup(void **state)
{
    (void)state;
    known_contents_addresses_changed();
    return 0;
}

static void a_copy_is_remembered(void **state)
{
    (void)state;
    const uint64_t table[4] = {1, 2, 3, 4};
    assert_false(known_contents_any());
    known_contents_written(BASE, sizeof table, table, false);
    assert_true(known_contents_any());
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(value_at(BASE + 8 * i), i + 1);
    assert_int_equal(value_at(BASE + 4), (uint64_t)2 << 32); /* any eight bytes */
    assert_false(is_known(BASE - 8));
    assert_false(is_known(BASE + 28)); /* the last four are not known */
    assert_false(is_known(UINT64_MAX - 3));
}

static void what_is_copied_later_counts(void **state)
{
    (void)state;
    const uint64_t table[4] = {1, 2, 3, 4};
    known_contents_written(BASE, sizeof table, table, false);
    remember(BASE + 8, 20);
    assert_int_equal(value_at(BASE + 8), 20);
    assert_false(is_known(BASE)); /* a piece goes as a whole */
    known_contents_written(BASE + 8, 8, NULL, false);
    assert_false(is_known(BASE + 8));
}

static void writes_make_it_forgotten(void **state)
{
    (void)state;
    remember(BASE, 1);
    remember(BASE + 64, 2);
    remember(BASE + 128, 3);
    assert_false(known_contents_forget(BASE + 8, 56));
    assert_true(known_contents_forget(BASE + 71, 1));
    assert_int_equal(value_at(BASE), 1);
    assert_false(is_known(BASE + 64));
    assert_int_equal(value_at(BASE + 128), 3);
    assert_true(known_contents_forget(BASE + 100, UINT64_MAX)); /* ends where memory does */
    assert_false(is_known(BASE + 128));
    assert_true(known_contents_forget_all());
    assert_false(known_contents_any());
}

static void large_copies_are_not_remembered(void **state)
{
    (void)state;
    static const uint8_t bytes[CONTENT_PIECE_MAX + 1];
    remember(BASE + 64, 2);
    known_contents_written(BASE, CONTENT_PIECE_MAX + 1, bytes, false);
    assert_false(known_contents_any());
    known_contents_written(BASE, CONTENT_PIECE_MAX, bytes, false);
    assert_int_equal(value_at(BASE + CONTENT_PIECE_MAX - 8), 0);
}

static void the_oldest_goes(void **state)
{
    (void)state;
    static const uint8_t bytes[CONTENT_PIECE_MAX];
    for (uint64_t i = 0; i < 300; i++)
        remember(BASE + 64 * i, i);
    assert_false(is_known(BASE + 64 * 43));
    assert_int_equal(value_at(BASE + 64 * 44), 44);
    for (uint64_t i = 0; i < 64; i++)
        known_contents_written(BASE * 16 + i * 8192, sizeof bytes, bytes, false);
    assert_false(is_known(BASE + 64 * 299)); /* 256 KiB, and no room beside them */
    assert_true(is_known(BASE * 16));
}

static void the_version_differs_for_other_answers(void **state)
{
    (void)state;
    remember(BASE, 1);
    uint64_t version = known_contents_version();
    remember(BASE, 2);
    assert_int_equal(known_contents_version(), version); /* nobody asked */
    assert_int_equal(value_at(BASE), 2);
    remember(BASE, 2);
    remember(BASE + 8, 3);
    known_contents_forget(BASE + 8, 8);
    assert_int_equal(known_contents_version(), version); /* the answer is the same */
    remember(BASE, 4);
    assert_true(known_contents_version() > version);
    version = known_contents_version();
    assert_false(is_known(BASE + 512));
    remember(BASE + 512, 5);
    assert_true(known_contents_version() > version); /* now there is one */
    version = known_contents_version();
    assert_int_equal(value_at(BASE + 512), 5);
    known_contents_forget(BASE + 512, 1);
    assert_true(known_contents_version() > version);
}

/* More places than csan distinguishes: then any change counts. */
static void many_questions_are_not_forgotten(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200; i++)
        assert_false(is_known(BASE + 64 * i));
    uint64_t version = known_contents_version();
    remember(BASE + 64 * 199, 1);
    assert_true(known_contents_version() > version);
}

static void constants_are_initial_until_written(void **state)
{
    (void)state;
    uint64_t version = known_contents_version();
    assert_true(known_contents_is_initial(BASE, 64));
    known_contents_written(BASE + 64, 4, NULL, true);
    assert_int_equal(known_contents_version(), version);
    assert_true(known_contents_is_initial(BASE, 64));
    assert_false(known_contents_is_initial(BASE + 60, 8));
    known_contents_written(BASE + 32, 4, NULL, true);
    assert_true(known_contents_version() > version);
    assert_false(known_contents_is_initial(BASE, 64));
    known_contents_addresses_changed(); /* the write stands for whatever lies there next */
    assert_false(known_contents_is_initial(BASE, 64));
}

static void too_many_written_constants_are_all_written(void **state)
{
    (void)state;
    assert_true(known_contents_is_initial(BASE * 4, 8));
    for (uint64_t i = 0; i < 300; i++)
        known_contents_written(BASE * 8 + 64 * i, 4, NULL, true);
    assert_false(known_contents_is_initial(BASE * 4, 8));
}

/* Last: from then on nothing is initial. */
static void calls_that_are_not_followed_may_write_anywhere(void **state)
{
    (void)state;
    remember(BASE, 1);
    uint64_t version = known_contents_version();
    driver_unmodelled_called = 1;
    assert_true(known_contents_version() > version);
    assert_false(is_known(BASE));
    assert_false(known_contents_is_initial(BASE * 64, 8));
    remember(BASE, 2);
    assert_int_equal(value_at(BASE), 2);
    driver_unmodelled_called = 1;
    assert_false(is_known(BASE));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(a_copy_is_remembered),
        TEST(what_is_copied_later_counts),
        TEST(writes_make_it_forgotten),
        TEST(large_copies_are_not_remembered),
        TEST(the_oldest_goes),
        TEST(the_version_differs_for_other_answers),
        TEST(many_questions_are_not_forgotten),
        TEST(constants_are_initial_until_written),
        TEST(too_many_written_constants_are_all_written),
        TEST(calls_that_are_not_followed_may_write_anywhere),
    };
    return cmocka_run_group_tests_name("content", tests, NULL, NULL);
}
