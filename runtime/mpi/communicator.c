/* See communicator.h. What is known of a communicator is an attribute of it (MPI 3.1, 6.7), which
 * ends with it and is not copied. */
#include "runtime/mpi/communicator.h"
#include "csan/base/environment.h"
#include "csan/base/hash.h"
#include "runtime/mpi/call.h"
#include "runtime/mpi/exported.h"
#include "runtime/mpi/functions.h"

#include <stdlib.h>

static struct {
    struct communicator world, self;
    mpi_handle world_group;
    int key; /* the attribute's */
    bool known;
} table;

/* Of the job: recordings of two jobs do not belong together. */
static uint64_t job(void)
{
    static const char *const names[] = {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID"};
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        hash = hash_text(hash, environment_get(names[i]));
    return hash;
}

static int not_copied(mpi_handle comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_OK;
}

static int deleted(mpi_handle comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    free(value);
    return MPI_OK;
}

void communicators_start(void)
{
    if (table.known || PMPI(Comm_group)(abi.comm_world, &table.world_group) != MPI_OK ||
        PMPI(Comm_create_keyval)((void *)not_copied, (void *)deleted, &table.key, NULL) != MPI_OK)
        return;
    PMPI(Comm_rank)(abi.comm_world, &table.world.rank);
    PMPI(Comm_size)(abi.comm_world, &table.world.size);
    table.world.id = hash_mix(job(), (uint64_t)table.world.size);
    table.self = (struct communicator){
        .id = hash_mix(table.world.id, (uint64_t)table.world.rank + 1), .size = 1};
    table.known = true;
}

struct communicator *communicator_of(mpi_handle comm)
{
    struct communicator *found = NULL;
    int flag = 0;
    const mpi_handle handle = handle_value(comm);
    if (!table.known || handle == abi.comm_null)
        return NULL;
    if (handle == abi.comm_world)
        return &table.world;
    if (handle == abi.comm_self)
        return &table.self;
    return PMPI(Comm_get_attr)(comm, table.key, &found, &flag) == MPI_OK && flag ? found : NULL;
}

uint64_t communicator_begin(mpi_handle parent)
{
    struct communicator *of = call_shared.links ? communicator_of(parent) : NULL;
    if (!of)
        return 0;
    const uint32_t made = __atomic_add_fetch(&of->made, 1, __ATOMIC_RELAXED);
    return hash_mix(hash_mix(of->id, made), 1);
}

/* With the ranks that its processes have among all. 0: memory is short. */
static uint64_t with_ranks(uint64_t hash, mpi_handle comm, int size)
{
    mpi_handle group = 0;
    int *ranks = malloc(2 * (size_t)size * sizeof *ranks);
    if (!ranks || PMPI(Comm_group)(comm, &group) != MPI_OK) {
        free(ranks);
        return 0;
    }
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    PMPI(Group_translate_ranks)(group, size, ranks, table.world_group, ranks + size);
    for (int i = 0; i < size; i++)
        hash = hash_mix(hash, (uint64_t)(int64_t)ranks[size + i]);
    PMPI(Group_free)(&group);
    free(ranks);
    return hash + (hash == 0);
}

void communicator_made(uint64_t begin, const void *variable)
{
    const mpi_handle comm = handle_at(variable, 0);
    int inter = 0;
    if (!begin || comm == abi.comm_null || PMPI(Comm_test_inter)(comm, &inter) != MPI_OK || inter)
        return;
    struct communicator *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return;
    PMPI(Comm_rank)(comm, &fresh->rank);
    PMPI(Comm_size)(comm, &fresh->size);
    fresh->id = with_ranks(begin, comm, fresh->size);
    if (!fresh->id || PMPI(Comm_set_attr)(comm, table.key, fresh) != MPI_OK)
        free(fresh);
}

/* Each rank needs what the others of the new communicator say. */
static void wait_for_all(const void *variable)
{
    struct communicator *made = call_shared.links ? communicator_of(handle_at(variable, 0)) : NULL;
    if (made)
        follow_barrier(made->id, made->size);
}

/* ---- The functions that make them (MPI 3.1, 6.4 and 7.5) ---- */

#define MAKES(name, parameters, arguments)                                                         \
    EXPORTED int MPI_##name parameters;                                                            \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, "MPI_" #name))                                                      \
            return PMPI(name) arguments;                                                           \
        const uint64_t begin = communicator_begin(parent);                                         \
        call_inside();                                                                             \
        const int result = PMPI(name) arguments;                                                   \
        if (result == MPI_OK)                                                                      \
            communicator_made(begin, made);                                                        \
        call_outside();                                                                            \
        if (result == MPI_OK)                                                                      \
            wait_for_all(made);                                                                    \
        call_inside();                                                                             \
        return call_end(&call, result);                                                            \
    }                                                                                              \
    ALSO_PMPI(name)

MAKES(Comm_dup, (mpi_handle parent, void *made), (parent, made))
MAKES(Comm_dup_with_info, (mpi_handle parent, mpi_handle info, void *made), (parent, info, made))
MAKES(Comm_split, (mpi_handle parent, int color, int key, void *made), (parent, color, key, made))
MAKES(Comm_split_type, (mpi_handle parent, int type, int key, mpi_handle info, void *made),
      (parent, type, key, info, made))
MAKES(Comm_create, (mpi_handle parent, mpi_handle group, void *made), (parent, group, made))
MAKES(Cart_create,
      (mpi_handle parent, int count, const int *dims, const int *periods, int reorder, void *made),
      (parent, count, dims, periods, reorder, made))
MAKES(Cart_sub, (mpi_handle parent, const int *remain, void *made), (parent, remain, made))
MAKES(Graph_create,
      (mpi_handle parent, int nodes, const int *index, const int *edges, int reorder, void *made),
      (parent, nodes, index, edges, reorder, made))
MAKES(Dist_graph_create,
      (mpi_handle parent, int count, const int *sources, const int *degrees, const int *targets,
       const int *weights, mpi_handle info, int reorder, void *made),
      (parent, count, sources, degrees, targets, weights, info, reorder, made))
MAKES(Dist_graph_create_adjacent,
      (mpi_handle parent, int in, const int *sources, const int *source_weights, int out,
       const int *targets, const int *target_weights, mpi_handle info, int reorder, void *made),
      (parent, in, sources, source_weights, out, targets, target_weights, info, reorder, made))
