/* What is said of ops before they come: which earlier ones are parts of the same work
 * (csan_op_same_operator). It holds for a lane's next op only. Not thread-safe. */
#ifndef CSAN_DETECTOR_SAME_OPERATOR_H
#define CSAN_DETECTOR_SAME_OPERATOR_H

#include <stdbool.h>
#include <stdint.h>

/* Of the next op of `lane`: ops of the lane `other`, by number. */
struct same_operator_member {
    uint32_t lane, other;
    uint64_t first, last;
};

/* All zero: nothing was said. */
struct same_operator {
    struct same_operator_member *items;
    uint32_t count, room;
};

/* Without memory it is not kept. */
void same_operator_add(struct same_operator *siblings, struct same_operator_member sibling);
/* Whether the op of that number, of the lane `other`, is one of `lane`'s next op. */
bool same_operator_have(const struct same_operator *siblings, uint32_t lane, uint32_t other,
                        uint64_t number);
/* The lane's op has come. */
void same_operator_forget(struct same_operator *siblings, uint32_t lane);
void same_operator_clear(struct same_operator *siblings);

#endif
