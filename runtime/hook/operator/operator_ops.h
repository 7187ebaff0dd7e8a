/* What a running operator has enqueued so far: the lanes, and the numbers of the ops.
 *
 * An operator declares all that it touches. csan uses that for each of its launches of which it
 * knows nothing more. If these launches are on several streams, the declaration alone makes no race
 * between them: they are ops of the same operator (csan_op_same_operator). The same holds for ops
 * of an inner operator, and for a kernel whose accesses are known. But if the accesses of both ops
 * are known and conflict, they race. */
#ifndef RUNTIME_HOOK_OPERATOR_OPERATOR_OPS_H
#define RUNTIME_HOOK_OPERATOR_OPERATOR_OPS_H

#include <csan/csan.h>

#include <stdbool.h>

/* If there are more lanes, the newest are kept: some live for one op only. If there are more
 * pieces, two of one lane become one, with the known ops between them: races between those and
 * known ops of the same operator are then missed, and none is reported that is not there. */
enum { OPERATOR_LANES_MAX = 8, OPERATOR_OPS_MAX = 32 };

/* Ops of one lane, by number. */
struct operator_op {
    csan_lane lane;
    uint64_t first, last;
};

struct operator_ops {
    uint32_t count, declared_count;
    struct operator_op whole[OPERATOR_LANES_MAX];  /* one a lane */
    struct operator_op declared[OPERATOR_OPS_MAX]; /* of which by the operator's own word */
};

enum operator_op_kind {
    OPERATOR_OP_INNER,   /* of an operator inside this one */
    OPERATOR_OP_KNOWN,   /* its own, known by itself */
    OPERATOR_OP_DECLARED /* its own, by its word */
};

/* Nothing yet. */
static inline void operator_ops_begin(struct operator_ops *ops)
{
    ops->count = ops->declared_count = 0;
}

void operator_ops_add(struct operator_ops *ops, enum operator_op_kind kind, csan_lane lane,
                      uint64_t number);

/* Whether some of it is on another lane. */
bool operator_ops_are_elsewhere(const struct operator_ops *ops, csan_lane lane);

/* Lists the ops of the same operator as the next op of that kind on the lane. Returns how many
 * there are. */
uint32_t operator_ops_same_operator(const struct operator_ops *ops, enum operator_op_kind kind,
                                    csan_lane lane, struct operator_op found_ops[OPERATOR_OPS_MAX]);

#endif
