/* What is said of ops before they come: which earlier ones are parts of the same work
 * (csan_op_sibling). It holds for a lane's next op only. Not thread-safe. */
#ifndef CSAN_DETECTOR_SAME_OPERATOR_H
#define CSAN_DETECTOR_SAME_OPERATOR_H

#include <stdbool.h>
#include <stdint.h>

/* Of the next op of `lane`: ops of the lane `other`, by number. */
struct sibling {
    uint32_t lane, other;
    uint64_t first, last;
};

/* All zero: nothing was said. */
struct siblings {
    struct sibling *items;
    uint32_t count, room;
};

/* Without memory it is not kept. */
void siblings_add(struct siblings *siblings, struct sibling sibling);
/* Whether the op of that number, of the lane `other`, is one of `lane`'s next op. */
bool siblings_have(const struct siblings *siblings, uint32_t lane, uint32_t other, uint64_t number);
/* The lane's op has come. */
void siblings_forget(struct siblings *siblings, uint32_t lane);
void siblings_clear(struct siblings *siblings);

#endif
