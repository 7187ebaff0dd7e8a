/* The communicators of NCCL that the process has, and what identifies them in all their ranks: the
 * unique id that each was made of, or the communicator that it was split from. All ranks enqueue
 * the collective calls of a communicator in one order, so the how manieth a call is names it (NCCL
 * documentation, "Creating a Communicator" and "Collective Operations"). Under the hooks' lock. */
#ifndef RUNTIME_HOOK_LIBRARY_COMMUNICATOR_TABLE_H
#define RUNTIME_HOOK_LIBRARY_COMMUNICATOR_TABLE_H

#include "runtime/hook/library/touch.h"

#include <uthash.h>

struct channel;

struct communicator {
    const void *handle;
    uint64_t id;                     /* the same for all ranks; 0: it is of this process alone */
    uint64_t calls, splits, windows; /* that were made so far */
    int rank, ranks;                 /* ranks 0: the library was not asked yet */
    struct channel *channels;        /* uthash, by key */
    UT_hash_handle hh;
};

/* NULL: csan did not see how it was made. */
struct communicator *communicator_find(const void *handle);
/* Asks the library for its rank and size, once. False: it does not say. */
bool communicator_know_ranks(struct communicator *communicator, struct library_home *home);
/* The number of the next message of the channel, from 1, at its sender or its receiver. 0: memory
 * is short. */
uint64_t communicator_next(struct communicator *communicator, uint64_t key, bool sends);

#endif
