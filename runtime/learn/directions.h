/* What launches of a kernel did with each of its pointers, whatever they were given besides: read,
 * wrote, updated.
 *
 * For a launch that is like none that taught something (another grid, another scalar, or a word on
 * the caller's stack that nobody set): it is taken to do the same with all of the blocks that its
 * pointers lead into. Pointers are the same where they lie at the same offset of the parameters.
 * That holds no more than what was seen: a pointer that no launch used, or only for reading, is
 * told so. What was read where no pointer leads (a library's own tables) is left out; nothing is
 * told of kernels that write there. */
#ifndef RUNTIME_LEARN_DIRECTIONS_H
#define RUNTIME_LEARN_DIRECTIONS_H

#include "runtime/learn/learned_set.h"

struct learned_kernel;
struct direction;

struct directions {
    struct direction *pointers; /* uthash */
    bool known;                 /* something is, and all that launches reached is told by these */
};

/* Of all that the kernel's launches taught so far, in place of what it has. Under the learner's
 * lock. */
void directions_find(struct directions *directions, const struct learned_kernel *kernel);
void directions_clear(struct directions *directions);

/* The launch's bound, inexact, to be released; it touches nothing else, as far as is known. NULL:
 * nothing is, or memory is short. */
struct learned_set *directions_bound(const struct directions *directions,
                                     const struct learn_launch *launch);

#endif
