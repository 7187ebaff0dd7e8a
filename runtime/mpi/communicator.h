/* Communicators as all of their processes know them, so that csan merge --order can match messages.
 *
 * A handle means nothing in another process. So each communicator has an identity, which follows
 * from what its processes do alike: the parent's identity, the how manieth communicator is made of
 * the parent, and which ranks of MPI_COMM_WORLD it has. No message is sent for it, since a rank
 * may run without csan. A communicator that was made otherwise (of an intercommunicator, by
 * MPI_Comm_idup, MPI_Comm_create_group or MPI_Comm_spawn) is not known. */
#ifndef RUNTIME_MPI_COMMUNICATOR_H
#define RUNTIME_MPI_COMMUNICATOR_H

#include "runtime/mpi/abi.h"

struct communicator {
    uint64_t id; /* the same in all of its processes, and no other's */
    int rank, size;
    uint32_t collectives, made; /* calls and communicators so far; atomic */
    uintptr_t thread;           /* that sent or received first, 0: none; atomic */
};

/* Behind MPI_Init. */
void communicators_start(void);

/* NULL: it is not known. */
struct communicator *communicator_of(mpi_handle comm);

/* Before the call that makes a communicator: what its identity begins with; 0: the parent is not
 * known. */
uint64_t communicator_begin(mpi_handle parent);
/* Behind the call. `variable`: where the new handle is. */
void communicator_made(uint64_t begin, const void *variable);

#endif
