/* printf and its kind: who called is known while one of them runs, on its stack and no farther, and
 * arguments arrive as they were given. The next functions are this test's. */
#include "runtime/hook/host/host_text.h"
#include "runtime/hook/interpose/driver.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

bool host_access_guards;

static uint64_t caller, far_away;
static char made[64];

static void look(void)
{
    const uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    caller = host_text_caller(stack);
    far_away = host_text_caller(stack + (1 << 20)) | host_text_caller(stack - (1 << 20));
}

static int next_puts(const char *text)
{
    look();
    snprintf(made, sizeof made, "%s!", text); /* within the other */
    look();
    return 7;
}

static int next_vfprintf(FILE *file, const char *format, va_list list)
{
    look();
    assert_ptr_equal(file, stdout);
    return vsnprintf(made, sizeof made, format, list);
}

void *driver_dlsym(void *handle, const char *symbol)
{
    if (strcmp(symbol, "puts") == 0)
        return (void *)next_puts;
    if (strcmp(symbol, "vfprintf") == 0)
        return (void *)next_vfprintf;
    return dlsym(handle, symbol);
}

static bool is_here(uint64_t address, const void *function)
{
    const uint64_t start = (uintptr_t)function;
    return address > start && address < start + 4096;
}

static void the_caller_is_known_meanwhile(void **state)
{
    (void)state;
    host_access_guards = true;
    assert_int_equal(puts("text"), 7);
    assert_string_equal(made, "text!");
    assert_true(is_here(caller, (const void *)the_caller_is_known_meanwhile));
    assert_int_equal(far_away, 0);
    look();
    assert_int_equal(caller, 0);
}

static void arguments_arrive(void **state)
{
    (void)state;
    host_access_guards = true;
    assert_int_equal(fprintf(stdout, "%d %s %.1f %c", 5, "six", 7.5, 'e'), 11);
    assert_string_equal(made, "5 six 7.5 e");
    assert_true(is_here(caller, (const void *)arguments_arrive));
}

static void without_guarded_pages_nobody_asks(void **state)
{
    (void)state;
    host_access_guards = false;
    assert_int_equal(puts("text"), 7);
    assert_int_equal(caller, 0);
    assert_int_equal(fprintf(stdout, "%d%%", 5), 2);
    assert_string_equal(made, "5%");
    assert_int_equal(caller, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_caller_is_known_meanwhile),
        cmocka_unit_test(arguments_arrive),
        cmocka_unit_test(without_guarded_pages_nobody_asks),
    };
    return cmocka_run_group_tests_name("host_text", tests, NULL, NULL);
}
