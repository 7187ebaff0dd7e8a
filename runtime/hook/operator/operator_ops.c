/* See operator_ops.h. */
#include "runtime/hook/operator/operator_ops.h"

#include <string.h>

/* The lane's newest, or NULL. */
static struct operator_op *op_of_lane(struct operator_op *ops, uint32_t count, csan_lane lane)
{
    for (uint32_t i = count; i-- > 0;)
        if (ops[i].lane == lane)
            return &ops[i];
    return NULL;
}

/* Forgets the oldest for it, if need be. */
static void lane_add(struct operator_ops *ops, csan_lane lane, uint64_t number)
{
    if (ops->count == OPERATOR_LANES_MAX) {
        ops->count--;
        memmove(ops->whole, ops->whole + 1, ops->count * sizeof *ops->whole);
    }
    ops->whole[ops->count++] = (struct operator_op){lane, number, number};
}

/* Makes two pieces of one lane one; if all are of different lanes, the oldest goes. */
static void piece_free(struct operator_ops *ops)
{
    uint32_t gone = 0;
    for (uint32_t i = 1; i < ops->declared_count && !gone; i++) {
        struct operator_op *before = op_of_lane(ops->declared, i, ops->declared[i].lane);
        if (before) {
            before->last = ops->declared[i].last;
            gone = i;
        }
    }
    ops->declared_count--;
    memmove(ops->declared + gone, ops->declared + gone + 1,
            (ops->declared_count - gone) * sizeof *ops->declared);
}

void operator_ops_add(struct operator_ops *ops, enum operator_op_kind kind, csan_lane lane,
                      uint64_t number)
{
    struct operator_op *whole = op_of_lane(ops->whole, ops->count, lane);
    const uint64_t before = whole ? whole->last : 0;
    if (whole)
        whole->last = number;
    else
        lane_add(ops, lane, number);
    if (kind != OPERATOR_OP_DECLARED)
        return;
    struct operator_op *piece = op_of_lane(ops->declared, ops->declared_count, lane);
    if (piece && piece->last == before) { /* nothing that is known by itself came between */
        piece->last = number;
        return;
    }
    if (ops->declared_count == OPERATOR_OPS_MAX)
        piece_free(ops);
    ops->declared[ops->declared_count++] = (struct operator_op){lane, number, number};
}

bool operator_ops_are_elsewhere(const struct operator_ops *ops, csan_lane lane)
{
    return ops->count > 1 || (ops->count == 1 && ops->whole[0].lane != lane);
}

uint32_t operator_ops_same_operator(const struct operator_ops *ops, enum operator_op_kind kind,
                                    csan_lane lane, struct operator_op found_ops[OPERATOR_OPS_MAX])
{
    const struct operator_op *list = kind == OPERATOR_OP_DECLARED ? ops->whole : ops->declared;
    const uint32_t count = kind == OPERATOR_OP_DECLARED ? ops->count : ops->declared_count;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (list[i].lane != lane)
            found_ops[found++] = list[i];
    return found;
}
