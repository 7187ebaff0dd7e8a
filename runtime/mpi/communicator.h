/* Communicators as all of their processes know them, so that csan merge --order can match messages.
 *
 * A handle means nothing in another process. So each communicator has an identity, which follows
 * from what its processes do alike: the parent's identity, the how manieth communicator is made of
 * the parent, and which ranks of MPI_COMM_WORLD it has. No message is sent for it, since a rank
 * may run without csan. One that only some processes of the parent make, or that has two groups, is
 * known by its ranks, its tag and how often these were used before. A communicator to processes
 * of another job or that were started later (MPI_Comm_spawn) is not known. */
#ifndef RUNTIME_MPI_COMMUNICATOR_H
#define RUNTIME_MPI_COMMUNICATOR_H

#include "runtime/mpi/abi.h"

struct communicator {
    uint64_t id; /* the same in all of its processes, and no other's */
    int rank, size;
    int remote;                 /* ranks of the other group; 0: there is one group alone */
    int side;                   /* which of the two groups the process is in: 0 or 1 */
    uint32_t collectives, made; /* calls and communicators so far; atomic */
    uintptr_t thread;           /* that sent or received first, 0: none; atomic */
};

/* Behind MPI_Init. */
void communicators_start(void);
/* Other ranks started this one (MPI_Comm_spawn). */
bool communicators_spawned(void);

/* NULL: it is not known. */
struct communicator *communicator_of(mpi_handle comm);

/* Before the call that makes a communicator: what its identity begins with; 0: the parent is not
 * known. */
uint64_t communicator_begin(mpi_handle parent);
/* Behind the call. `variable`: where the new handle is. */
void communicator_made(uint64_t begin, const void *variable);

#endif
