/* What an operator has enqueued, and with which ops its next op pairs. */
#include "runtime/hook/operator/operator_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct operator_op same_operator[OPERATOR_OPS_MAX];

static void is_same_operator(uint32_t i, csan_lane lane, uint64_t first, uint64_t last)
{
    assert_int_equal(same_operator[i].lane, lane);
    assert_int_equal(same_operator[i].first, first);
    assert_int_equal(same_operator[i].last, last);
}

static void of_one_lane_there_are_none(void **state)
{
    (void)state;
    struct operator_ops ops;
    operator_ops_begin(&ops);
    assert_false(operator_ops_are_elsewhere(&ops, 1));
    operator_ops_add(&ops, OPERATOR_OP_DECLARED, 1, 10);
    operator_ops_add(&ops, OPERATOR_OP_KNOWN, 1, 11);
    assert_false(operator_ops_are_elsewhere(&ops, 1));
    assert_int_equal(operator_ops_same_operator(&ops, OPERATOR_OP_DECLARED, 1, same_operator), 0);
    assert_true(operator_ops_are_elsewhere(&ops, 2));
    operator_ops_add(&ops, OPERATOR_OP_INNER, 2, 12);
    assert_true(operator_ops_are_elsewhere(&ops, 1));
    assert_true(operator_ops_are_elsewhere(&ops, 2));
}

/* A declared op pairs with all that the operator did, from the first to the last. */
static void a_declared_op_pairs_with_all_others(void **state)
{
    (void)state;
    struct operator_ops ops;
    operator_ops_begin(&ops);
    operator_ops_add(&ops, OPERATOR_OP_KNOWN, 1, 10);
    operator_ops_add(&ops, OPERATOR_OP_INNER, 2, 11);
    operator_ops_add(&ops, OPERATOR_OP_DECLARED, 1, 12);
    operator_ops_add(&ops, OPERATOR_OP_INNER, 1, 13);
    assert_int_equal(operator_ops_same_operator(&ops, OPERATOR_OP_DECLARED, 3, same_operator), 2);
    is_same_operator(0, 1, 10, 13);
    is_same_operator(1, 2, 11, 11);
    assert_int_equal(operator_ops_same_operator(&ops, OPERATOR_OP_DECLARED, 1, same_operator), 1);
    is_same_operator(0, 2, 11, 11);
}

/* A known op pairs only with declared ones: in pieces, if others came between. */
static void a_known_op_pairs_with_declared_ones(void **state)
{
    (void)state;
    struct operator_ops ops;
    operator_ops_begin(&ops);
    operator_ops_add(&ops, OPERATOR_OP_KNOWN, 1, 10);
    assert_int_equal(operator_ops_same_operator(&ops, OPERATOR_OP_KNOWN, 2, same_operator), 0);
    operator_ops_add(&ops, OPERATOR_OP_DECLARED, 1, 11);
    operator_ops_add(&ops, OPERATOR_OP_DECLARED, 3, 12);
    operator_ops_add(&ops, OPERATOR_OP_DECLARED, 1, 13);
    operator_ops_add(&ops, OPERATOR_OP_KNOWN, 1, 14);
    operator_ops_add(&ops, OPERATOR_OP_DECLARED, 1, 15);
    operator_ops_add(&ops, OPERATOR_OP_INNER, 1, 16);
    operator_ops_add(&ops, OPERATOR_OP_DECLARED, 3, 17);
    operator_ops_add(&ops, OPERATOR_OP_DECLARED, 1, 18);
    static const enum operator_op_kind kinds[] = {OPERATOR_OP_KNOWN, OPERATOR_OP_INNER};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(operator_ops_same_operator(&ops, kinds[i], 2, same_operator), 4);
        is_same_operator(0, 1, 11, 13);
        is_same_operator(1, 3, 12, 17);
        is_same_operator(2, 1, 15, 15);
        is_same_operator(3, 1, 18, 18);
        assert_int_equal(operator_ops_same_operator(&ops, kinds[i], 1, same_operator), 1);
        is_same_operator(0, 3, 12, 17);
    }
}

/* Of more lanes than there is room for the newest are kept, with their pieces. */
static void there_is_room_for_some_lanes(void **state)
{
    (void)state;
    struct operator_ops ops;
    const uint32_t lanes = OPERATOR_OPS_MAX + 8;
    operator_ops_begin(&ops);
    for (uint32_t i = 0; i < lanes; i++) {
        operator_ops_add(&ops, OPERATOR_OP_DECLARED, 1 + i, 100 + 2 * i);
        operator_ops_add(&ops, OPERATOR_OP_KNOWN, 1 + i, 101 + 2 * i);
    }
    assert_int_equal(operator_ops_same_operator(&ops, OPERATOR_OP_KNOWN, 0, same_operator),
                     OPERATOR_OPS_MAX);
    is_same_operator(0, 9, 116, 116);
    is_same_operator(OPERATOR_OPS_MAX - 1, lanes, 98 + 2 * lanes, 98 + 2 * lanes);
    assert_int_equal(operator_ops_same_operator(&ops, OPERATOR_OP_DECLARED, 0, same_operator),
                     OPERATOR_LANES_MAX);
    is_same_operator(0, lanes - 7, 100 + 2 * (lanes - 8), 99 + 2 * (lanes - 7));
    is_same_operator(OPERATOR_LANES_MAX - 1, lanes, 98 + 2 * lanes, 99 + 2 * lanes);
}

static bool is_covered(uint32_t count, csan_lane lane, uint64_t number)
{
    for (uint32_t i = 0; i < count; i++)
        if (same_operator[i].lane == lane && same_operator[i].first <= number &&
            number <= same_operator[i].last)
            return true;
    return false;
}

/* cuDNN's recurrent layers work on several streams, with many changes between what is known and
 * what is declared. However many pieces there are, each declared op is in one of them. */
static void no_declared_op_is_left_out(void **state)
{
    (void)state;
    struct operator_ops ops;
    operator_ops_begin(&ops);
    for (uint32_t i = 0; i < 500; i++)
        operator_ops_add(&ops, i % 3 ? OPERATOR_OP_DECLARED : OPERATOR_OP_KNOWN, 1 + i % 5 % 3, i);
    const uint32_t count = operator_ops_same_operator(&ops, OPERATOR_OP_KNOWN, 9, same_operator);
    assert_true(count <= OPERATOR_OPS_MAX);
    for (uint32_t i = 0; i < 500; i++)
        if (i % 3)
            assert_true(is_covered(count, 1 + i % 5 % 3, i));
    assert_false(is_covered(count, 1, 0)); /* which came before any declared one */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_one_lane_there_are_none),
        cmocka_unit_test(a_declared_op_pairs_with_all_others),
        cmocka_unit_test(a_known_op_pairs_with_declared_ones),
        cmocka_unit_test(there_is_room_for_some_lanes),
        cmocka_unit_test(no_declared_op_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
