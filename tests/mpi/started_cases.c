/* Collective calls that are started: each non-blocking form, and each persistent one where the MPI
 * has them (MPI 4.0, 6.13). A kernel writes what the call still reads, or what it still writes. The
 * data of the right form are right. */
#include "cases.h"

#include <stdlib.h>

/* Open MPI 5 has persistent ones of MPI 4, and before that they are an extension. */
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT
#define INIT(name) MPI_##name##_init
#elif defined(OPEN_MPI)
#include <mpi-ext.h>
#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ
#define HAS_PERSISTENT
#define INIT(name) MPIX_##name##_init
#endif
#endif

static struct {
    float *from, *into;
    int *ones, *places, *bytes; /* for each rank: 1, its number, and where its element is */
    MPI_Aint *displacements;    /* as `bytes` */
    MPI_Datatype *types;
    MPI_Comm ring;
    MPI_Request request;
} it;

static void begin(void)
{
    const int dims[1] = {size}, periods[1] = {1};
    it.from = device_floats(2 * size, (float)rank + 1);
    it.into = device_floats(2 * size, 0);
    it.ones = calloc(3 * (size_t)size, sizeof *it.ones);
    it.places = it.ones + size;
    it.bytes = it.places + size;
    it.types = calloc((size_t)size, sizeof *it.types);
    it.displacements = calloc((size_t)size, sizeof *it.displacements);
    for (int i = 0; i < size; i++) {
        it.ones[i] = 1;
        it.places[i] = i;
        it.displacements[i] = it.bytes[i] = i * (int)sizeof(float);
        it.types[i] = MPI_FLOAT;
    }
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &it.ring);
}

static void end(void)
{
    MPI_Comm_free(&it.ring);
    free(it.ones);
    free(it.types);
    free(it.displacements);
}

/* `start` begins the call; then a kernel writes what the call reads, or `writes_into` what it
 * writes. `first`: the first element that the rank gets; 0: none that is known. */
static void in_flight(int racy, void (*start)(void), int writes_into, float first)
{
    cudaStream_t stream = new_stream();
    begin();
    start();
    if (!racy)
        MPI_Wait(&it.request, MPI_STATUS_IGNORE);
    if (!racy && first != 0)
        expect_floats(it.into, 1, first);
    launch_fill(writes_into ? it.into : it.from, 1, 9, stream);
    cudaStreamSynchronize(stream);
    if (racy)
        MPI_Wait(&it.request, MPI_STATUS_IGNORE);
    if (it.request != MPI_REQUEST_NULL) /* a persistent one */
        MPI_Request_free(&it.request);
    end();
}

#define WORLD MPI_COMM_WORLD, &it.request
#define RING  it.ring, &it.request

/* name, whether the kernel writes what is received, the first element that the rank receives, call
 */
