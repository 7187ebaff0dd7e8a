/* Growing text, and what of it a terminal may be shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/base/text.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Room for so many bytes, all of them in one page set of 2 MiB: what is written first is lost. */
static char *room_of(size_t bytes)
{
    enum { PIECE = 2 << 20 };
    const int pages = memfd_create("text", MFD_CLOEXEC);
    assert_int_equal(ftruncate(pages, PIECE), 0);
    char *room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    for (size_t at = 0; at < bytes; at += PIECE)
        assert_ptr_not_equal(
            mmap(room + at, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, pages, 0),
            MAP_FAILED);
    close(pages);
    return room;
}

/* printf cannot add as much: its result is an int. */
static void a_text_may_have_more_than_2_gib(void **state)
{
    enum { MORE = 3000 };
    const size_t bytes = (size_t)INT_MAX + MORE, room = (bytes | ((2u << 20) - 1)) + 1;
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* it would keep 16 GiB on who touched what */
#endif
    char *from = mmap(NULL, room, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(from, MAP_FAILED);
    struct text text = {.data = room_of(room), .capacity = room};
    text_add_text(&text, &(struct text){.data = from, .length = bytes});
    text_add(&text, "]\n");
    assert_false(text.cut);
    assert_int_equal(text.length, bytes + 2);
    assert_string_equal(text.data + bytes, "]\n");
    munmap(text.data, room);
    munmap(from, room);
}

static void a_text_that_was_cut_cuts_what_it_is_added_to(void **state)
{
    (void)state;
    struct text text = {0}, more = {0};
    text_add(&more, "order");
    text_add_text(&text, &more);
    text_add_bytes(&text, "s!", 1);
    text_add_bytes(&text, NULL, 0);
    assert_string_equal(text.data, "orders");
    assert_false(text.cut);
    more.cut = true;
    text_add_text(&text, &more);
    assert_true(text.cut);
    text_free(&text);
    text_free(&more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_terminal_may_be_shown),
        cmocka_unit_test(nothing_erases_a_line),
        cmocka_unit_test(a_plain_name_has_no_controls),
        cmocka_unit_test(a_text_may_have_more_than_2_gib),
        cmocka_unit_test(a_text_that_was_cut_cuts_what_it_is_added_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
