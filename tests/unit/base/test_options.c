#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "csan/options.h"
#include <stdlib.h>
#include <string.h>

static struct options options;
static char message[256];

static int parse(const char *text)
{
    options_default(&options);
    message[0] = '\0';
    return options_parse(&options, text, message, sizeof(message));
}

static void defaults(void **state)
{
    (void)state;
    assert_int_equal(parse(""), 0);
    assert_int_equal(options.exitcode, 66);
    assert_int_equal(options.dedup, 1);
    assert_int_equal(options.halt_on_error, OPTION_AUTO);
    assert_string_equal(options.log_path, "stderr");
    assert_string_equal(options.fail_on, "race");
    assert_int_equal(options.check, 1);
    assert_int_equal(options.abort_on_error, 0);
    assert_string_equal(options.baseline, "");
}

static void separators_and_quotes(void **state)
{
    (void)state;
    assert_int_equal(parse("exitcode=3:verbosity=2,dedup=no  halt_on_error=1"), 0);
    assert_int_equal(options.exitcode, 3);
    assert_int_equal(options.verbosity, 2);
    assert_int_equal(options.dedup, 0);
    assert_int_equal(options.halt_on_error, 1);
    assert_int_equal(parse("log_path='/tmp/a:b c.%p':exitcode=1"), 0);
    assert_string_equal(options.log_path, "/tmp/a:b c.%p");
    assert_int_equal(options.exitcode, 1);
    assert_int_equal(parse("baseline='a b.json':suppressions=:check=0:abort_on_error=1"), 0);
    assert_string_equal(options.baseline, "a b.json");
    assert_string_equal(options.suppressions, "");
    assert_int_equal(options.check, 0);
    assert_int_equal(options.abort_on_error, 1);
    assert_int_equal(parse("baseline=a:baseline="), 0); /* what is said last counts */
    assert_string_equal(options.baseline, "");
    assert_int_equal(parse("log_path=\"x\""), 0);
    assert_string_equal(options.log_path, "x");
}

static void old_names_work_and_are_noted(void **state)
{
    (void)state;
    assert_int_equal(parse("deferred_limit=7"), 0);
    assert_int_equal(options.deferred_limit, 7);
    assert_null(options.old_name);
    assert_int_equal(parse("backlog=9:exitcode=1"), 0);
    assert_int_equal(options.deferred_limit, 9);
    assert_int_equal(options.exitcode, 1);
    assert_non_null(strstr(options.old_name, "deferred_limit"));
}

static void kernels_are_named(void **state)
{
    (void)state;
    assert_int_equal(parse(""), 0);
    assert_string_equal(options.launch_blocking, "0");
    assert_int_equal(parse("launch_blocking=yes"), 0);
    assert_string_equal(options.launch_blocking, "1");
    assert_int_equal(parse("launch_blocking=kernel:^scale*:exitcode=5"), 0);
    assert_string_equal(options.launch_blocking, "kernel:^scale*");
    assert_int_equal(options.exitcode, 5);
    assert_int_equal(parse("launch_blocking='kernel:a::b(int, float)',exitcode=6"), 0);
    assert_string_equal(options.launch_blocking, "kernel:a::b(int, float)");
    assert_int_equal(options.exitcode, 6);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"halt_on_eror=1", "did you mean 'halt_on_error'"},
        {"basline=x", "did you mean 'baseline'"},
        {"abort_on_eror=1", "did you mean 'abort_on_error'"},
        {"zzzzzz=1", "there is no option 'zzzzzz'; help=1"},
        {"exitcode", "option 'exitcode' has no value"},
        {"exitcode=300", "0..255"},
        {"exitcode=", "whole number"},
        {"exitcode=12x", "whole number"},
        {"exitcode=99999999999999999999", "whole number"},
        {"dedup=maybe", "dedup=0 or dedup=1"},
        {"fail_on=never", "race|possible"},
        {"log_path='/tmp/x", "not closed"},
        {"launch_blocking=2", "launch_blocking=kernel:NAME"},
        {"launch_blocking=kernel:", "launch_blocking=kernel:NAME"},
        {"launch_blocking='kernel:*'", "launch_blocking=kernel:NAME"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(parse(cases[i].text), -1);
        if (!strstr(message, cases[i].said))
            fail_msg("%s: said '%s'", cases[i].text, message);
    }
}

static void long_input_is_refused(void **state)
{
    (void)state;
    static char text[OPTION_TEXT_MAX * 2];
    memset(text, 'a', sizeof(text) - 1);
    assert_int_equal(parse(text), -1);
    memcpy(text, "log_path=", 9);
    assert_int_equal(parse(text), -1);
    assert_non_null(strstr(message, "longer than"));
}

static void earlier_settings_stand(void **state)
{
    (void)state;
    assert_int_equal(parse("exitcode=5:nonsense=1:verbosity=2"), -1);
    assert_int_equal(options.exitcode, 5);
    assert_int_equal(options.verbosity, 0);
}

static void help_names_every_option(void **state)
{
    (void)state;
    static const char *const names[] = {"halt_on_error",
                                        "exitcode",
                                        "verbosity",
                                        "help",
                                        "strict_free",
                                        "implicit_sync",
                                        "dedup",
                                        "report_limit",
                                        "symbolize",
                                        "stacks",
                                        "stack_depth",
                                        "pending_limit",
                                        "pending_timeout_ms",
                                        "strided_cap",
                                        "print_summary",
                                        "fail_on",
                                        "log_path",
                                        "color",
                                        "device",
                                        "host_order",
                                        "external_symbolizer_path",
                                        "strip_path_prefix"};
    size_t length = options_help(NULL, 0);
    char *text = malloc(length + 1);
    assert_int_equal(options_help(text, length + 1), length);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char line[64] = "  ";
        strcat(strcat(line, names[i]), "=");
        assert_non_null(strstr(text, line));
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(separators_and_quotes),
        cmocka_unit_test(old_names_work_and_are_noted),
        cmocka_unit_test(kernels_are_named),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(long_input_is_refused),
        cmocka_unit_test(earlier_settings_stand),
        cmocka_unit_test(help_names_every_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
