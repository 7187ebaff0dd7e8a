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

static struct fatbin_machine_code code_of(const uint32_t *architectures)
{
    struct fatbin_machine_code code = {{0}};
    for (; *architectures; architectures++)
        code.bits[*architectures / 64] |= (uint64_t)1 << *architectures % 64;
    return code;
}

/* `machine_code` and `texts`: architectures, the newest first, 0 at the end. Which text is read; 0:
 * none that the device runs. */
static uint32_t chosen(const uint32_t *machine_code, const uint32_t *texts, uint32_t device)
{
    const struct fatbin_machine_code code = code_of(machine_code);
    struct fatbin_text all[8];
    size_t count = 0;
    for (; texts[count]; count++)
        all[count] = (struct fatbin_text)TEXT(newer, texts[count], 0);
    const uint32_t before = all[0].arch;
    const bool found = units_choose(all, count, &code, device);
    assert_true(found || all[0].arch == before);
    return found ? all[0].arch : 0;
}

#define LIST(...) ((const uint32_t[]){__VA_ARGS__, 0})
#define NONE      ((const uint32_t[]){0})

static void the_text_that_a_device_runs_is_chosen(void **state)
{
    (void)state;
    /* As nvcc makes it by default, by -arch=sm_90, and by -arch=native. */
    assert_int_equal(chosen(LIST(75), LIST(75), 90), 75);
    assert_int_equal(chosen(LIST(90), LIST(90), 90), 90);
    assert_int_equal(chosen(LIST(90), LIST(75), 90), 0);
    /* A library: machine code for many, PTX of the newest. */
    const uint32_t *many = LIST(120, 100, 90, 89, 86, 80, 75);
    assert_int_equal(chosen(many, LIST(120), 90), 0);
    assert_int_equal(chosen(many, LIST(120), 120), 120);
    assert_int_equal(chosen(many, LIST(120), 121), 120);
    assert_int_equal(chosen(many, LIST(120), 130), 120);
    assert_int_equal(chosen(many, LIST(120, 90), 90), 90);
    /* Machine code runs on later minor versions, PTX on all later versions. */
    assert_int_equal(chosen(LIST(80), LIST(80), 86), 80);
    assert_int_equal(chosen(LIST(86), LIST(80), 80), 80);
    assert_int_equal(chosen(LIST(86), LIST(80), 87), 0);
    assert_int_equal(chosen(LIST(80), LIST(100, 80, 75), 90), 80);
    assert_int_equal(chosen(NONE, LIST(100, 90, 75), 89), 75);
    assert_int_equal(chosen(NONE, LIST(100), 90), 0);
}

static void each_unit_has_its_own_text(void **state)
{
    (void)state;
    const struct fatbin_machine_code none = code_of(NONE);
    struct fatbin_text texts[] = {TEXT(newer, 90, 0), TEXT(older, 75, 0), TEXT(other, 90, 1)};
    assert_false(units_choose(texts, 3, &none, 80));
    assert_int_equal(texts[0].arch, 75);
    assert_int_equal(texts[1].arch, 90);
    assert_int_equal(texts[2].arch, 90);
    assert_true(units_choose(texts, 2, &none, 80));
    assert_int_equal(texts[0].arch, 75);
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
        cmocka_unit_test(the_text_that_a_device_runs_is_chosen),
        cmocka_unit_test(each_unit_has_its_own_text),
        cmocka_unit_test(units_that_do_not_parse_are_left_out),
        cmocka_unit_test(units_that_do_not_link_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
