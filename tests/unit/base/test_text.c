/* Growing text, and what of it a terminal may be shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/base/text.h"

#include <string.h>

static void is_shown(const char *bytes, const char *shown)
{
    struct text text = {0};
    text_add_shown(&text, bytes, strlen(bytes));
    assert_string_equal(text.data, shown);
    text_free(&text);
}

static void what_a_terminal_may_be_shown(void **state)
{
    (void)state;
    is_shown("a\tb\n", "a\tb\n");
    is_shown("\033[1;31mrace\033[0m", "\033[1;31mrace\033[0m");
    is_shown("\033[2J", "\\x1b[2J");
    is_shown("caf\303\251 \302\233", "caf\303\251 \\xc2\\x9b");
}

/* Of a name or a file's line, which would hide what stands before it. */
static void nothing_erases_a_line(void **state)
{
    (void)state;
    is_shown("race\r\033[Knone", "race\\x0d\\x1b[Knone");
    is_shown("race\rcsan mutate: ", "race\\x0dcsan mutate: ");
}

static void a_plain_name_has_no_controls(void **state)
{
    (void)state;
    char name[] = "a\tb\n\033c \303\251 \302\233[2J\177\302";
    text_make_plain(name);
    assert_string_equal(name, "a?b??c \303\251 ??[2J?\302");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_terminal_may_be_shown),
        cmocka_unit_test(nothing_erases_a_line),
        cmocka_unit_test(a_plain_name_has_no_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
