/* What tells launches of one kernel apart that may touch different memory.
 *
 * The shape must always agree: grid, block, cluster, shared memory, how many parameter bytes there
 * are, and which anchors: their kind and place, what tensor maps were told, and which of them share
 * a block. The scalars are bytes that may turn out not to matter (matter.h): the parameters, with
 * zeros where anchors are; then of each pointer and tensor map the lowest byte of its address, and
 * its distance to the first anchor in the same block (kernels look at alignment, and take
 * differences of pointers). */
#ifndef RUNTIME_LEARN_LAUNCH_KEY_H
#define RUNTIME_LEARN_LAUNCH_KEY_H

#include "runtime/learn/launch.h"

enum { LAUNCH_KEY_ROOM = 1536 };

struct launch_key {
    uint32_t shape_bytes, scalar_bytes, anchor_count;
    uint8_t *bytes; /* the shape, then the scalars */
    uint8_t room[LAUNCH_KEY_ROOM];
};

/* False when memory is short. */
bool launch_key_make(struct launch_key *key, const struct learn_launch *launch);
bool launch_key_copy(struct launch_key *to, const struct launch_key *key);
void launch_key_release(struct launch_key *key);

/* The launch that a shape is of, as far as it tells: neither parameters nor addresses. `anchors`
 * has room for LEARN_MAX_ANCHORS. False: it is no shape. */
bool launch_key_read_shape(const uint8_t *shape, uint32_t bytes, struct learn_launch *launch,
                           struct learn_anchor *anchors);

static inline const uint8_t *launch_key_scalars(const struct launch_key *key)
{
    return key->bytes + key->shape_bytes;
}

#endif
