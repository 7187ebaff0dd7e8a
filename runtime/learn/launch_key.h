/* The key of a launch: it distinguishes launches of one kernel that may touch different memory.
 *
 * The signature must always agree: grid, block, cluster, shared memory, the number of parameter
 * bytes, and the anchors with their kind, offset and (for tensor maps) encoding. The scalars are
 * words that may have no effect (key_reduction.h). First come the parameters, four bytes each, with
 * zeros where anchors are. Then comes the lowest byte of each pointer's and tensor map's address,
 * for kernels that look at alignment. These last bytes are no part of the key until a trace
 * contradicts it (learner.h).
 *
 * Addresses and distances between pointers are in no key: a set is relative to its pointers and
 * names the relations that must hold between them (learned_set.h). */
#ifndef RUNTIME_LEARN_LAUNCH_KEY_H
#define RUNTIME_LEARN_LAUNCH_KEY_H

#include "runtime/learn/launch.h"

enum { LAUNCH_KEY_ROOM = 1536 };

struct launch_key {
    uint32_t signature_bytes, scalar_count, anchor_count; /* the last scalars are of the anchors */
    uint32_t *words;                                      /* the signature, then the scalars */
    uint32_t room[LAUNCH_KEY_ROOM / 4];
};

/* False when memory is short. */
bool launch_key_make(struct launch_key *key, const struct learn_launch *launch);
bool launch_key_copy(struct launch_key *to, const struct launch_key *key);
void launch_key_release(struct launch_key *key);

/* Rebuilds the launch from a signature, without parameters and addresses. `anchors` has room for
 * LEARN_MAX_ANCHORS. False: the bytes are no signature. */
bool launch_key_read_signature(const void *signature, uint32_t bytes, struct learn_launch *launch,
                               struct learn_anchor *anchors);

static inline const uint32_t *launch_key_scalars(const struct launch_key *key)
{
    return key->words + key->signature_bytes / 4;
}

#endif
