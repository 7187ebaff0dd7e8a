/* Which bytes of the key matter to what a kernel touches, told from launches and their sets: seeds,
 * step counts and learning rates change with every launch, and would keep a kernel unknown for
 * ever.
 *
 * Bytes leave the key together. Each of them took at least `values` differing values in launches
 * that agree in all bytes that do not leave with it, and whose sets are equal; and no two launches
 * that agree in what then remains of the key have different sets.
 *
 * So a byte that alone changes the set stays, if it was seen to do so in any of the launches
 * looked at. What cannot be promised: a byte that changed `values` times without effect may
 * matter for a value not seen yet. The next learning of such a launch finds that out, and then the
 * byte comes back for good (learner.h). */
#ifndef RUNTIME_LEARN_MATTER_H
#define RUNTIME_LEARN_MATTER_H

#include "runtime/learn/learned_set.h"

struct matter_launch {
    const uint8_t *bytes;
    const struct learned_set *set;
};

enum { MATTER_LAUNCHES = 256, MATTER_BYTES = 256 }; /* more are not looked at */

/* Clears those of `kept` (a byte each, 1: in the key) that may leave; `pinned` never do. Returns
 * how many left. */
size_t matter_find(const struct matter_launch *launches, size_t count, size_t bytes,
                   const uint8_t *pinned, uint8_t *kept, uint32_t values);

#endif
