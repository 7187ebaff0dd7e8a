/* Groups of races, once several reports are put together and some races are taken out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/cli/findings/finding_groups.h"

enum { MOST = 8 };

/* Races with these numbers and groups; what they are afterwards. */
static void expect(const uint64_t (*races)[2], size_t count, const uint64_t *groups)
{
    static char text[] = "";
    struct finding findings[MOST], *items[MOST] = {0};
    for (size_t i = 0; i < count; i++) {
        findings[i] = (struct finding){.number = races[i][0], .group = races[i][1], .text = text};
        items[i] = &findings[i];
    }
    finding_groups_number(items, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(findings[i].number, i + 1);
        assert_int_equal(findings[i].group, groups[i]);
    }
}

static void none(void **state)
{
    (void)state;
    finding_groups_number(NULL, 0);
}

static void as_they_are(void **state)
{
    (void)state;
    static const uint64_t races[][2] = {{1, 1}, {2, 1}, {3, 3}, {4, 1}, {5, 3}};
    expect(races, 5, (const uint64_t[]){1, 1, 3, 1, 3});
}

/* A baseline knows the others. */
static void numbers_that_are_left_over(void **state)
{
    (void)state;
    static const uint64_t races[][2] = {{2, 2}, {5, 2}, {7, 7}};
    expect(races, 3, (const uint64_t[]){1, 1, 3});
}

static void the_first_of_a_group_is_gone(void **state)
{
    (void)state;
    static const uint64_t races[][2] = {{2, 1}, {3, 3}, {4, 1}};
    expect(races, 3, (const uint64_t[]){1, 2, 1});
}

/* One process says that 3 is of 1's group, another that 4 is of 3's. */
static void a_group_in_a_group(void **state)
{
    (void)state;
    static const uint64_t races[][2] = {{1, 1}, {2, 2}, {3, 1}, {4, 3}};
    expect(races, 4, (const uint64_t[]){1, 2, 1, 1});
}

/* A report may say anything. */
static void groups_that_cannot_be(void **state)
{
    (void)state;
    static const uint64_t races[][2] = {{1, 2}, {2, 1}, {3, 0}, {4, 99}};
    expect(races, 4, (const uint64_t[]){1, 1, 3, 4});
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(none),
        cmocka_unit_test(as_they_are),
        cmocka_unit_test(numbers_that_are_left_over),
        cmocka_unit_test(the_first_of_a_group_is_gone),
        cmocka_unit_test(a_group_in_a_group),
        cmocka_unit_test(groups_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
