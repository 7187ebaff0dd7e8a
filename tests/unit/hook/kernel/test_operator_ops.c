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

/* Of more lanes than there is room for the newest are kept, of more pieces the first. */
static void there_is_room_for_some(void **state)
{
    (void)state;
    struct operator_ops ops;
    operator_ops_begin(&ops);
    for (uint32_t i = 0; i < 3 * OPERATOR_OPS_MAX; i++) {
        operator_ops_add(&ops, OPERATOR_OP_DECLARED, 1 + i, 100 + 2 * i);
        operator_ops_add(&ops, OPERATOR_OP_KNOWN, 1 + i, 101 + 2 * i);
    }
    assert_int_equal(operator_ops_same_operator(&ops, OPERATOR_OP_KNOWN, 0, same_operator),
                     OPERATOR_OPS_MAX);
    is_same_operator(OPERATOR_OPS_MAX - 1, OPERATOR_OPS_MAX, 98 + 2 * OPERATOR_OPS_MAX,
                     98 + 2 * OPERATOR_OPS_MAX);
    assert_int_equal(operator_ops_same_operator(&ops, OPERATOR_OP_DECLARED, 0, same_operator),
                     OPERATOR_OPS_MAX);
    is_same_operator(0, 1 + 2 * OPERATOR_OPS_MAX, 100 + 4 * OPERATOR_OPS_MAX,
                     101 + 4 * OPERATOR_OPS_MAX);
    is_same_operator(OPERATOR_OPS_MAX - 1, 3 * OPERATOR_OPS_MAX, 98 + 6 * OPERATOR_OPS_MAX,
                     99 + 6 * OPERATOR_OPS_MAX);
}

/* A piece for which there was no room makes no other one longer. */
static void pieces_without_room_stretch_none(void **state)
{
    (void)state;
    struct operator_ops ops;
    operator_ops_begin(&ops);
    for (uint32_t i = 0; i <= OPERATOR_OPS_MAX; i++) {
        operator_ops_add(&ops, OPERATOR_OP_DECLARED, 1, 100 + 2 * i);
        operator_ops_add(&ops, OPERATOR_OP_KNOWN, 1, 101 + 2 * i);
    }
    operator_ops_add(&ops, OPERATOR_OP_DECLARED, 1, 200);
    operator_ops_add(&ops, OPERATOR_OP_DECLARED, 1, 201);
    assert_int_equal(operator_ops_same_operator(&ops, OPERATOR_OP_KNOWN, 2, same_operator),
                     OPERATOR_OPS_MAX);
    is_same_operator(OPERATOR_OPS_MAX - 1, 1, 98 + 2 * OPERATOR_OPS_MAX, 98 + 2 * OPERATOR_OPS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_one_lane_there_are_none),
        cmocka_unit_test(a_declared_op_pairs_with_all_others),
        cmocka_unit_test(a_known_op_pairs_with_declared_ones),
        cmocka_unit_test(there_is_room_for_some),
        cmocka_unit_test(pieces_without_room_stretch_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
