/* Long lines on a terminal: where they break, and what stays whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/base/wrap.h"
#include <stdlib.h>
#include <string.h>

static void check(const char *line, size_t columns, const char *expected)
{
    struct text text = {0};
    wrap_add(&text, line, strlen(line), columns);
    assert_string_equal(text.data ? text.data : "", expected);
    text_free(&text);
}

static void at_blanks(void **state)
{
    (void)state;
    check("Cause: nothing orders the two\n", 20, "Cause: nothing\n  orders the two\n");
    check("exactly twenty wide.\n", 20, "exactly twenty wide.\n");
    check("no end of the line here", 20, "no end of the line\n  here");
    check("\n\n", 20, "\n\n");
    check("", 20, "");
}

static void left_whole(void **state)
{
    (void)state;
    check("  #0 main a_path_that_is_long.cu:30\n", 20, "  #0 main a_path_that_is_long.cu:30\n");
    check("aWordThatIsWiderThanTheTerminal b\n", 20, "aWordThatIsWiderThanTheTerminal\n  b\n");
    check("a terminal of less than twenty\n", 19, "a terminal of less than twenty\n");
    check("no terminal at all, so no width\n", 0, "no terminal at all, so no width\n");
}

static void indented_prose_keeps_its_indent(void **state)
{
    (void)state;
    struct text text = {0};
    const char *line = "    needed; without it a race\nshort\n";
    wrap_indented_add(&text, line, strlen(line), 20);
    assert_string_equal(text.data, "    needed; without\n      it a race\nshort\n");
    text_free(&text);
    line = "                what is far right stays narrow\n"; /* not more than half, and two */
    wrap_indented_add(&text, line, strlen(line), 24);
    assert_string_equal(text.data, "                what is\n              far right\n"
                                   "              stays\n              narrow\n");
    text_free(&text);
}

static void escapes_have_no_width(void **state)
{
    (void)state;
    check("\033[1;31mexactly twenty wide.\033[0m\n", 20, "\033[1;31mexactly twenty wide.\033[0m\n");
    check("\xc3\xa4\xc3\xb6\xc3\xbc exactly 20 wide.\n", 20,
          "\xc3\xa4\xc3\xb6\xc3\xbc exactly 20 wide.\n");
}

/* Nothing but blanks and line ends changes, and no line is wider that could be broken. */
static void any_text(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 20000; round++) {
        char line[200];
        const size_t length = (size_t)rand() % (sizeof line - 1),
                     columns = 20 + (size_t)rand() % 60;
        for (size_t i = 0; i < length; i++)
            line[i] = "ab  cdefg\n"[rand() % 10];
        line[length] = '\0';
        struct text text = {0};
        wrap_add(&text, line, length, columns);
        const char *out = text.data ? text.data : "";
        size_t i = 0, k = 0;
        for (;;) {
            i += strspn(line + i, " \n");
            k += strspn(out + k, " \n");
            if (!line[i] || !out[k])
                break;
            assert_int_equal(line[i++], out[k++]);
        }
        assert_true(!line[i] && !out[k]);
        for (const char *at = out; *at;) {
            const size_t width = strcspn(at, "\n");
            if (*at != ' ' && width > columns)
                assert_null(memchr(at, ' ', columns - 1));
            at += width + (at[width] == '\n');
        }
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_blanks),
        cmocka_unit_test(left_whole),
        cmocka_unit_test(indented_prose_keeps_its_indent),
        cmocka_unit_test(escapes_have_no_width),
        cmocka_unit_test(any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
