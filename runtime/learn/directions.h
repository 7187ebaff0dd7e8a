/* What a kernel's launches did with each of its pointers (read, wrote, updated), whatever their
 * other arguments.
 *
 * They serve a launch that is like none that was traced: another grid, another scalar, or an
 * uninitialized word on the caller's stack. csan assumes that it does the same with the whole
 * blocks its pointers lead into. Pointers are the same if they have the same offset in the
 * parameters. This is no more than an observation: a pointer that no traced launch used, or only
 * read, counts as such. Reads that no pointer leads to (a library's own tables) are left out.
 * Kernels that write to such memory have no directions. */
#ifndef RUNTIME_LEARN_DIRECTIONS_H
#define RUNTIME_LEARN_DIRECTIONS_H

#include "runtime/learn/learned_set.h"

struct learned_kernel;
struct direction;

struct directions {
    struct direction *pointers; /* uthash */
    bool known; /* something is known, and these pointers lead to all that launches reached */
};

/* Replaces it with the directions of all the kernel's traces so far. Under the learner's lock. */
void directions_find(struct directions *directions, const struct learned_kernel *kernel);
void directions_clear(struct directions *directions);

/* The launch's bound, inexact, to be released; it touches nothing else, as far as is known. NULL:
 * nothing is, or memory is short. */
struct learned_set *directions_bound(const struct directions *directions,
                                     const struct learn_launch *launch);

#endif
