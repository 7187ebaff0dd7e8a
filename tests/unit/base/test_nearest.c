/* What is proposed for a name that does not exist. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/base/nearest.h"
#include <string.h>

static const char *const names[] = {"--device", "--format", "--options", NULL, "--output", "run"};

static const char *name_at(const void *user, size_t index)
{
    (void)user;
    return names[index];
}

static const char *nearest(const char *name)
{
    return nearest_name(name, name_at, NULL, sizeof names / sizeof *names);
}

static void a_slip_is_found(void **state)
{
    (void)state;
    assert_string_equal(nearest("--devise"), "--device");
    assert_string_equal(nearest("--divece"), "--device");
    assert_string_equal(nearest("--optoins"), "--options");
    assert_string_equal(nearest("--formt"), "--format");
    assert_string_equal(nearest("--outputt"), "--output");
    assert_string_equal(nearest("rnu"), "run");
    assert_string_equal(nearest("run"), "run");
}

static void what_is_like_none_is_not(void **state)
{
    char longer[200];
    (void)state;
    assert_null(nearest("explore"));
    assert_null(nearest(""));
    assert_null(nearest("x"));
    memset(longer, 'r', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_null(nearest(longer));
    assert_null(nearest_name("run", name_at, NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slip_is_found),
        cmocka_unit_test(what_is_like_none_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
