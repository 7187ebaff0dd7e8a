/* The lines of instructions, in each of the forms of code objects. tests/python compares them with
 * what interpreters say of the code they have. */
#include "runtime/python/lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define LINE(kind, table, first, instruction)                                                      \
    python_line((kind), (const unsigned char *)(table), sizeof(table) - 1, (first), (instruction))

static void pairs_give_where_a_line_begins(void **state)
{
    (void)state;
    static const char table[] = "\x06\x01"  /* from 6 on: 11 */
                                "\x04\x7f"  /* a step that one byte does not hold */
                                "\x00\x10"  /* from 10 on: 154 */
                                "\x02\xfe"; /* from 12 on: 152 */
    assert_int_equal(LINE(PYTHON_LNOTAB, table, 10, 0), 10);
    assert_int_equal(LINE(PYTHON_LNOTAB, table, 10, 5), 10);
    assert_int_equal(LINE(PYTHON_LNOTAB, table, 10, 6), 11);
    assert_int_equal(LINE(PYTHON_LNOTAB, table, 10, 10), 154);
    assert_int_equal(LINE(PYTHON_LNOTAB, table, 10, 1000), 152);
    assert_int_equal(LINE(PYTHON_LNOTAB, "", 10, 4), 10);
}

static void ranges_give_how_long_one_lasts(void **state)
{
    (void)state;
    static const char table[] = "\x06\x01\x04\x80\x02\x03";
    assert_int_equal(LINE(PYTHON_RANGES, table, 10, 0), 11);
    assert_int_equal(LINE(PYTHON_RANGES, table, 10, 6), 0); /* no line */
    assert_int_equal(LINE(PYTHON_RANGES, table, 10, 10), 14);
    assert_int_equal(LINE(PYTHON_RANGES, table, 10, 12), 0); /* behind the end */
}

static void locations_are_of_five_forms(void **state)
{
    (void)state;
    static const char table[] = "\x81\x21"                 /* 2 units, short: the line stays */
                                "\xd8\x04\x09"             /* 1 unit, one line further */
                                "\xea\x03"                 /* 3 units, no columns: back by 1 */
                                "\xf0\x52\x01\x02\x00\x05" /* 1 unit, long: 0x52, 0x01: + 41 */
                                "\xf8";                    /* 1 unit, no line */
    assert_int_equal(LINE(PYTHON_LOCATIONS, table, 10, 0), 10);
    assert_int_equal(LINE(PYTHON_LOCATIONS, table, 10, 3), 10);
    assert_int_equal(LINE(PYTHON_LOCATIONS, table, 10, 4), 11);
    assert_int_equal(LINE(PYTHON_LOCATIONS, table, 10, 6), 10);
    assert_int_equal(LINE(PYTHON_LOCATIONS, table, 10, 11), 10);
    assert_int_equal(LINE(PYTHON_LOCATIONS, table, 10, 12), 51);
    assert_int_equal(LINE(PYTHON_LOCATIONS, table, 10, 14), 0);
    assert_int_equal(LINE(PYTHON_LOCATIONS, table, 10, 16), 0);
}

static void no_table_is_read_behind_its_end(void **state)
{
    (void)state;
    assert_int_equal(LINE(PYTHON_LOCATIONS, "\xea", 10, 0), 10); /* the number is missing */
    assert_int_equal(LINE(PYTHON_LOCATIONS, "\xf0\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 10, 0), 0);
    assert_int_equal(LINE(PYTHON_LNOTAB, "\x01", 10, 3), 10);
    assert_int_equal(LINE(PYTHON_RANGES, "\x01", 10, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_give_where_a_line_begins),
        cmocka_unit_test(ranges_give_how_long_one_lasts),
        cmocka_unit_test(locations_are_of_five_forms),
        cmocka_unit_test(no_table_is_read_behind_its_end),
    };
    return cmocka_run_group_tests_name("python_lines", tests, NULL, NULL);
}
