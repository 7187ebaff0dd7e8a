/* The units of one program: which text of each is read, and what happens to those that do not
 * parse. */
#include "tests/unit/ptx/test_ptx.h"

#include "runtime/ptx/units.h"

#define TARGET(arch) ".version 8.0\n.target sm_" arch "\n.address_size 64\n"
#define TEXT(what, of, in)                                                                         \
    {                                                                                              \
        (char *)(uintptr_t)(what), sizeof(what) - 1, (of), (in)                                    \
    }

static const char older[] = TARGET("75") ".visible .entry old() { ret; }\n";
static const char newer[] = TARGET("90") ".visible .entry new() { ret; }\n";
static const char other[] = TARGET("90") ".visible .entry other() { ret; }\n";
static const char broken[] = TARGET("90") ".visible .entry broken( { ret; }\n";
static const char again[] = TARGET("90") ".visible .entry other() { trap; }\n";

struct heard {
    unsigned units, links;
    char message[256];
};

static void hear(void *user, const struct fatbin_text *text, const struct ptx_error *error)
{
    struct heard *heard = user;
    *(text ? &heard->units : &heard->links) += 1;
    snprintf(heard->message, sizeof heard->message, "%s", error->message);
}

static void the_newest_of_each_unit_is_read(void **state)
{
    (void)state;
    const struct fatbin_text texts[] = {TEXT(newer, 90, 0), TEXT(older, 75, 0), TEXT(other, 90, 1)};
    struct heard heard = {0};
    assert_true(units_reads(texts, 0));
    assert_false(units_reads(texts, 1));
    assert_true(units_reads(texts, 2));
    struct ptx_module *module = units_link(texts, 3, hear, &heard);
    assert_non_null(module);
    assert_non_null(ptx_module_function(module, "new"));
    assert_non_null(ptx_module_function(module, "other"));
    assert_null(ptx_module_function(module, "old"));
    assert_int_equal(heard.units + heard.links, 0);
    ptx_module_release(module);
}

static void units_that_do_not_parse_are_left_out(void **state)
{
    (void)state;
    const struct fatbin_text texts[] = {TEXT(broken, 90, 0), TEXT(other, 90, 1)};
    struct heard heard = {0};
    struct ptx_module *module = units_link(texts, 2, hear, &heard);
    assert_non_null(module);
    assert_non_null(ptx_module_function(module, "other"));
    assert_int_equal(heard.units, 1);
    assert_true(heard.message[0] != 0);
    ptx_module_release(module);
    assert_null(units_link(texts, 1, NULL, NULL));
    assert_null(units_link(NULL, 0, NULL, NULL));
}

static void units_that_do_not_link_are_reported(void **state)
{
    (void)state;
    const struct fatbin_text texts[] = {TEXT(other, 90, 0), TEXT(again, 90, 1)};
    struct heard heard = {0};
    assert_null(units_link(texts, 2, hear, &heard));
    assert_int_equal(heard.links, 1);
    assert_non_null(strstr(heard.message, "other"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_of_each_unit_is_read),
        cmocka_unit_test(units_that_do_not_parse_are_left_out),
        cmocka_unit_test(units_that_do_not_link_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
