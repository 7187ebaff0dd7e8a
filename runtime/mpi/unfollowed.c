/* Functions of MPI that touch memory and that csan does not follow: those with large counts,
 * partitioned communication, files, and some that pack. The summary names them (csan_unmodelled),
 * and what such a message may order between processes makes races possible ones (follow_lack).
 *
 * Their arguments are passed on as they come: each is an integer or a pointer, which takes one
 * register or one word of the stack on x86-64. So one prototype of the most arguments does for all.
 */
#include "runtime/mpi/call.h"
#include "runtime/mpi/exported.h"

#define WORDS                                                                                      \
    uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g,     \
        uintptr_t h, uintptr_t i, uintptr_t j, uintptr_t k, uintptr_t l, uintptr_t m
#define NAMES a, b, c, d, e, f, g, h, i, j, k, l, m

/* `lack`: it may order processes. */
#define UNFOLLOWED(name, lack)                                                                     \
    EXPORTED int MPI_##name(WORDS);                                                                \
    int MPI_##name(WORDS)                                                                          \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, "MPI_" #name))                                                      \
            return PMPI(name)(NAMES);                                                              \
        csan_unmodelled("MPI_" #name);                                                             \
        lack;                                                                                      \
        call_inside();                                                                             \
        return call_end(&call, PMPI(name)(NAMES));                                                 \
    }                                                                                              \
    ALSO_PMPI(name)

#define MESSAGE(name) UNFOLLOWED(name, follow_lack(CSAN_LACK_UNFOLLOWED))
#define LOCAL(name)   UNFOLLOWED(name, )

/* ---- Large counts (MPI 4.0, 2.5.8) ---- */

MESSAGE(Send_c)
MESSAGE(Bsend_c)
MESSAGE(Ssend_c)
MESSAGE(Rsend_c)
MESSAGE(Isend_c)
MESSAGE(Ibsend_c)
MESSAGE(Issend_c)
MESSAGE(Irsend_c)
MESSAGE(Send_init_c)
MESSAGE(Bsend_init_c)
MESSAGE(Ssend_init_c)
MESSAGE(Rsend_init_c)
MESSAGE(Recv_c)
MESSAGE(Irecv_c)
MESSAGE(Recv_init_c)
MESSAGE(Mrecv_c)
MESSAGE(Imrecv_c)
MESSAGE(Sendrecv_c)
MESSAGE(Sendrecv_replace_c)
MESSAGE(Isendrecv_c)
MESSAGE(Isendrecv_replace_c)
MESSAGE(Bcast_c)
MESSAGE(Ibcast_c)
MESSAGE(Bcast_init_c)
MESSAGE(Gather_c)
MESSAGE(Igather_c)
MESSAGE(Gather_init_c)
MESSAGE(Gatherv_c)
MESSAGE(Igatherv_c)
MESSAGE(Gatherv_init_c)
MESSAGE(Scatter_c)
MESSAGE(Iscatter_c)
MESSAGE(Scatter_init_c)
MESSAGE(Scatterv_c)
MESSAGE(Iscatterv_c)
MESSAGE(Scatterv_init_c)
MESSAGE(Allgather_c)
MESSAGE(Iallgather_c)
MESSAGE(Allgather_init_c)
MESSAGE(Allgatherv_c)
MESSAGE(Iallgatherv_c)
MESSAGE(Allgatherv_init_c)
MESSAGE(Alltoall_c)
MESSAGE(Ialltoall_c)
MESSAGE(Alltoall_init_c)
MESSAGE(Alltoallv_c)
MESSAGE(Ialltoallv_c)
MESSAGE(Alltoallv_init_c)
MESSAGE(Alltoallw_c)
MESSAGE(Ialltoallw_c)
MESSAGE(Alltoallw_init_c)
MESSAGE(Reduce_c)
MESSAGE(Ireduce_c)
MESSAGE(Reduce_init_c)
MESSAGE(Allreduce_c)
MESSAGE(Iallreduce_c)
MESSAGE(Allreduce_init_c)
MESSAGE(Reduce_scatter_c)
MESSAGE(Ireduce_scatter_c)
MESSAGE(Reduce_scatter_init_c)
MESSAGE(Reduce_scatter_block_c)
MESSAGE(Ireduce_scatter_block_c)
MESSAGE(Reduce_scatter_block_init_c)
MESSAGE(Scan_c)
MESSAGE(Iscan_c)
MESSAGE(Scan_init_c)
MESSAGE(Exscan_c)
MESSAGE(Iexscan_c)
MESSAGE(Exscan_init_c)
MESSAGE(Neighbor_allgather_c)
MESSAGE(Ineighbor_allgather_c)
MESSAGE(Neighbor_allgather_init_c)
MESSAGE(Neighbor_allgatherv_c)
MESSAGE(Ineighbor_allgatherv_c)
MESSAGE(Neighbor_allgatherv_init_c)
MESSAGE(Neighbor_alltoall_c)
MESSAGE(Ineighbor_alltoall_c)
MESSAGE(Neighbor_alltoall_init_c)
MESSAGE(Neighbor_alltoallv_c)
MESSAGE(Ineighbor_alltoallv_c)
MESSAGE(Neighbor_alltoallv_init_c)
MESSAGE(Neighbor_alltoallw_c)
MESSAGE(Ineighbor_alltoallw_c)
MESSAGE(Neighbor_alltoallw_init_c)
MESSAGE(Put_c)
MESSAGE(Get_c)
MESSAGE(Accumulate_c)
MESSAGE(Get_accumulate_c)
MESSAGE(Rput_c)
MESSAGE(Rget_c)
MESSAGE(Raccumulate_c)
MESSAGE(Rget_accumulate_c)
MESSAGE(Win_create_c)
MESSAGE(Win_allocate_c)
MESSAGE(Win_allocate_shared_c)
MESSAGE(Win_shared_query_c)

