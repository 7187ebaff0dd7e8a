/* What calls of MPI started and the program has not waited for yet.
 *
 * An MPI may give several requests one handle: Open MPI does so with small messages that are sent
 * at once. So a request is found by its handle and by the variable that the program keeps it in;
 * of several with one handle, in variables that moved, the oldest. */
#ifndef RUNTIME_MPI_REQUEST_H
#define RUNTIME_MPI_REQUEST_H

#include "runtime/mpi/call.h"

/* The real call has returned: `variable` holds the handle, or what the call started is over if it
 * failed. */
void request_started(struct call *call, int result, const void *variable);

/* A persistent request was made; and is started, by MPI_Start or MPI_Startall. */
void request_made(struct call *call, int result, const void *variable);
void request_persistent_start(mpi_handle handle, const void *variable, const char *starter);

/* It makes a communicator, whose handle will be at `made`: communicator_made(begin, made) when the
 * request is over. */
void request_makes(const void *variable, uint64_t begin, const void *made);

/* Before the real call of a Wait or Test forgets them: the handle and the variable's address. */
struct request_name {
    mpi_handle handle;
    const void *variable;
};
/* The program knows that it has finished. `status`: of its message, or NULL. */
void request_finished(struct request_name name, const void *status);
/* ... and the request stays, as by MPI_Request_get_status. */
void request_known(struct request_name name, const void *status);
/* ... or a flush ended it: the request of that number of csan's, if nobody has waited for it. */
void request_flushed(struct request_name name, uint64_t number);
/* It is of a window, whose data it brings from the target. */
void request_reads(struct request_name name, mpi_handle window, int target);
/* MPI_Request_free: nobody will wait for it. */
void request_freed(struct request_name name);

/* Names of an array's requests, to be freed; NULL: there are none, or no memory. */
struct request_name *request_names(const void *requests, int count);
static inline struct request_name request_name(const void *requests, int index)
{
    return (struct request_name){handle_at(requests, (size_t)index),
                                 handle_place(requests, (size_t)index)};
}

#endif
