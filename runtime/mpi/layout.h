/* Which bytes the elements of a datatype are, as strided sets (struct csan_access).
 *
 * A derived datatype is read back by MPI_Type_get_envelope and MPI_Type_get_contents. What has too
 * many pieces, or a form that is not known, becomes one range around it that is bounded. */
#ifndef RUNTIME_MPI_LAYOUT_H
#define RUNTIME_MPI_LAYOUT_H

#include "runtime/mpi/abi.h"

#include <csan/csan.h>

/* Grows as needed; all zero: empty. Accesses point to their dims only after access_list_finish. */
struct access_list {
    struct csan_access *items;
    struct csan_dim (*dims)[CSAN_MAX_DIMS]; /* of each item */
    size_t count, capacity;
};

/* Adds what `count` elements of the datatype at `address` are. False: memory is short. */
bool layout_add(struct access_list *list, const void *address, int64_t count, mpi_handle type,
                int kind, uint16_t argument);

void access_list_finish(struct access_list *list);
void access_list_free(struct access_list *list);

/* Bytes from one element to the next. */
mpi_aint layout_extent(mpi_handle type);
/* Bytes of data in one element. */
int64_t layout_size(mpi_handle type);

#endif
