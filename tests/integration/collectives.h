// What the programs with NCCL share.
#pragma once

#include "nccl_calls.h"
#include "program.h"

#define NCCL(call)                                                                                 \
    do {                                                                                           \
        ncclResult_t status_ = (call);                                                             \
        if (status_ != ncclSuccess) {                                                              \
            fprintf(stderr, "%s:%d: %s failed: %d\n", __FILE__, __LINE__, #call, (int)status_);    \
            exit(101);                                                                             \
        }                                                                                          \
    } while (0)

// Ranks of NCCL have a device each, if there are enough.
static inline void use_device_of(int rank)
{
    int count;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaSetDevice(rank % count));
}

// One of two ranks in two processes. NCCL has no two ranks on one GPU: there the program ends,
// right.
static inline void join_two_ranks(ncclComm_t *comm, ncclUniqueId id, int rank)
{
    int count;
    const ncclResult_t status = ncclCommInitRank(comm, 2, id, rank);
    CHECK(cudaGetDeviceCount(&count));
    if (status != ncclSuccess && count == 1) {
        if (rank == 0)
            printf("done\n");
        exit(0);
    }
    NCCL(status);
}

// The only rank of a communicator.
static inline ncclComm_t communicator()
{
    ncclComm_t comm;
    NCCL(ncclCommInitAll(&comm, 1, nullptr));
    return comm;
}

static inline int *zeroed(size_t count = N)
{
    int *p = device_array<int>(count);
    CHECK(cudaMemset(p, 0, count * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    return p;
}
