/* What a call of MPI orders between processes, for recordings: csan merge --order matches what the
 * processes wrote. Messages are matched as MPI matches them (MPI 3.1, 3.5): those of one
 * communicator, pair of ranks and tag in the order of sends, with receives in the order in which
 * they were posted. Collective calls are matched by communicator and number. What data flow makes
 * is order: the root of a broadcast comes before the others' returns, but waits for nobody.
 *
 *     follow_send(call, ...)       what the call is, while it is described
 *     follow_begin(follow, lasts)  before MPI's own function; again at each start of a persistent
 * one follow_end(follow, status)   when the program knows that it is over
 *
 * Where nothing is recorded call->follow stays NULL, which all of them take. */
#ifndef RUNTIME_MPI_FOLLOW_H
#define RUNTIME_MPI_FOLLOW_H

#include "runtime/mpi/abi.h"

#include <csan/csan.h>

struct call;
struct follow;

/* ---- What a call is. A peer of MPI_PROC_NULL is none. ---- */

void follow_send(struct call *call, int dest, int tag, mpi_handle comm, uint64_t bytes);
/* Behind follow_send: it is over only when its receive was posted (MPI 3.1, 3.4). */
void follow_synchronous(struct call *call);
/* With follow_send: of a call that does both. */
void follow_receive(struct call *call, int source, int tag, mpi_handle comm);

/* Collective calls. `moves`: it has data; without, it orders nothing. */
void follow_all(struct call *call, mpi_handle comm, bool moves);
void follow_from_root(struct call *call, mpi_handle comm, int root, bool moves);
void follow_to_root(struct call *call, mpi_handle comm, int root, bool moves);
/* In general: `gives`: others have data of the calling rank; `takers` of them, 0: only they know.
 * It has data of `givers` ranks. */
struct follow_flow {
    bool gives;
    uint64_t takers, givers;
};
void follow_flow(struct call *call, mpi_handle comm, const struct follow_flow *flow);
/* From `takers` ranks to which the calling rank gives data, and from those in `givers`, which may
 * name one several times. */
void follow_exchange(struct call *call, mpi_handle comm, uint64_t takers, const int *givers,
                     size_t giver_count);

/* ---- Its life ---- */

/* `lasts`: it is over later, at follow_end of another call. */
void follow_begin(struct follow *follow, bool lasts);
/* `status`: of a receive; NULL: not known. */
void follow_end(struct follow *follow, const void *status);
/* Nobody waits for it; or it failed. */
void follow_drop(struct follow *follow, enum csan_link_lack lack);
void follow_free(struct follow *follow);

/* ---- Others ---- */

/* All of the ranks that have this key wait for each other, here. */
void follow_barrier(uint64_t key, int size);
/* A probe found this message. `message`: where its handle is, and no other receive can have it now;
 * NULL: it stays. */
void follow_probed(int source, mpi_handle comm, const void *status, const void *message);
/* Before the real call: the message whose handle is there is received. */
void follow_matched(const void *message);
/* Once for each: order that is not followed. */
void follow_lack(enum csan_link_lack lack);
/* One link, as it is. */
void follow_link(int kind, uint64_t key, uint64_t number, uint64_t peers);
/* MPI_Cancel was called. */
void follow_cancels(void);

#endif
