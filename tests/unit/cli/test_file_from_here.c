/* Names of files, for programs that start elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/cli/process/file_from_here.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/csan-test-XXXXXX";

static int enter(void **state)
{
    (void)state;
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static void expect(const char *name, const char *expected)
{
    char *path = file_from_here(name);
    assert_string_equal(path, expected);
    free(path);
}

static void a_name_is_seen_from_here(void **state)
{
    (void)state;
    char here[PATH_MAX], expected[PATH_MAX + 64];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(expected, sizeof expected, "%s/app.%%r.csan", here);
    expect("app.%r.csan", expected);
    snprintf(expected, sizeof expected, "%s/../app.csan", here);
    expect("../app.csan", expected);
}

static void an_absolute_one_stays(void **state)
{
    (void)state;
    expect("/tmp/app.csan", "/tmp/app.csan");
    expect("", "");
}

static void the_root_has_one_slash(void **state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    expect("app.csan", "/app.csan");
    assert_int_equal(chdir(directory), 0);
}

static void a_directory_that_cannot_be_passed_on_is_left_out(void **state)
{
    (void)state;
    static const char *const names[] = {"it's", "100%p", "two\nlines"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(mkdir(names[i], 0700), 0);
        assert_int_equal(chdir(names[i]), 0);
        expect("app.csan", "app.csan");
        assert_int_equal(chdir(".."), 0);
        assert_int_equal(rmdir(names[i]), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_seen_from_here),
        cmocka_unit_test(an_absolute_one_stays),
        cmocka_unit_test(the_root_has_one_slash),
        cmocka_unit_test(a_directory_that_cannot_be_passed_on_is_left_out),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
