/* What the epochs of a window order between ranks (MPI 3.1, 11.5), for recordings.
 *
 *   post, start, complete, wait   complete comes before wait. Post comes before complete only if
 * the epoch has data of that target: an MPI may buffer what is put. lock, unlock sections of a
 * target's lock come one after the other. A rank knows that it has the lock behind a flush, behind
 * data that came, or behind unlock; of its own window at once (MPI 3.1, 11.5.3).
 *
 * Sections without operations order nothing: an MPI need not lock for them. Nor do those with
 * MPI_MODE_NOCHECK, where the program sees to it that nobody else has the lock. What ranks read
 * under a lock that they share may be what others write there; that is said (CSAN_LACK_ONE_SIDED).
 *
 * Memory that the rank can load from and store to (MPI_Win_allocate_shared, MPI_Win_shared_query)
 * needs no operation. There MPI_Win_lock returns with the lock, "since the lock may protect
 * load/store accesses" (MPI 4.1, 12.5.3), and MPI_Win_start is taken to wait for the post. Under a
 * lock that ranks share, loads and stores may be any.
 *
 * All functions take NULL, and any thread may call them, outside of MPI. */
#ifndef RUNTIME_MPI_EPOCH_H
#define RUNTIME_MPI_EPOCH_H

#include "runtime/mpi/abi.h"

enum { EPOCH_ALL = -1 };

struct epochs;

/* `id`: of the window, the same in all its ranks. `shared`: its ranks share its memory. NULL:
 * memory is short. */
struct epochs *epochs_create(uint64_t id, int rank, int size, bool shared);
void epochs_free(struct epochs *epochs);

/* The program has a pointer to the target's memory. EPOCH_ALL: to that of one, not known which. */
void epochs_reachable(struct epochs *epochs, int target);

/* An operation to the target starts. `writes` the window, `reads` it: data of it come. */
void epochs_operation(struct epochs *epochs, int target, bool reads, bool writes);
/* The rank waited for its operations: at the target, or here alone (`local`). EPOCH_ALL: to all. */
void epochs_flushed(struct epochs *epochs, int target, bool local);
/* The data of an operation have come. */
void epochs_came(struct epochs *epochs, int target);
/* It looks at what others wrote into its own window (MPI_Win_sync). */
void epochs_looked(struct epochs *epochs);

/* Behind MPI's own function. EPOCH_ALL: MPI_Win_lock_all. */
void epochs_locked(struct epochs *epochs, int target, bool shared, bool check);
/* Before it, and behind it. */
void epochs_unlock(struct epochs *epochs, int target);
void epochs_unlocked(struct epochs *epochs, int target);

/* Ranks of the window. Before MPI's own function. */
void epochs_post(struct epochs *epochs, const int *ranks, int count);
void epochs_start(struct epochs *epochs, const int *ranks, int count);
/* Behind MPI_Win_start. */
void epochs_started(struct epochs *epochs);
/* Before it, and behind it. */
void epochs_complete(struct epochs *epochs);
void epochs_completed(struct epochs *epochs);
/* Behind MPI_Win_wait, or a MPI_Win_test that says yes. */
void epochs_waited(struct epochs *epochs);

#endif
