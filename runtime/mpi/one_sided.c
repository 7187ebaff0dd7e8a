/* One-sided communication (MPI 3.1, chapter 11). What an operation does with the caller's own
 * buffers lasts until its epoch ends there: a fence, complete, unlock or flush. An operation to the
 * calling rank itself also touches the window's memory. What other ranks do with this rank's window
 * is not seen here. */
#include "runtime/mpi/communicator.h"
#include "runtime/mpi/functions.h"
#include "runtime/mpi/window.h"
#include "runtime/mpi/wrapper.h"
#include "csan/base/hash.h"

#include <stdlib.h>
#include <string.h>

/* ---- Windows ---- */

/* A window counts as a collective call of its communicator. */
static void group_note(mpi_handle comm, struct window_memory *memory)
{
    struct communicator *known = call_shared.links ? communicator_of(comm) : NULL;
    PMPI(Comm_rank)(comm, &memory->rank);
    if (!known)
        return;
    memory->id = hash_mix(
        hash_mix(known->id, __atomic_add_fetch(&known->collectives, 1, __ATOMIC_RELAXED)), 5);
    memory->size = known->size;
}

EXPORTED int MPI_Win_create(void *base, mpi_aint bytes, int unit, mpi_handle info, mpi_handle comm,
                            void *window);
int MPI_Win_create(void *base, mpi_aint bytes, int unit, mpi_handle info, mpi_handle comm,
                   void *window)
{
    struct call call;
    if (!call_begin(&call, "MPI_Win_create"))
        return PMPI(Win_create)(base, bytes, unit, info, comm, window);
    struct window_memory memory = {base, call_view(base), bytes, unit, 0, 0, 0, false};
    csan_exposed_begin(base, (size_t)bytes);
    call_inside();
    const int result =
        PMPI(Win_create)((void *)(uintptr_t)memory.view, bytes, unit, info, comm, window);
    group_note(comm, &memory);
    if (result == MPI_OK)
        window_created(handle_at(window, 0), &memory);
    else
        csan_exposed_end(base);
    return call_end(&call, result);
}
ALSO_PMPI(Win_create)

#define ALLOCATES(name, shares)                                                                    \
    EXPORTED int MPI_##name(mpi_aint bytes, int unit, mpi_handle info, mpi_handle comm,            \
                            void *base, void *window);                                             \
    int MPI_##name(mpi_aint bytes, int unit, mpi_handle info, mpi_handle comm, void *base,         \
                   void *window)                                                                   \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, "MPI_" #name))                                                      \
            return PMPI(name)(bytes, unit, info, comm, base, window);                              \
        call_inside();                                                                             \
        const int result = PMPI(name)(bytes, unit, info, comm, base, window);                      \
        struct window_memory memory = {NULL, NULL, bytes, unit, 0, 0, 0, shares};                  \
        group_note(comm, &memory);                                                                 \
        if (result == MPI_OK) {                                                                    \
            memory.base = memory.view = *(void **)base;                                            \
            csan_exposed_begin(memory.base, (size_t)bytes);                                        \
            window_created(handle_at(window, 0), &memory);                                         \
        }                                                                                          \
        return call_end(&call, result);                                                            \
    }                                                                                              \
    ALSO_PMPI(name)
ALLOCATES(Win_allocate, false)
ALLOCATES(Win_allocate_shared, true)

EXPORTED int MPI_Win_create_dynamic(mpi_handle info, mpi_handle comm, void *window);
int MPI_Win_create_dynamic(mpi_handle info, mpi_handle comm, void *window)
{
    struct call call;
    if (!call_begin(&call, "MPI_Win_create_dynamic"))
        return PMPI(Win_create_dynamic)(info, comm, window);
    struct window_memory memory = {NULL, NULL, 0, 1, 0, 0, 0, false};
    call_inside();
    const int result = PMPI(Win_create_dynamic)(info, comm, window);
    group_note(comm, &memory);
    if (result == MPI_OK)
        window_created(handle_at(window, 0), &memory);
    return call_end(&call, result);
}
ALSO_PMPI(Win_create_dynamic)

