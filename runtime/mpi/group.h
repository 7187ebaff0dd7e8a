/* Who takes part in a collective call: the calling rank, and how many ranks it exchanges with. */
#ifndef RUNTIME_MPI_GROUP_H
#define RUNTIME_MPI_GROUP_H

#include "runtime/mpi/functions.h"

struct group {
    int rank;
    int size;   /* of the group that data comes from or goes to */
    bool inter; /* that is the other group of an intercommunicator */
};

static inline struct group group_of(mpi_handle comm)
{
    struct group group = {0, 0, false};
    int inter = 0;
    PMPI(Comm_rank)(comm, &group.rank);
    PMPI(Comm_test_inter)(comm, &inter);
    group.inter = inter != 0;
    if (inter)
        PMPI(Comm_remote_size)(comm, &group.size);
    else
        PMPI(Comm_size)(comm, &group.size);
    return group;
}

/* The calling rank is the root of a collective call. In the root's group of an intercommunicator
 * the others pass MPI_PROC_NULL, and take no part. */
static inline bool group_is_root(const struct group *group, int root)
{
    return group->inter ? root == abi.root : root == group->rank;
}
static inline bool group_is_idle(const struct group *group, int root)
{
    return group->inter && root == abi.proc_null;
}

#endif
