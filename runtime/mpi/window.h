/* Windows of one-sided communication: their memory, and what the calling rank did through them and
 * has not ended the epoch of. */
#ifndef RUNTIME_MPI_WINDOW_H
#define RUNTIME_MPI_WINDOW_H

#include "runtime/mpi/epoch.h"
#include "runtime/mpi/request.h"

enum { WINDOW_ANY_TARGET = -1 };

struct window_memory {
    const void *base, *view; /* as the program gave it, and as MPI has it */
    mpi_aint bytes;
    int unit;    /* of displacements */
    int rank;    /* of the caller in the window's group */
    uint64_t id; /* the same in all ranks of the group; 0: not known */
    int size;    /* of the group */
    bool shared; /* the group shares the memory (MPI_Win_allocate_shared) */
};

void window_created(mpi_handle window, const struct window_memory *memory);
void window_freed(mpi_handle window);

/* False: nothing is known of that window. */
bool window_memory_of(mpi_handle window, struct window_memory *memory);

/* An operation to that target has started; the real call has returned. */
void window_started(mpi_handle window, int target, struct call *call);
/* One that has a request, too: it ends with that, or here. `reads`: data of the window come. */
void window_requested(mpi_handle window, int target, struct request_name name, uint64_t number,
                      bool reads);
/* Those to the target, or all, have finished at this rank. */
void window_finished(mpi_handle window, int target);

/* What its epochs order between ranks, until it is freed; NULL: nobody wants to know, or it is not
 * known which window it is for others. */
struct epochs *window_epochs(mpi_handle window);

/* A fence that orders all ranks of the window: its key; 0: not known. */
uint64_t window_fence(mpi_handle window, int *size);
/* The same of the end of the window, before it is freed. */
uint64_t window_end(mpi_handle window, int *size);

#endif