/* Memory of a dynamic window. */
EXPORTED int MPI_Win_attach(mpi_handle window, void *base, mpi_aint bytes);
int MPI_Win_attach(mpi_handle window, void *base, mpi_aint bytes)
{
    struct call call;
    if (!call_begin(&call, "MPI_Win_attach"))
        return PMPI(Win_attach)(window, base, bytes);
    csan_exposed_begin(base, (size_t)bytes);
    call_inside();
    const int result = PMPI(Win_attach)(window, base, bytes);
    if (result != MPI_OK)
        csan_exposed_end(base);
    return call_end(&call, result);
}
ALSO_PMPI(Win_attach)

EXPORTED int MPI_Win_detach(mpi_handle window, const void *base);
int MPI_Win_detach(mpi_handle window, const void *base)
{
    struct call call;
    if (!call_begin(&call, "MPI_Win_detach"))
        return PMPI(Win_detach)(window, base);
    call_inside();
    const int result = PMPI(Win_detach)(window, base);
    if (result == MPI_OK)
        csan_exposed_end(base);
    return call_end(&call, result);
}
ALSO_PMPI(Win_detach)

/* "No process can return from free until all processes in the group of win call free", but for
 * windows with the info key no_locks (MPI 3.1, 11.2.5). */
static bool free_waits(mpi_handle window)
{
    mpi_handle info = 0;
    char value[8] = "";
    int flag = 0;
    if (PMPI(Win_get_info)(window, &info) != MPI_OK)
        return false;
    PMPI(Info_get)(handle_at(&info, 0), "no_locks", (int)sizeof value - 1, value, &flag);
    PMPI(Info_free)(&info);
    return !flag || strcmp(value, "true") != 0;
}

EXPORTED int MPI_Win_free(void *window);
int MPI_Win_free(void *window)
{
    struct call call;
    int size = 0;
    if (!call_begin(&call, "MPI_Win_free"))
        return PMPI(Win_free)(window);
    const mpi_handle handle = handle_at(window, 0);
    const uint64_t key = call_shared.links && free_waits(handle) ? window_end(handle, &size) : 0;
    struct window_memory memory = {0};
    window_memory_of(handle, &memory);
    call_inside();
    const int result = PMPI(Win_free)(window);
    call_outside();
    window_freed(handle);
    if (memory.bytes > 0)
        csan_exposed_end(memory.base);
    if (key && result == MPI_OK)
        follow_barrier(key, size);
    call_inside();
    return call_end(&call, result);
}
ALSO_PMPI(Win_free)

/* The window's base is the program's own address. */
EXPORTED int MPI_Win_get_attr(mpi_handle window, int key, void *value, int *flag);
int MPI_Win_get_attr(mpi_handle window, int key, void *value, int *flag)
{
    struct window_memory memory;
    const int result = PMPI(Win_get_attr)(window, key, value, flag);
    if (csan_enabled() && result == MPI_OK && *flag &&
        window_memory_of(handle_value(window), &memory) && memory.view != memory.base &&
        *(const void **)value == memory.view)
        *(const void **)value = memory.base;
    return result;
}
ALSO_PMPI(Win_get_attr)

/* Outside of MPI. */
static struct epochs *epochs_of(mpi_handle window)
{
    struct epochs *epochs = call_shared.links ? window_epochs(handle_value(window)) : NULL;
    if (call_shared.links && !epochs)
        follow_lack(CSAN_LACK_COMMUNICATOR);
    return epochs;
}

/* From here on the program can load from and store to memory of that rank. MPI_PROC_NULL: of the
 * first that has some (MPI 4.1, 12.2.3). */
static void query_end(mpi_handle window, int rank, const void *base, int result)
{
    call_outside();
    if (result == MPI_OK && *(void *const *)base)
        epochs_reachable(epochs_of(window), rank == abi.proc_null ? EPOCH_ALL : rank);
    call_inside();
}

#define QUERY       (mpi_handle window, int rank, mpi_aint *bytes, int *unit, void *base)
#define QUERY_NAMES (window, rank, bytes, unit, base)
WRAPPER(Win_shared_query, QUERY, QUERY_NAMES, QUERY_NAMES, , query_end(window, rank, base, result))

/* ---- Operations ---- */

/* What an operation to the calling rank does with its own window. */
static void touch_window(struct call *call, mpi_handle window, int target, mpi_aint place,
                         int count, mpi_handle type, int kind)
{
    struct window_memory memory;
    if (window_memory_of(handle_value(window), &memory) && target == memory.rank && memory.base)
        call_buffer(call, (const char *)memory.base + place * memory.unit, count, type, kind,
                    ARGUMENT_WINDOW);
}

