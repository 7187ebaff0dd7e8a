/* What collective calls (collective.c) and those among neighbours (neighbour.c) have in common: the
 * three forms of a call, parameters, and blocks of buffers. */
#ifndef RUNTIME_MPI_COLLECTIVE_H
#define RUNTIME_MPI_COLLECTIVE_H

#include "runtime/mpi/functions.h"
#include "runtime/mpi/group.h"
#include "runtime/mpi/wrapper.h"

/* Before MPI 4.0, Open MPI has the persistent form as MPIX_NAME_init. */
#define FORMS(name, started, stem)                                                                 \
    BLOCKING(name, stem, touch_##name)                                                             \
    STARTING(started, stem, touch_##name)                                                          \
    PERSISTENT_FORM(MPI_##name##_init, stem, touch_##name)                                         \
    PERSISTENT_FORM(MPIX_##name##_init, stem, touch_##name)

#define PERSISTENT_FORM(function, stem, touch)                                                     \
    WRAPPER_OF(function, (stem##_PARAMETERS, mpi_handle info, void *request),                      \
               (stem##_ARGUMENTS(AS_IT_IS), info, request),                                        \
               (stem##_ARGUMENTS(USABLE), info, request),                                          \
               touch(&call, stem##_ARGUMENTS(AS_IT_IS)), request_made(&call, result, request))

#define IS_IN_PLACE(buffer) ((const void *)(buffer) == abi.in_place)

static inline const void *at(const void *base, int64_t elements, mpi_aint extent)
{
    return (const char *)base + elements * extent;
}

/* Blocks of several sizes. `skip`: a rank that takes no part, or -1. */
void collective_blocks(struct call *call, const void *base, const int *counts, const int *places,
                       mpi_handle type, int kind, int size, int skip, enum call_argument argument);

#define ALLGATHER_PARAMETERS                                                                       \
    const void *sendbuf, int sendcount, mpi_handle sendtype, void *recvbuf, int recvcount,         \
        mpi_handle recvtype, mpi_handle comm
#define ALLGATHER_ARGUMENTS(pass)                                                                  \
    pass(sendbuf, ARGUMENT_SENDBUF), sendcount, sendtype, pass(recvbuf, ARGUMENT_RECVBUF),         \
        recvcount, recvtype, comm

#define ALLGATHERV_PARAMETERS                                                                      \
    const void *sendbuf, int sendcount, mpi_handle sendtype, void *recvbuf, const int *counts,     \
        const int *places, mpi_handle recvtype, mpi_handle comm
#define ALLGATHERV_ARGUMENTS(pass)                                                                 \
    pass(sendbuf, ARGUMENT_SENDBUF), sendcount, sendtype, pass(recvbuf, ARGUMENT_RECVBUF), counts, \
        places, recvtype, comm

#define ALLTOALLV_PARAMETERS                                                                       \
    const void *sendbuf, const int *sendcounts, const int *sendplaces, mpi_handle sendtype,        \
        void *recvbuf, const int *recvcounts, const int *recvplaces, mpi_handle recvtype,          \
        mpi_handle comm
#define ALLTOALLV_ARGUMENTS(pass)                                                                  \
    pass(sendbuf, ARGUMENT_SENDBUF), sendcounts, sendplaces, sendtype,                             \
        pass(recvbuf, ARGUMENT_RECVBUF), recvcounts, recvplaces, recvtype, comm

/* Places are in bytes, and each block has its own datatype. */
#define EXCHANGE_W(displacement)                                                                   \
    const void *sendbuf, const int *sendcounts, const displacement *sendplaces,                    \
        const void *sendtypes, void *recvbuf, const int *recvcounts,                               \
        const displacement *recvplaces, const void *recvtypes, mpi_handle comm
#define ALLTOALLW_PARAMETERS EXCHANGE_W(int)
#define ALLTOALLW_ARGUMENTS(pass)                                                                  \
    pass(sendbuf, ARGUMENT_SENDBUF), sendcounts, sendplaces, sendtypes,                            \
        pass(recvbuf, ARGUMENT_RECVBUF), recvcounts, recvplaces, recvtypes, comm

#endif
