/* What is noted to be read ahead: the lines of the pieces, no more than there is room for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/hook/kernel/prefetch.h"

static char memory[AHEAD_LINE * 100] __attribute__((aligned(AHEAD_LINE)));

static const char *first_of(const struct prefetch *ahead, size_t i)
{
    return (const char *)(uintptr_t)(ahead->pieces[i] & ~(uint64_t)(AHEAD_LINE - 1));
}

static size_t lines_of(const struct prefetch *ahead, size_t i)
{
    return ahead->pieces[i] % AHEAD_LINE;
}

static void every_line_that_a_piece_touches(void **state)
{
    (void)state;
    struct prefetch ahead;
    const struct access_piece pieces[] = {{memory + 60, 8},  /* over a line's end */
                                          {memory + 300, 0}, /* nothing */
                                          {memory + 256, AHEAD_LINE}};
    prefetch_note(&ahead, pieces, 3);
    assert_ptr_equal(first_of(&ahead, 0), memory);
    assert_int_equal(lines_of(&ahead, 0), 2);
    assert_ptr_equal(first_of(&ahead, 1), memory + 256);
    assert_int_equal(lines_of(&ahead, 1), 1);
    assert_int_equal(ahead.pieces[2], 0);
    prefetch_begin(&ahead);
}

/* Of what is too much the first lines count; what was noted before does not stay behind it. */
static void no_more_than_there_is_room_for(void **state)
{
    (void)state;
    struct prefetch ahead;
    struct access_piece pieces[AHEAD_PIECES + 2];
    size_t lines = 0;
    for (size_t i = 0; i < AHEAD_PIECES + 2; i++)
        pieces[i] = (struct access_piece){memory + i * AHEAD_LINE, 1};
    prefetch_note(&ahead, pieces, AHEAD_PIECES + 2);
    for (size_t i = 0; i < AHEAD_PIECES; i++)
        assert_ptr_equal(first_of(&ahead, i), memory + i * AHEAD_LINE);
    pieces[0].bytes = 3 * AHEAD_LINE;
    pieces[1].bytes = sizeof memory - AHEAD_LINE;
    prefetch_note(&ahead, pieces, 3);
    for (size_t i = 0; i < AHEAD_PIECES && ahead.pieces[i]; i++)
        lines += lines_of(&ahead, i);
    assert_int_equal(lines, AHEAD_LINES);
    assert_int_equal(lines_of(&ahead, 0), 3);
}

/* Memory that is no more is no fault. */
static void nothing_is_read(void **state)
{
    (void)state;
    struct prefetch ahead;
    const struct access_piece gone = {(const void *)(uintptr_t)0x10000, 4096};
    prefetch_note(&ahead, &gone, 1);
    prefetch_begin(&ahead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_that_a_piece_touches),
        cmocka_unit_test(no_more_than_there_is_room_for),
        cmocka_unit_test(nothing_is_read),
    };
    return cmocka_run_group_tests_name("ahead", tests, NULL, NULL);
}
