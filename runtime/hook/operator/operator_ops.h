/* What an operator that runs has enqueued so far: on which lanes, and the numbers of the ops.
 *
 * An operator's word is of all that it touches, and told of each of its launches of which nothing
 * more is known. Where those are on several streams, that word is no reason to call two of them a
 * race: they are siblings (csan_op_sibling), and so is whatever an operator inside it, or a kernel,
 * is known to touch. Two ops that are both known by themselves are not: if they meet, they race. */
#ifndef RUNTIME_HOOK_OPERATOR_OPERATOR_OPS_H
#define RUNTIME_HOOK_OPERATOR_OPERATOR_OPS_H

#include <csan/csan.h>

#include <stdbool.h>

/* Of more lanes the newest are kept: some live for one op only. Of more pieces, the first. */
enum { PARTS_MAX = 8 };

/* Ops of one lane, by number. */
struct part {
    csan_lane lane;
    uint64_t first, last;
};

struct parts {
    uint32_t count, told_count;
    struct part whole[PARTS_MAX]; /* one a lane */
    struct part told[PARTS_MAX];  /* of which by the operator's own word */
};

enum part_kind {
    PART_INNER, /* of an operator inside this one */
    PART_KNOWN, /* its own, known by itself */
    PART_TOLD   /* its own, by its word */
};

/* Nothing yet. */
static inline void parts_begin(struct parts *parts)
{
    parts->count = parts->told_count = 0;
}

void parts_add(struct parts *parts, enum part_kind kind, csan_lane lane, uint64_t number);

/* Whether some of it is on another lane. */
bool parts_are_elsewhere(const struct parts *parts, csan_lane lane);

/* The siblings of an op that comes next on the lane, as a part of that kind: how many there are. */
uint32_t parts_siblings(const struct parts *parts, enum part_kind kind, csan_lane lane,
                        struct part siblings[PARTS_MAX]);

#endif