/* ---- Partitioned, and both ways at once (MPI 4.0, chapter 4 and 3.10) ---- */

MESSAGE(Isendrecv)
MESSAGE(Isendrecv_replace)
MESSAGE(Psend_init)
MESSAGE(Precv_init)

/* ---- Files: what orders those who share one is followed (MPI 3.1, 13.6.1) ---- */

LOCAL(File_read)
LOCAL(File_read_at)
LOCAL(File_read_at_all)
LOCAL(File_read_all)
LOCAL(File_read_shared)
LOCAL(File_read_ordered)
LOCAL(File_iread)
LOCAL(File_iread_at)
LOCAL(File_iread_at_all)
LOCAL(File_iread_all)
LOCAL(File_iread_shared)
LOCAL(File_read_at_all_begin)
LOCAL(File_read_all_begin)
LOCAL(File_read_ordered_begin)
LOCAL(File_write)
LOCAL(File_write_at)
LOCAL(File_write_at_all)
LOCAL(File_write_all)
LOCAL(File_write_shared)
LOCAL(File_write_ordered)
LOCAL(File_iwrite)
LOCAL(File_iwrite_at)
LOCAL(File_iwrite_at_all)
LOCAL(File_iwrite_all)
LOCAL(File_iwrite_shared)
LOCAL(File_write_at_all_begin)
LOCAL(File_write_all_begin)
LOCAL(File_write_ordered_begin)
LOCAL(File_read_c)
LOCAL(File_read_at_c)
LOCAL(File_read_at_all_c)
LOCAL(File_read_all_c)
LOCAL(File_read_shared_c)
LOCAL(File_read_ordered_c)
LOCAL(File_iread_c)
LOCAL(File_iread_at_c)
LOCAL(File_iread_at_all_c)
LOCAL(File_iread_all_c)
LOCAL(File_iread_shared_c)
LOCAL(File_read_at_all_begin_c)
LOCAL(File_read_all_begin_c)
LOCAL(File_read_ordered_begin_c)
LOCAL(File_write_c)
LOCAL(File_write_at_c)
LOCAL(File_write_at_all_c)
LOCAL(File_write_all_c)
LOCAL(File_write_shared_c)
LOCAL(File_write_ordered_c)
LOCAL(File_iwrite_c)
LOCAL(File_iwrite_at_c)
LOCAL(File_iwrite_at_all_c)
LOCAL(File_iwrite_all_c)
LOCAL(File_iwrite_shared_c)
LOCAL(File_write_at_all_begin_c)
LOCAL(File_write_all_begin_c)
LOCAL(File_write_ordered_begin_c)

/* ---- Packing that is not followed ---- */

LOCAL(Pack_c)
LOCAL(Unpack_c)
LOCAL(Pack_external)
LOCAL(Unpack_external)
LOCAL(Pack_external_c)
LOCAL(Unpack_external_c)
LOCAL(Reduce_local_c)
