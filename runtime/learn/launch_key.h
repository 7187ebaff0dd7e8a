/* What tells launches of one kernel apart that may touch different memory.
 *
 * The shape must always agree: grid, block, cluster, shared memory, how many parameter bytes there
 * are, and which anchors: their kind and place, and what tensor maps were told. The scalars are
 * words that may turn out not to matter (key_reduction.h): the parameters, four bytes each, with
 * zeros where anchors are; behind them the lowest byte of each pointer's and tensor map's address,
 * for kernels that look at alignment. Those are no part of the key until a trace contradicts
 * (learner.h).
 *
 * Where the pointers point, and how far they are apart, is in no key: a set is told relative to
 * them, with what must hold between them (learned_set.h). */
#ifndef RUNTIME_LEARN_LAUNCH_KEY_H
#define RUNTIME_LEARN_LAUNCH_KEY_H

#include "runtime/learn/launch.h"

enum { LAUNCH_KEY_ROOM = 1536 };

struct launch_key {
    uint32_t signature_bytes, scalar_count, anchor_count; /* the last scalars are of the anchors */
    uint32_t *words;                                      /* the shape, then the scalars */
    uint32_t room[LAUNCH_KEY_ROOM / 4];
};

/* False when memory is short. */
bool launch_key_make(struct launch_key *key, const struct learn_launch *launch);
bool launch_key_copy(struct launch_key *to, const struct launch_key *key);
void launch_key_release(struct launch_key *key);

/* The launch that a shape is of, as far as it tells: neither parameters nor addresses. `anchors`
 * has room for LEARN_MAX_ANCHORS. False: it is no shape. */
bool launch_key_read_shape(const void *shape, uint32_t bytes, struct learn_launch *launch,
                           struct learn_anchor *anchors);

static inline const uint32_t *launch_key_scalars(const struct launch_key *key)
{
    return key->words + key->signature_bytes / 4;
}

#endif
