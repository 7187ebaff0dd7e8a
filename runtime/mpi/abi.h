/* Which MPI the process uses, and what differs between the families: Open MPI; MPICH with those
 * that share its ABI (Intel MPI, MVAPICH, Cray MPI); and any MPI that is linked by the standard's
 * own ABI (MPI 5.0, chapter 20).
 *
 * Handles are ints of MPICH, and pointers of the others. On x86-64 both take one register, so a
 * function of this library takes a word for either; the upper half of an int's register may be
 * anything. Arrays of handles differ. Constants and statuses are the table's. tests/mpi/abi_check.c
 * compares it with each family's mpi.h. */
#ifndef RUNTIME_MPI_ABI_H
#define RUNTIME_MPI_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MPI_Comm, MPI_Datatype and so on. */
typedef uintptr_t mpi_handle;
typedef intptr_t mpi_aint;

enum { MPI_OK = 0, STATUS_BYTES = 64, NAME_BYTES = 256 };

/* What a datatype was made by (MPI_Type_get_envelope). */
enum combiner {
    COMBINER_NAMED,
    COMBINER_DUP,
    COMBINER_CONTIGUOUS,
    COMBINER_VECTOR,
    COMBINER_HVECTOR,
    COMBINER_INDEXED,
    COMBINER_HINDEXED,
    COMBINER_INDEXED_BLOCK,
    COMBINER_HINDEXED_BLOCK,
    COMBINER_STRUCT,
    COMBINER_SUBARRAY,
    COMBINER_DARRAY,
    COMBINER_RESIZED,
    COMBINER_OTHER
};

struct abi {
    const char *name;      /* "MPI (Open MPI)" */
    bool handles_are_ints; /* else pointers */
    const void *in_place;
    void *status_ignore, *statuses_ignore;
    int proc_null, any_source, any_tag, root, undefined, order_c;
    int distribute_block, distribute_cyclic, distribute_default;
    int topology_cart, topology_graph, topology_dist_graph;
    int status_source, status_tag; /* where in a status they are, in ints */
    int status_low, status_high;   /* the same, of the bytes that came; high 0: not known. See
                                      status_bytes */
    int status_size;               /* in bytes */
    int no_precede, no_check;      /* MPI_MODE_NOPRECEDE, MPI_MODE_NOCHECK */
    int lock_shared;               /* MPI_LOCK_SHARED */
    mpi_handle comm_world, comm_self, comm_null; /* of Open MPI once abi_find has returned true */
    int combiners[COMBINER_OTHER];               /* the MPI's own numbers */
};

extern const struct abi abi_open_mpi, abi_mpich, abi_standard;
/* The process's; valid once abi_find has returned true. */
extern struct abi abi;

/* True: the process has an MPI. Once; then cheap. */
bool abi_find(void);

/* A function of that MPI, looked up once into *slot. The process ends where there is none. */
void *abi_function(void **slot, const char *name);
/* NULL where there is none. */
void *abi_function_maybe(const char *name);

/* PMPI(Send)(buffer, ...): behind this library. */
#define PMPI(function) ABI_BEHIND(MPI_##function)
#define ABI_BEHIND(function)                                                                       \
    ((__typeof__(&(function)))({                                                                   \
        static void *slot_;                                                                        \
        void *found_ = __atomic_load_n(&slot_, __ATOMIC_ACQUIRE);                                  \
        __builtin_expect(found_ != NULL, 1) ? found_ : abi_function(&slot_, "P" #function);        \
    }))

static inline mpi_handle handle_value(mpi_handle handle)
{
    return abi.handles_are_ints ? (uint32_t)handle : handle;
}
/* Of an array of handles. */
static inline mpi_handle handle_at(const void *handles, size_t index)
{
    return abi.handles_are_ints ? ((const uint32_t *)handles)[index]
                                : ((const mpi_handle *)handles)[index];
}
static inline const void *handle_place(const void *handles, size_t index)
{
    return (const char *)handles + index * (abi.handles_are_ints ? sizeof(int) : sizeof(void *));
}

/* How many bytes came, as the MPI keeps it. MPICH keeps a flag in the upper half's lowest bit. Only
 * for comparing: what is said of a message comes from MPI_Get_count. UINT64_MAX: not known. */
static inline uint64_t status_bytes(const void *status)
{
    const uint32_t *fields = (const uint32_t *)status;
    if (!abi.status_high)
        return UINT64_MAX;
    const uint64_t high = fields[abi.status_high];
    return fields[abi.status_low] | (abi.handles_are_ints ? high >> 1 : high) << 32;
}

#endif