#define CASE(name, into, first, call)                                                              \
    static void name##_start(void)                                                                 \
    {                                                                                              \
        call;                                                                                      \
    }                                                                                              \
    static void name(int racy)                                                                     \
    {                                                                                              \
        in_flight(racy, name##_start, into, first);                                                \
    }

#define SUM (float)(size * (size + 1) / 2)

CASE(iallgather, 0, 1, MPI_Iallgather(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, WORLD))
CASE(iallgather_into, 1, 1, MPI_Iallgather(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, WORLD))
CASE(iallgatherv, 1, 1,
     MPI_Iallgatherv(it.from, 1, MPI_FLOAT, it.into, it.ones, it.places, MPI_FLOAT, WORLD))
CASE(ialltoall, 0, 1, MPI_Ialltoall(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, WORLD))
CASE(ialltoallw, 1, 1,
     MPI_Ialltoallw(it.from, it.ones, it.bytes, it.types, it.into, it.ones, it.bytes, it.types,
                    WORLD))
CASE(iexscan, 0, (float)(rank *(rank + 1) / 2),
     MPI_Iexscan(it.from, it.into, 1, MPI_FLOAT, MPI_SUM, WORLD))
CASE(iscan, 1, (float)((rank + 1) * (rank + 2) / 2),
     MPI_Iscan(it.from, it.into, 1, MPI_FLOAT, MPI_SUM, WORLD))
CASE(igather, 0, rank ? 0 : 1, MPI_Igather(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, 0, WORLD))
CASE(igatherv, 0, rank ? 0 : 1,
     MPI_Igatherv(it.from, 1, MPI_FLOAT, it.into, it.ones, it.places, MPI_FLOAT, 0, WORLD))
CASE(iscatter, 1, 1, MPI_Iscatter(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, 0, WORLD))
CASE(iscatterv, 1, 1,
     MPI_Iscatterv(it.from, it.ones, it.places, MPI_FLOAT, it.into, 1, MPI_FLOAT, 0, WORLD))
CASE(ireduce, 0, rank ? 0 : SUM, MPI_Ireduce(it.from, it.into, 1, MPI_FLOAT, MPI_SUM, 0, WORLD))
CASE(ireduce_scatter, 1, SUM,
     MPI_Ireduce_scatter(it.from, it.into, it.ones, MPI_FLOAT, MPI_SUM, WORLD))
CASE(ireduce_scatter_block, 0, SUM,
     MPI_Ireduce_scatter_block(it.from, it.into, 1, MPI_FLOAT, MPI_SUM, WORLD))
CASE(ineighbor_allgather, 1, (float)((rank + size - 1) % size + 1),
     MPI_Ineighbor_allgather(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, RING))
CASE(ineighbor_allgatherv, 0, (float)((rank + size - 1) % size + 1),
     MPI_Ineighbor_allgatherv(it.from, 1, MPI_FLOAT, it.into, it.ones, it.places, MPI_FLOAT, RING))
CASE(ineighbor_alltoall, 1, (float)((rank + size - 1) % size + 1),
     MPI_Ineighbor_alltoall(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, RING))
CASE(ineighbor_alltoallv, 0, (float)((rank + size - 1) % size + 1),
     MPI_Ineighbor_alltoallv(it.from, it.ones, it.places, MPI_FLOAT, it.into, it.ones, it.places,
                             MPI_FLOAT, RING))
CASE(ineighbor_alltoallw, 1, (float)((rank + size - 1) % size + 1),
     MPI_Ineighbor_alltoallw(it.from, it.ones, it.displacements, it.types, it.into, it.ones,
                             it.displacements, it.types, RING))

#ifdef HAS_PERSISTENT
/* A persistent one, in its second round. */
#define PERSISTENT(name, into, first, call)                                                        \
    CASE(name, into, first,                                                                        \
         (call, MPI_Start(&it.request), MPI_Wait(&it.request, MPI_STATUS_IGNORE),                  \
          MPI_Start(&it.request)))
#undef WORLD
#undef RING
#define WORLD MPI_COMM_WORLD, MPI_INFO_NULL, &it.request
#define RING  it.ring, MPI_INFO_NULL, &it.request

PERSISTENT(allgather_init, 1, 1,
           INIT(Allgather)(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, WORLD))
PERSISTENT(allgatherv_init, 0, 1,
           INIT(Allgatherv)(it.from, 1, MPI_FLOAT, it.into, it.ones, it.places, MPI_FLOAT, WORLD))
PERSISTENT(allreduce_init, 1, SUM, INIT(Allreduce)(it.from, it.into, 1, MPI_FLOAT, MPI_SUM, WORLD))
PERSISTENT(alltoall_init, 0, 1, INIT(Alltoall)(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, WORLD))
PERSISTENT(alltoallv_init, 1, 1,
           INIT(Alltoallv)(it.from, it.ones, it.places, MPI_FLOAT, it.into, it.ones, it.places,
                           MPI_FLOAT, WORLD))
PERSISTENT(alltoallw_init, 0, 1,
           INIT(Alltoallw)(it.from, it.ones, it.bytes, it.types, it.into, it.ones, it.bytes,
                           it.types, WORLD))
PERSISTENT(bcast_init, 1, 0, INIT(Bcast)(it.into, 1, MPI_FLOAT, 0, WORLD))
PERSISTENT(exscan_init, 0, (float)(rank *(rank + 1) / 2),
           INIT(Exscan)(it.from, it.into, 1, MPI_FLOAT, MPI_SUM, WORLD))
/* MPICH 4.0 reads the root's part when the request is made, and not when it starts. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
#define GATHERED 0
#else
#define GATHERED 1
#endif
PERSISTENT(gather_init, 0, rank ? 0 : GATHERED,
           INIT(Gather)(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, 0, WORLD))
PERSISTENT(gatherv_init, 0, rank ? 0 : 1,
           INIT(Gatherv)(it.from, 1, MPI_FLOAT, it.into, it.ones, it.places, MPI_FLOAT, 0, WORLD))
PERSISTENT(reduce_init, 0, rank ? 0 : SUM,
           INIT(Reduce)(it.from, it.into, 1, MPI_FLOAT, MPI_SUM, 0, WORLD))
PERSISTENT(reduce_scatter_init, 1, SUM,
           INIT(Reduce_scatter)(it.from, it.into, it.ones, MPI_FLOAT, MPI_SUM, WORLD))
PERSISTENT(reduce_scatter_block_init, 0, SUM,
           INIT(Reduce_scatter_block)(it.from, it.into, 1, MPI_FLOAT, MPI_SUM, WORLD))
PERSISTENT(scan_init, 1, (float)((rank + 1) * (rank + 2) / 2),
           INIT(Scan)(it.from, it.into, 1, MPI_FLOAT, MPI_SUM, WORLD))
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION >= 40100000
#define HAS_SCATTER_INIT /* MPICH 4.0 waits for a communicator that is none */
PERSISTENT(scatter_init, 1, 1,
           INIT(Scatter)(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, 0, WORLD))
#endif
PERSISTENT(scatterv_init, 1, 1,
           INIT(Scatterv)(it.from, it.ones, it.places, MPI_FLOAT, it.into, 1, MPI_FLOAT, 0, WORLD))
PERSISTENT(neighbor_allgather_init, 1, (float)((rank + size - 1) % size + 1),
           INIT(Neighbor_allgather)(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, RING))
PERSISTENT(neighbor_allgatherv_init, 0, (float)((rank + size - 1) % size + 1),
           INIT(Neighbor_allgatherv)(it.from, 1, MPI_FLOAT, it.into, it.ones, it.places, MPI_FLOAT,
                                     RING))
PERSISTENT(neighbor_alltoall_init, 1, (float)((rank + size - 1) % size + 1),
           INIT(Neighbor_alltoall)(it.from, 1, MPI_FLOAT, it.into, 1, MPI_FLOAT, RING))
PERSISTENT(neighbor_alltoallv_init, 0, (float)((rank + size - 1) % size + 1),
           INIT(Neighbor_alltoallv)(it.from, it.ones, it.places, MPI_FLOAT, it.into, it.ones,
                                    it.places, MPI_FLOAT, RING))
PERSISTENT(neighbor_alltoallw_init, 1, (float)((rank + size - 1) % size + 1),
           INIT(Neighbor_alltoallw)(it.from, it.ones, it.displacements, it.types, it.into, it.ones,
                                    it.displacements, it.types, RING))
#endif

const struct mpi_case started_cases[] = {
    {"iallgather", "MPI_Iallgather", NULL, iallgather},
    {"iallgather_into", "MPI_Iallgather", NULL, iallgather_into},
    {"iallgatherv", "MPI_Iallgatherv", NULL, iallgatherv},
    {"ialltoall", "MPI_Ialltoall", NULL, ialltoall},
    {"ialltoallw", "MPI_Ialltoallw", NULL, ialltoallw},
    {"iexscan", "MPI_Iexscan", NULL, iexscan},
    {"iscan", "MPI_Iscan", NULL, iscan},
    {"igather", "MPI_Igather", NULL, igather},
    {"igatherv", "MPI_Igatherv", NULL, igatherv},
    {"iscatter", "MPI_Iscatter", NULL, iscatter},
    {"iscatterv", "MPI_Iscatterv", NULL, iscatterv},
    {"ireduce", "MPI_Ireduce", NULL, ireduce},
    {"ireduce_scatter", "MPI_Ireduce_scatter", NULL, ireduce_scatter},
    {"ireduce_scatter_block", "MPI_Ireduce_scatter_block", NULL, ireduce_scatter_block},
    {"ineighbor_allgather", "MPI_Ineighbor_allgather", NULL, ineighbor_allgather},
    {"ineighbor_allgatherv", "MPI_Ineighbor_allgatherv", NULL, ineighbor_allgatherv},
    {"ineighbor_alltoall", "MPI_Ineighbor_alltoall", NULL, ineighbor_alltoall},
    {"ineighbor_alltoallv", "MPI_Ineighbor_alltoallv", NULL, ineighbor_alltoallv},
    {"ineighbor_alltoallw", "MPI_Ineighbor_alltoallw", NULL, ineighbor_alltoallw},
#ifdef HAS_PERSISTENT
    {"allgather_init", "MPI_Start", "Allgather_init: ", allgather_init},
    {"allgatherv_init", "MPI_Start", "Allgatherv_init: ", allgatherv_init},
    {"allreduce_init", "MPI_Start", "Allreduce_init: ", allreduce_init},
    {"alltoall_init", "MPI_Start", "Alltoall_init: ", alltoall_init},
    {"alltoallv_init", "MPI_Start", "Alltoallv_init: ", alltoallv_init},
    {"alltoallw_init", "MPI_Start", "Alltoallw_init: ", alltoallw_init},
    {"bcast_init", "MPI_Start", "Bcast_init: ", bcast_init},
    {"exscan_init", "MPI_Start", "Exscan_init: ", exscan_init},
    {"gather_init", "MPI_Start", "Gather_init: ", gather_init},
    {"gatherv_init", "MPI_Start", "Gatherv_init: ", gatherv_init},
    {"reduce_init", "MPI_Start", "Reduce_init: ", reduce_init},
    {"reduce_scatter_init", "MPI_Start", "Reduce_scatter_init: ", reduce_scatter_init},
    {"reduce_scatter_block_init", "MPI_Start",
     "Reduce_scatter_block_init: ", reduce_scatter_block_init},
    {"scan_init", "MPI_Start", "Scan_init: ", scan_init},
#ifdef HAS_SCATTER_INIT
    {"scatter_init", "MPI_Start", "Scatter_init: ", scatter_init},
#endif
    {"scatterv_init", "MPI_Start", "Scatterv_init: ", scatterv_init},
    {"neighbor_allgather_init", "MPI_Start", "Neighbor_allgather_init: ", neighbor_allgather_init},
    {"neighbor_allgatherv_init", "MPI_Start",
     "Neighbor_allgatherv_init: ", neighbor_allgatherv_init},
    {"neighbor_alltoall_init", "MPI_Start", "Neighbor_alltoall_init: ", neighbor_alltoall_init},
    {"neighbor_alltoallv_init", "MPI_Start", "Neighbor_alltoallv_init: ", neighbor_alltoallv_init},
    {"neighbor_alltoallw_init", "MPI_Start", "Neighbor_alltoallw_init: ", neighbor_alltoallw_init},
#endif
    {0}};
