/* The numbers in runtime/mpi/abi.c are those of this mpi.h. Ends with 0 if they are. */
#include "runtime/mpi/abi.h"

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int wrong;

static void same(const char *what, long expected, long found)
{
    if (expected == found)
        return;
    printf("%s is %ld, not %ld\n", what, expected, found);
    wrong = 1;
}

#define SAME(member, constant) same(#constant, (long)(constant), (long)known->member)
#define COMBINER(name)         SAME(combiners[COMBINER_##name], MPI_COMBINER_##name)

int main(void)
{
    int initialized;
#if defined(MPI_H_ABI)
    const struct abi *known = &abi_standard;
#elif defined(OPEN_MPI)
    const struct abi *known = &abi_open_mpi;
#else
    const struct abi *known = &abi_mpich;
#endif
    SAME(in_place, MPI_IN_PLACE);
    SAME(status_ignore, MPI_STATUS_IGNORE);
    SAME(statuses_ignore, MPI_STATUSES_IGNORE);
    SAME(proc_null, MPI_PROC_NULL);
    SAME(any_source, MPI_ANY_SOURCE);
    SAME(any_tag, MPI_ANY_TAG);
    SAME(root, MPI_ROOT);
    SAME(undefined, MPI_UNDEFINED);
    SAME(order_c, MPI_ORDER_C);
    SAME(distribute_block, MPI_DISTRIBUTE_BLOCK);
    SAME(distribute_cyclic, MPI_DISTRIBUTE_CYCLIC);
    SAME(distribute_default, MPI_DISTRIBUTE_DFLT_DARG);
    SAME(topology_cart, MPI_CART);
    SAME(topology_graph, MPI_GRAPH);
    SAME(topology_dist_graph, MPI_DIST_GRAPH);
    same("offset of MPI_SOURCE", offsetof(MPI_Status, MPI_SOURCE) / sizeof(int),
         known->status_source);
    same("offset of MPI_TAG", offsetof(MPI_Status, MPI_TAG) / sizeof(int), known->status_tag);
    same("bytes of a status", sizeof(MPI_Status), known->status_size);
    SAME(no_precede, MPI_MODE_NOPRECEDE);
    SAME(no_check, MPI_MODE_NOCHECK);
    SAME(lock_shared, MPI_LOCK_SHARED);
    same("MPI_BOTTOM", 0, (long)MPI_BOTTOM);
    same("MPI_SUCCESS", MPI_OK, MPI_SUCCESS);
    same("a status fits", sizeof(MPI_Status) <= STATUS_BYTES, 1);
    same("bytes of a handle", sizeof(MPI_Request),
         known->handles_are_ints ? sizeof(int) : sizeof(void *));
    same("bytes of an address", sizeof(MPI_Aint), sizeof(mpi_aint));
    COMBINER(NAMED);
    COMBINER(DUP);
    COMBINER(CONTIGUOUS);
    COMBINER(VECTOR);
    COMBINER(HVECTOR);
    COMBINER(INDEXED);
    COMBINER(HINDEXED);
    COMBINER(INDEXED_BLOCK);
    COMBINER(HINDEXED_BLOCK);
    COMBINER(STRUCT);
    COMBINER(SUBARRAY);
    COMBINER(DARRAY);
    COMBINER(RESIZED);
    MPI_Initialized(&initialized); /* so that the MPI is linked */
    wrong |= !abi_find();
    same("MPI_COMM_WORLD", (long)(intptr_t)MPI_COMM_WORLD, (long)abi.comm_world);
    same("MPI_COMM_SELF", (long)(intptr_t)MPI_COMM_SELF, (long)abi.comm_self);
    same("MPI_COMM_NULL", (long)(intptr_t)MPI_COMM_NULL, (long)abi.comm_null);
    same("the family that is found", 1, abi_find() && strcmp(abi.name, known->name) == 0);
    return wrong;
}
