/* See operator_ops.h. */
#include "runtime/hook/operator/operator_ops.h"

#include <string.h>

/* The lane's newest, or NULL. */
static struct operator_op *part_of(struct operator_op *parts, uint32_t count, csan_lane lane)
{
    for (uint32_t i = count; i-- > 0;)
        if (parts[i].lane == lane)
            return &parts[i];
    return NULL;
}

/* Forgets the oldest for it, if need be. */
static struct operator_op *lane_add(struct operator_ops *parts, csan_lane lane, uint64_t number)
{
    if (parts->count == PARTS_MAX) {
        parts->count--;
        memmove(parts->whole, parts->whole + 1, parts->count * sizeof *parts->whole);
    }
    struct operator_op *part = &parts->whole[parts->count++];
    *part = (struct operator_op){lane, number, number};
    return part;
}

void operator_ops_add(struct operator_ops *parts, enum operator_op_kind kind, csan_lane lane,
                      uint64_t number)
{
    struct operator_op *whole = part_of(parts->whole, parts->count, lane);
    const uint64_t before = whole ? whole->last : 0;
    if (whole)
        whole->last = number;
    else
        lane_add(parts, lane, number);
    if (kind != OPERATOR_OP_DECLARED)
        return;
    struct operator_op *piece = part_of(parts->declared, parts->declared_count, lane);
    if (piece && piece->last == before) /* nothing that is known by itself came between */
        piece->last = number;
    else if (parts->declared_count < PARTS_MAX)
        parts->declared[parts->declared_count++] = (struct operator_op){lane, number, number};
}

bool operator_ops_are_elsewhere(const struct operator_ops *parts, csan_lane lane)
{
    return parts->count > 1 || (parts->count == 1 && parts->whole[0].lane != lane);
}

uint32_t operator_ops_same_operator(const struct operator_ops *parts, enum operator_op_kind kind,
                                    csan_lane lane, struct operator_op found_ops[PARTS_MAX])
{
    const struct operator_op *list = kind == OPERATOR_OP_DECLARED ? parts->whole : parts->declared;
    const uint32_t count = kind == OPERATOR_OP_DECLARED ? parts->count : parts->declared_count;
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (list[i].lane != lane)
            found_ops[found++] = list[i];
    return found;
}
