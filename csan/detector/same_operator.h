/* For a lane's next op: earlier ops that belong to the same operator (csan_op_same_operator). The
 * statement holds for that op only. Not thread-safe. */
#ifndef CSAN_DETECTOR_SAME_OPERATOR_H
#define CSAN_DETECTOR_SAME_OPERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The next op of `lane` belongs to the same operator as these ops of the lane `other`, by number.
 */
struct same_operator_member {
    uint32_t lane, other;
    uint64_t first, last;
};

/* All zero: nothing was said. */
struct same_operator {
    struct same_operator_member *items;
    uint32_t count;
    size_t room;
};

/* Without memory it is dropped. */
void same_operator_add(struct same_operator *same_operator, struct same_operator_member pair);
/* Whether the op of that number in the lane `other` belongs to the same operator as `lane`'s next
 * op. */
bool same_operator_have(const struct same_operator *same_operator, uint32_t lane, uint32_t other,
                        uint64_t number);
/* The lane's op has come. */
void same_operator_forget(struct same_operator *same_operator, uint32_t lane);
void same_operator_clear(struct same_operator *same_operator);

#endif
