/* See communicator.h. What is known of a communicator is an attribute of it (MPI 3.1, 6.7), which
 * ends with it and is not copied. */
#include "runtime/mpi/communicator.h"
#include "csan/base/environment.h"
#include "csan/base/hash.h"
#include "runtime/mpi/call.h"
#include "runtime/mpi/exported.h"
#include "runtime/mpi/functions.h"
#include "runtime/mpi/request.h"

#include <pthread.h>
#include <stdlib.h>

/* Of communicators that not all of the parent make: what identifies one, and how many have it. */
struct used {
    struct used *next;
    uint64_t id, count;
};

static struct {
    struct communicator world, self;
    mpi_handle world_group;
    int key; /* the attribute's */
    bool known;
    struct used *used;    /* newest first; few */
    pthread_mutex_t lock; /* of `used` */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

bool communicators_spawned(void)
{
    mpi_handle parent = 0;
    return PMPI(Comm_get_parent)(&parent) == MPI_OK && handle_at(&parent, 0) != abi.comm_null;
}

void communicators_start(void)
{
    /* where worlds have no names, that of the processes that started these looks the same */
    if (table.known || (!environment_get("PMIX_NAMESPACE") && communicators_spawned()) ||
        PMPI(Comm_group)(abi.comm_world, &table.world_group) != MPI_OK ||
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

/* How often that was made before. */
static uint64_t used_before(uint64_t id)
{
    uint64_t before = 0;
    pthread_mutex_lock(&table.lock);
    struct used *used = table.used;
    while (used && used->id != id)
        used = used->next;
    if (!used && (used = calloc(1, sizeof *used))) {
        *used = (struct used){table.used, id, 0};
        table.used = used;
    }
    if (used)
        before = used->count++;
    pthread_mutex_unlock(&table.lock);
    return before;
}

static uint64_t by_tag(uint64_t begin, int tag)
{
    return begin ? hash_mix(hash_mix(begin, (uint64_t)(int64_t)tag), 6) : 0;
}

/* The ranks that a group's processes have among all; `low`: the lowest. 0: memory is short, or one
 * is not among them. */
static uint64_t group_hash(mpi_handle group, int size, int *low)
{
    uint64_t hash = HASH_START;
    int *ranks = malloc((2 * (size_t)size + 1) * sizeof *ranks);
    if (!ranks)
        return 0;
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    PMPI(Group_translate_ranks)(group, size, ranks, table.world_group, ranks + size);
    *low = ranks[size];
    for (int i = 0; hash && i < size; i++) {
        const int rank = ranks[size + i];
        *low = rank < *low ? rank : *low;
        hash = rank == abi.undefined ? 0 : hash_mix(hash, (uint64_t)(int64_t)rank);
    }
    free(ranks);
    return hash;
}

/* ... of a communicator's own group, or of the other one. */
static uint64_t ranks_hash(int (*ask)(mpi_handle, void *), mpi_handle comm, int size, int *low)
{
    mpi_handle group = 0;
    if (ask(comm, &group) != MPI_OK)
        return 0;
    const uint64_t hash = group_hash(group, size, low);
    PMPI(Group_free)(&group);
    return hash;
}

/* With the ranks of its processes. The group that has the lowest rank is the first of two. 0: they
 * are not known. */
static uint64_t with_ranks(uint64_t hash, mpi_handle comm, struct communicator *fresh)
{
    int low, other_low = 0;
    const uint64_t own = ranks_hash(PMPI(Comm_group), comm, fresh->size, &low);
    if (!own)
        return 0;
    if (!fresh->remote)
        return hash_mix(hash, own);
    const uint64_t other = ranks_hash(PMPI(Comm_remote_group), comm, fresh->remote, &other_low);
    fresh->side = low > other_low;
    if (!other)
        return 0;
    return hash_mix(hash_mix(hash, fresh->side ? other : own), fresh->side ? own : other);
}

/* `counted`: how many there were before sets it apart from others with the same ranks. */
static void made_note(uint64_t begin, const void *variable, bool counted)
{
    const mpi_handle comm = handle_at(variable, 0);
    int inter = 0;
    if (!begin || comm == abi.comm_null || PMPI(Comm_test_inter)(comm, &inter) != MPI_OK)
        return;
    struct communicator *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return;
    PMPI(Comm_rank)(comm, &fresh->rank);
    PMPI(Comm_size)(comm, &fresh->size);
    if (inter)
        PMPI(Comm_remote_size)(comm, &fresh->remote);
    fresh->id = with_ranks(begin, comm, fresh);
    if (fresh->id && counted)
        fresh->id = hash_mix(fresh->id, used_before(fresh->id));
    if (!fresh->id || PMPI(Comm_set_attr)(comm, table.key, fresh) != MPI_OK)
        free(fresh);
}

void communicator_made(uint64_t begin, const void *variable)
{
    made_note(begin, variable, false);
}

/* Each rank needs what the others of the new communicator say. */
static void wait_for_all(const void *variable)
{
    const mpi_handle handle = handle_at(variable, 0);
    if (!call_shared.links || handle == abi.comm_null)
        return;
    const struct communicator *made = communicator_of(handle);
    if (made)
        follow_barrier(made->id, made->size + made->remote);
    else
        follow_lack(CSAN_LACK_COMMUNICATOR);
}

/* ---- The functions that make them (MPI 3.1, 6.4 and 7.5) ---- */

#define MAKES(name, parameters, arguments)                                                         \
    MAKES_FROM(name, parameters, arguments, communicator_begin(parent), false)

#define MAKES_FROM(name, parameters, arguments, identity, counted)                                 \
    EXPORTED int MPI_##name parameters;                                                            \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, "MPI_" #name))                                                      \
            return PMPI(name) arguments;                                                           \
        const uint64_t begin = identity;                                                           \
        call_inside();                                                                             \
        const int result = PMPI(name) arguments;                                                   \
        if (result == MPI_OK)                                                                      \
            made_note(begin, made, counted);                                                       \
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
MAKES(Intercomm_merge, (mpi_handle parent, int high, void *made), (parent, high, made))

/* Only the processes of the group, or of the two groups, take part. */
static uint64_t identity_of(mpi_handle comm)
{
    const struct communicator *known = call_shared.links ? communicator_of(comm) : NULL;
    return known ? known->id : 0;
}

MAKES_FROM(Comm_create_group, (mpi_handle parent, mpi_handle group, int tag, void *made),
           (parent, group, tag, made), by_tag(identity_of(parent), tag), true)

/* The leaders alone know the communicator that joins them, so it is no part of the identity. */
MAKES_FROM(Intercomm_create,
           (mpi_handle parent, int leader, mpi_handle peers, int remote_leader, int tag,
            void *made),
           (parent, leader, peers, remote_leader, tag, made),
           by_tag(call_shared.links ? table.world.id : 0, tag), true)

/* ---- Processes that meet later (MPI 3.1, chapter 10) ----
 *
 * Two groups of one world are known by their ranks. Of processes that were started later nobody
 * knows which they are for others. */

enum { BY_PORT = -1 }; /* no tag */

#define MAKES_BY_PORT(name, parameters, arguments)                                                 \
    MAKES_FROM(name, parameters, arguments,                                                        \
               by_tag(call_shared.links ? table.world.id : 0, BY_PORT), true)

MAKES_BY_PORT(Comm_accept,
              (const char *port, mpi_handle info, int root, mpi_handle parent, void *made),
              (port, info, root, parent, made))
MAKES_BY_PORT(Comm_connect,
              (const char *port, mpi_handle info, int root, mpi_handle parent, void *made),
              (port, info, root, parent, made))
MAKES_BY_PORT(Comm_join, (int descriptor, void *made), (descriptor, made))
MAKES_FROM(Comm_spawn,
           (const char *command, char **arguments, int most, mpi_handle info, int root,
            mpi_handle parent, void *made, int *codes),
           (command, arguments, most, info, root, parent, made, codes), 0, false)
MAKES_FROM(Comm_spawn_multiple,
           (int count, char **commands, char ***arguments, const int *most, const void *infos,
            int root, mpi_handle parent, void *made, int *codes),
           (count, commands, arguments, most, infos, root, parent, made, codes), 0, false)

/* ... and of a session (MPI 4.0, 11.3). */
MAKES_FROM(Comm_create_from_group,
           (mpi_handle group, const char *tag, mpi_handle info, mpi_handle errors, void *made),
           (group, tag, info, errors, made), 0, false)
MAKES_FROM(Intercomm_create_from_groups,
           (mpi_handle group, int leader, mpi_handle remote_group, int remote_leader,
            const char *tag, mpi_handle info, mpi_handle errors, void *made),
           (group, leader, remote_group, remote_leader, tag, info, errors, made), 0, false)

/* Known when its request is over. */
#define MAKES_LATER(name, parameters, arguments)                                                   \
    EXPORTED int MPI_##name parameters;                                                            \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, "MPI_" #name))                                                      \
            return PMPI(name) arguments;                                                           \
        const uint64_t begin = communicator_begin(parent);                                         \
        call_inside();                                                                             \
        const int result = PMPI(name) arguments;                                                   \
        if (result == MPI_OK && begin)                                                             \
            request_makes(request, begin, made);                                                   \
        return call_end(&call, result);                                                            \
    }                                                                                              \
    ALSO_PMPI(name)

MAKES_LATER(Comm_idup, (mpi_handle parent, void *made, void *request), (parent, made, request))
MAKES_LATER(Comm_idup_with_info, (mpi_handle parent, mpi_handle info, void *made, void *request),
            (parent, info, made, request))