#define TARGET                                                                                     \
    int origin_count, mpi_handle origin_type, int target, mpi_aint place, int target_count,        \
        mpi_handle target_type
#define TARGET_NAMES origin_count, origin_type, target, place, target_count, target_type

static void touch_operation(struct call *call, const void *origin, int kind, mpi_handle window,
                            const char *direction, TARGET)
{
    call_peer(call, origin_count, origin_type, direction, target, CALL_NO_TAG, 0);
    if (target == abi.proc_null)
        return;
    if (origin_count > 0)
        epochs_operation(epochs_of(window), target, kind == CSAN_WRITE, kind == CSAN_READ);
    call_buffer(call, origin, origin_count, origin_type, kind, ARGUMENT_ORIGIN);
    touch_window(call, window, target, place, target_count, target_type,
                 kind == CSAN_READ ? CSAN_WRITE : CSAN_READ);
}

/* It lasts until the epoch ends. */
#define OPERATION(name, stem, touch)                                                               \
    WRAPPER(name, (stem##_PARAMETERS), (stem##_ARGUMENTS(AS_IT_IS)), (stem##_ARGUMENTS(USABLE)),   \
            (touch(&call, stem##_ARGUMENTS(AS_IT_IS)), call_starts(&call)),                        \
            window_started(handle_value(window), target, &call))

/* The form with a request ends with that, or by a flush before (MPI 3.1, 11.5.4). */
#define REQUESTED(name, stem, touch, reads)                                                        \
    WRAPPER(name, (stem##_PARAMETERS, void *request), (stem##_ARGUMENTS(AS_IT_IS), request),       \
            (stem##_ARGUMENTS(USABLE), request),                                                   \
            (touch(&call, stem##_ARGUMENTS(AS_IT_IS)), call_starts(&call)),                        \
            (request_started(&call, result, request),                                              \
             window_requested(handle_value(window), target, request_name(request, 0),              \
                              result == MPI_OK ? call.request : 0, reads)))

#define PUT_PARAMETERS      const void *origin, TARGET, mpi_handle window
#define PUT_ARGUMENTS(pass) pass(origin, ARGUMENT_ORIGIN), TARGET_NAMES, window

static void touch_put(struct call *call, PUT_PARAMETERS)
{
    touch_operation(call, origin, CSAN_READ, window, "to", TARGET_NAMES);
}
OPERATION(Put, PUT, touch_put)
REQUESTED(Rput, PUT, touch_put, false)

#define GET_PARAMETERS      void *origin, TARGET, mpi_handle window
#define GET_ARGUMENTS(pass) PUT_ARGUMENTS(pass)

static void touch_get(struct call *call, GET_PARAMETERS)
{
    touch_operation(call, origin, CSAN_WRITE, window, "from", TARGET_NAMES);
}
OPERATION(Get, GET, touch_get)
REQUESTED(Rget, GET, touch_get, true)

/* An accumulate also has an operation of reduction. */
#define ACCUMULATE_PARAMETERS      const void *origin, TARGET, mpi_handle op, mpi_handle window
#define ACCUMULATE_ARGUMENTS(pass) pass(origin, ARGUMENT_ORIGIN), TARGET_NAMES, op, window

static void touch_accumulate(struct call *call, ACCUMULATE_PARAMETERS)
{
    (void)op;
    touch_operation(call, origin, CSAN_READ, window, "to", TARGET_NAMES);
}
OPERATION(Accumulate, ACCUMULATE, touch_accumulate)
REQUESTED(Raccumulate, ACCUMULATE, touch_accumulate, false)

/* ... and one that fetches writes what was there. */
#define GET_ACCUMULATE_PARAMETERS                                                                  \
    const void *origin, int origin_count, mpi_handle origin_type, void *fetched,                   \
        int fetched_count, mpi_handle fetched_type, int target, mpi_aint place, int target_count,  \
        mpi_handle target_type, mpi_handle op, mpi_handle window
#define GET_ACCUMULATE_ARGUMENTS(pass)                                                             \
    pass(origin, ARGUMENT_ORIGIN), origin_count, origin_type, pass(fetched, ARGUMENT_RESULT),      \
        fetched_count, fetched_type, target, place, target_count, target_type, op, window

static void touch_get_accumulate(struct call *call, GET_ACCUMULATE_PARAMETERS)
{
    (void)op;
    touch_operation(call, origin, CSAN_READ, window, "to", TARGET_NAMES);
    if (target == abi.proc_null)
        return;
    epochs_operation(epochs_of(window), target, true, true);
    call_writes(call, fetched, fetched_count, fetched_type, ARGUMENT_RESULT);
}
OPERATION(Get_accumulate, GET_ACCUMULATE, touch_get_accumulate)
REQUESTED(Rget_accumulate, GET_ACCUMULATE, touch_get_accumulate, true)

#define FETCH_PARAMETERS                                                                           \
    const void *origin, void *fetched, mpi_handle type, int target, mpi_aint place, mpi_handle op, \
        mpi_handle window
#define FETCH_ARGUMENTS(pass)                                                                      \
    pass(origin, ARGUMENT_ORIGIN), pass(fetched, ARGUMENT_RESULT), type, target, place, op, window

static void touch_fetch(struct call *call, FETCH_PARAMETERS)
{
    (void)op;
    touch_operation(call, origin, CSAN_READ, window, "to", 1, type, target, place, 1, type);
    if (target == abi.proc_null)
        return;
    epochs_operation(epochs_of(window), target, true, true);
    call_writes(call, fetched, 1, type, ARGUMENT_RESULT);
}
OPERATION(Fetch_and_op, FETCH, touch_fetch)

#define SWAP_PARAMETERS                                                                            \
    const void *origin, const void *compared, void *fetched, mpi_handle type, int target,          \
        mpi_aint place, mpi_handle window
#define SWAP_ARGUMENTS(pass)                                                                       \
    pass(origin, ARGUMENT_ORIGIN), pass(compared, ARGUMENT_COMPARE),                               \
        pass(fetched, ARGUMENT_RESULT), type, target, place, window

static void touch_swap(struct call *call, SWAP_PARAMETERS)
{
    touch_operation(call, origin, CSAN_READ, window, "to", 1, type, target, place, 1, type);
    if (target == abi.proc_null)
        return;
    epochs_operation(epochs_of(window), target, true, true);
    call_reads(call, compared, 1, type, ARGUMENT_COMPARE);
    call_writes(call, fetched, 1, type, ARGUMENT_RESULT);
}
OPERATION(Compare_and_swap, SWAP, touch_swap)

/* ---- Ends of epochs ---- */

/* `target`: whose operations are over here. */
static void operations_end(mpi_handle window, int target, int result)
{
    if (result == MPI_OK)
        window_finished(handle_value(window), target);
}

static void unlock_end(mpi_handle window, int target, int result)
{
    call_outside();
    operations_end(window, target, result);
    epochs_unlocked(epochs_of(window), target);
    call_inside();
}

static void flush_end(mpi_handle window, int target, bool local, int result)
{
    call_outside();
    operations_end(window, target, result);
    epochs_flushed(epochs_of(window), target, local);
    call_inside();
}

static void complete_end(mpi_handle window, int result)
{
    call_outside();
    operations_end(window, WINDOW_ANY_TARGET, result);
    epochs_completed(epochs_of(window));
    call_inside();
}

static void lock_end(mpi_handle window, int target, bool shared, int assertion, int result)
{
    call_outside();
    if (result == MPI_OK)
        epochs_locked(epochs_of(window), target, shared, !(assertion & abi.no_check));
    call_inside();
}

static void start_end(mpi_handle window, int result)
{
    call_outside();
    if (result == MPI_OK)
        epochs_started(epochs_of(window));
    call_inside();
}

static void wait_end(mpi_handle window, bool over)
{
    call_outside();
    if (over)
        epochs_waited(epochs_of(window));
    call_inside();
}

/* Before MPI's own function: `give` gets the group's ranks in the window. */
static void group_give(mpi_handle group, mpi_handle window,
                       void (*give)(struct epochs *epochs, const int *ranks, int count))
{
    struct epochs *epochs = epochs_of(window);
    mpi_handle all = 0;
    int count = 0;
    if (!epochs || PMPI(Group_size)(group, &count) != MPI_OK || count < 1 ||
        PMPI(Win_get_group)(window, &all) != MPI_OK)
        return;
    int *ranks = malloc(2 * (size_t)count * sizeof *ranks);
    for (int i = 0; ranks && i < count; i++)
        ranks[i] = i;
    if (ranks && PMPI(Group_translate_ranks)(group, count, ranks, handle_at(&all, 0),
                                             ranks + count) == MPI_OK)
        give(epochs, ranks + count, count);
    PMPI(Group_free)(&all);
    free(ranks);
}

/* "A call to MPI_WIN_FENCE [with] MPI_MODE_NOPRECEDE does not necessarily act as a barrier" (MPI
 * 3.1, 11.5.1). */
static void fence_end(int assertion, mpi_handle window, int result)
{
    int size = 0;
    call_outside();
    if (result == MPI_OK)
        window_finished(handle_value(window), WINDOW_ANY_TARGET);
    if (call_shared.links && !(assertion & abi.no_precede)) {
        const uint64_t key = window_fence(handle_value(window), &size);
        if (key)
            follow_barrier(key, size);
        else
            follow_lack(CSAN_LACK_COMMUNICATOR);
    }
    call_inside();
}

#define FENCE        (int assertion, mpi_handle window)
#define FENCE_NAMES  (assertion, window)
#define RANK         (int rank, mpi_handle window)
#define RANK_NAMES   (rank, window)
#define WINDOW       (mpi_handle window)
#define WINDOW_NAMES (window)
#define LOCK         (int type, int rank, int assertion, mpi_handle window)
#define LOCK_NAMES   (type, rank, assertion, window)
#define GROUP        (mpi_handle group, int assertion, mpi_handle window)
#define GROUP_NAMES  (group, assertion, window)
#define TEST         (mpi_handle window, int *flag)
#define TEST_NAMES   (window, flag)

WRAPPER(Win_fence, FENCE, FENCE_NAMES, FENCE_NAMES, , fence_end(assertion, window, result))

WRAPPER(Win_lock, LOCK, LOCK_NAMES, LOCK_NAMES, ,
        lock_end(window, rank, type == abi.lock_shared, assertion, result))
WRAPPER(Win_lock_all, FENCE, FENCE_NAMES, FENCE_NAMES, ,
        lock_end(window, EPOCH_ALL, true, assertion, result))
WRAPPER(Win_unlock, RANK, RANK_NAMES, RANK_NAMES, epochs_unlock(epochs_of(window), rank),
        unlock_end(window, rank, result))
WRAPPER(Win_unlock_all, WINDOW, WINDOW_NAMES, WINDOW_NAMES,
        epochs_unlock(epochs_of(window), EPOCH_ALL), unlock_end(window, WINDOW_ANY_TARGET, result))

#define FLUSHES(name, parameters, names, target, local)                                            \
    WRAPPER(name, parameters, names, names, , flush_end(window, target, local, result))

FLUSHES(Win_flush, RANK, RANK_NAMES, rank, false)
FLUSHES(Win_flush_all, WINDOW, WINDOW_NAMES, WINDOW_ANY_TARGET, false)
FLUSHES(Win_flush_local, RANK, RANK_NAMES, rank, true)
FLUSHES(Win_flush_local_all, WINDOW, WINDOW_NAMES, WINDOW_ANY_TARGET, true)

WRAPPER(Win_post, GROUP, GROUP_NAMES, GROUP_NAMES, group_give(group, window, epochs_post), )
WRAPPER(Win_start, GROUP, GROUP_NAMES, GROUP_NAMES, group_give(group, window, epochs_start),
        start_end(window, result))
WRAPPER(Win_complete, WINDOW, WINDOW_NAMES, WINDOW_NAMES, epochs_complete(epochs_of(window)),
        complete_end(window, result))
WRAPPER(Win_wait, WINDOW, WINDOW_NAMES, WINDOW_NAMES, , wait_end(window, result == MPI_OK))
WRAPPER(Win_test, TEST, TEST_NAMES, TEST_NAMES, , wait_end(window, result == MPI_OK && *flag))
WRAPPER(Win_sync, WINDOW, WINDOW_NAMES, WINDOW_NAMES, epochs_looked(epochs_of(window)), )
