/* Attributes of opaque structures: sizes must match; a get may ask for the size alone. */
#include "runtime/device/library/attributes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct object {
    int32_t small;
    uint64_t large;
};
static const struct attribute table[] = {ATTRIBUTE(3, struct object, small),
                                         ATTRIBUTE(7, struct object, large)};

static void values_are_set_and_got(void **state)
{
    struct object object = {0};
    const uint64_t large = 1ull << 40;
    uint64_t got = 0;
    size_t written = 0;
    (void)state;
    assert_true(attribute_set(table, 2, &object, 7, &large, sizeof large));
    assert_true(object.large == large && object.small == 0);
    assert_true(attribute_get(table, 2, &object, 7, &got, sizeof got, &written));
    assert_true(got == large && written == sizeof large);
    assert_true(attribute_get(table, 2, &object, 7, &got, sizeof got, NULL));
}

static void wrong_sizes_and_numbers_are_refused(void **state)
{
    struct object object = {0};
    const uint64_t value = 1;
    uint32_t got;
    (void)state;
    assert_false(attribute_set(table, 2, &object, 3, &value, sizeof value));
    assert_false(attribute_set(table, 2, &object, 4, &value, 4));
    assert_false(attribute_set(table, 2, NULL, 3, &value, 4));
    assert_false(attribute_get(table, 2, &object, 7, &got, sizeof got, NULL));
    assert_false(attribute_get(table, 2, &object, 7, NULL, 8, NULL));
}

static void a_size_alone_is_asked_for(void **state)
{
    struct object object = {0};
    size_t written = 0;
    (void)state;
    assert_true(attribute_get(table, 2, &object, 3, NULL, 0, &written));
    assert_int_equal(written, 4);
    assert_false(attribute_get(table, 2, &object, 3, NULL, 0, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_set_and_got),
        cmocka_unit_test(wrong_sizes_and_numbers_are_refused),
        cmocka_unit_test(a_size_alone_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
