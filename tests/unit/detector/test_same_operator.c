/* What is said of ops to come. */
#include "csan/detector/same_operator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void by_lanes_and_numbers(void **state)
{
    (void)state;
    struct same_operator same_operator = {0};
    assert_false(same_operator_have(&same_operator, 0, 0, 0));
    same_operator_add(&same_operator, (struct same_operator_member){1, 2, 10, 12});
    same_operator_add(&same_operator, (struct same_operator_member){1, 2, 20, 20});
    assert_false(same_operator_have(&same_operator, 1, 2, 9));
    assert_true(same_operator_have(&same_operator, 1, 2, 10));
    assert_true(same_operator_have(&same_operator, 1, 2, 12));
    assert_false(same_operator_have(&same_operator, 1, 2, 13));
    assert_true(same_operator_have(&same_operator, 1, 2, 20));
    assert_false(same_operator_have(&same_operator, 2, 1, 11));
    assert_false(same_operator_have(&same_operator, 1, 3, 11));
    same_operator_clear(&same_operator);
    assert_false(same_operator_have(&same_operator, 1, 2, 10));
}

static void each_lane_s_until_its_op(void **state)
{
    (void)state;
    struct same_operator same_operator = {0};
    for (uint32_t i = 0; i < 100; i++)
        same_operator_add(&same_operator, (struct same_operator_member){i % 3, 7, i, i});
    same_operator_forget(&same_operator, 1);
    for (uint32_t i = 0; i < 100; i++)
        for (uint32_t lane = 0; lane < 3; lane++)
            assert_int_equal(same_operator_have(&same_operator, lane, 7, i),
                             lane != 1 && i % 3 == lane);
    same_operator_forget(&same_operator, 0);
    same_operator_forget(&same_operator, 2);
    assert_int_equal(same_operator.count, 0);
    same_operator_clear(&same_operator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_lanes_and_numbers),
        cmocka_unit_test(each_lane_s_until_its_op),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
