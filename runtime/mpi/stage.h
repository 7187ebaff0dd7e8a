/* Buffers in memory of a GPU, for an MPI that was built without CUDA: they are copied to the host
 * before the call, and what the call wrote is copied back when it is over. On the embedded device
 * none of this is needed: the host has a view of its memory (csan_host_view).
 *
 * All functions but the first are called inside the library (csan_library_begin): csan does not see
 * the copies. */
#ifndef RUNTIME_MPI_STAGE_H
#define RUNTIME_MPI_STAGE_H

#include "runtime/mpi/layout.h"

/* The copy of one argument's buffers. */
struct stage;

/* Whether that is memory of a device that has to be copied for this process's MPI. Cheap where
 * nothing is ever copied. CSAN_MPI_STAGE=copy copies on the embedded device, too, for tests. */
bool stage_needs(const void *address);

/* The copy of what `accesses` touch, for an argument whose pointer is `address`; in front of
 * `next`. Takes the list over. *usable is what MPI is given. Returns `next` where there are no
 * accesses. */
struct stage *stage_make(struct stage *next, const void *address, struct access_list *accesses,
                         void **usable);

/* A persistent request begins again: what it touches is copied to the host. */
void stage_in(struct stage *stages);
/* The call is over: what it wrote is copied back. */
void stage_out(struct stage *stages);
void stage_free(struct stage *stages);

#endif
