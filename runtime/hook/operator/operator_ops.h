/* What an operator that runs has enqueued so far: on which lanes, and the numbers of the ops.
 *
 * An operator's word is of all that it touches, and told of each of its launches of which nothing
 * more is known. Where those are on several streams, that word is no reason to call two of them a
 * race: they are siblings (csan_op_same_operator), and so is whatever an operator inside it, or a
 * kernel, is known to touch. Two ops that are both known by themselves are not: if they meet, they
 * race. */
#ifndef RUNTIME_HOOK_OPERATOR_OPERATOR_OPS_H
#define RUNTIME_HOOK_OPERATOR_OPERATOR_OPS_H

#include <csan/csan.h>

#include <stdbool.h>

/* Of more lanes the newest are kept: some live for one op only. Of more pieces, the first. */
enum { PARTS_MAX = 8 };

/* Ops of one lane, by number. */
struct operator_op {
    csan_lane lane;
    uint64_t first, last;
};

struct operator_ops {
    uint32_t count, declared_count;
    struct operator_op whole[PARTS_MAX];    /* one a lane */
    struct operator_op declared[PARTS_MAX]; /* of which by the operator's own word */
};

enum operator_op_kind {
    OPERATOR_OP_INNER,   /* of an operator inside this one */
    OPERATOR_OP_KNOWN,   /* its own, known by itself */
    OPERATOR_OP_DECLARED /* its own, by its word */
};

/* Nothing yet. */
static inline void operator_ops_begin(struct operator_ops *parts)
{
    parts->count = parts->declared_count = 0;
}

void operator_ops_add(struct operator_ops *parts, enum operator_op_kind kind, csan_lane lane,
                      uint64_t number);

/* Whether some of it is on another lane. */
bool operator_ops_are_elsewhere(const struct operator_ops *parts, csan_lane lane);

/* The siblings of an op that comes next on the lane, as a part of that kind: how many there are. */
uint32_t operator_ops_same_operator(const struct operator_ops *parts, enum operator_op_kind kind,
                                    csan_lane lane, struct operator_op found_ops[PARTS_MAX]);

#endif
