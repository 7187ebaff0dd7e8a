/* One-sided communication (MPI 3.1, chapter 11). What an operation does with the caller's own
 * buffers lasts until its epoch ends there: a fence, complete, unlock or flush. An operation to the
 * calling rank itself also touches the window's memory. What other ranks do with this rank's window
 * is not seen here. */
#include "runtime/mpi/call.h"
#include "runtime/mpi/exported.h"
#include "runtime/mpi/functions.h"
#include "runtime/mpi/request.h"
#include "runtime/mpi/window.h"

/* ---- Windows ---- */

EXPORTED int MPI_Win_create(void *base, mpi_aint bytes, int unit, mpi_handle info, mpi_handle comm,
                            void *window);
int MPI_Win_create(void *base, mpi_aint bytes, int unit, mpi_handle info, mpi_handle comm,
                   void *window)
{
    struct call call;
    if (!call_begin(&call, "MPI_Win_create"))
        return PMPI(Win_create)(base, bytes, unit, info, comm, window);
    struct window_memory memory = {base, call_view(base), bytes, unit, 0};
    call_inside();
    const int result =
        PMPI(Win_create)((void *)(uintptr_t)memory.view, bytes, unit, info, comm, window);
    PMPI(Comm_rank)(comm, &memory.rank);
    if (result == MPI_OK)
        window_created(handle_at(window, 0), &memory);
    return call_end(&call, result);
}
ALSO_PMPI(Win_create)

#define ALLOCATES(name)                                                                            \
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
        struct window_memory memory = {NULL, NULL, bytes, unit, 0};                                \
        PMPI(Comm_rank)(comm, &memory.rank);                                                       \
        if (result == MPI_OK) {                                                                    \
            memory.base = memory.view = *(void **)base;                                            \
            window_created(handle_at(window, 0), &memory);                                         \
        }                                                                                          \
        return call_end(&call, result);                                                            \
    }                                                                                              \
    ALSO_PMPI(name)
ALLOCATES(Win_allocate)
ALLOCATES(Win_allocate_shared)

EXPORTED int MPI_Win_create_dynamic(mpi_handle info, mpi_handle comm, void *window);
int MPI_Win_create_dynamic(mpi_handle info, mpi_handle comm, void *window)
{
    struct call call;
    if (!call_begin(&call, "MPI_Win_create_dynamic"))
        return PMPI(Win_create_dynamic)(info, comm, window);
    struct window_memory memory = {NULL, NULL, 0, 1, 0};
    call_inside();
    const int result = PMPI(Win_create_dynamic)(info, comm, window);
    PMPI(Comm_rank)(comm, &memory.rank);
    if (result == MPI_OK)
        window_created(handle_at(window, 0), &memory);
    return call_end(&call, result);
}
ALSO_PMPI(Win_create_dynamic)

EXPORTED int MPI_Win_free(void *window);
int MPI_Win_free(void *window)
{
    struct call call;
    if (!call_begin(&call, "MPI_Win_free"))
        return PMPI(Win_free)(window);
    const mpi_handle handle = handle_at(window, 0);
    call_inside();
    const int result = PMPI(Win_free)(window);
    call_outside();
    window_freed(handle);
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

static bool begin_operation(struct call *call, const char *name, const void *origin, int kind,
                            mpi_handle window, const char *direction, TARGET)
{
    if (!call_begin(call, name))
        return false;
    call_peer(call, origin_count, origin_type, direction, target, CALL_NO_TAG, 0);
    if (target == abi.proc_null)
        return true;
    call_buffer(call, origin, origin_count, origin_type, kind, ARGUMENT_ORIGIN);
    touch_window(call, window, target, place, target_count, target_type,
                 kind == CSAN_READ ? CSAN_WRITE : CSAN_READ);
    return true;
}

#define OPERATION(name, direction, kind, origin_parameter)                                         \
    EXPORTED int MPI_##name(origin_parameter, TARGET, mpi_handle window);                          \
    int MPI_##name(origin_parameter, TARGET, mpi_handle window)                                    \
    {                                                                                              \
        struct call call;                                                                          \
        if (!begin_operation(&call, "MPI_" #name, origin, kind, window, direction, TARGET_NAMES))  \
            return PMPI(name)(origin, TARGET_NAMES, window);                                       \
        call_starts(&call);                                                                        \
        call_inside();                                                                             \
        const int result =                                                                         \
            PMPI(name)(call_usable(&call, origin, ARGUMENT_ORIGIN), TARGET_NAMES, window);         \
        window_started(handle_value(window), target, &call);                                       \
        return call_end(&call, result);                                                            \
    }                                                                                              \
    ALSO_PMPI(name)

/* The form with a request, whose name has a small letter. */
#define OPERATION_REQUEST(name, direction, kind, origin_parameter)                                 \
    EXPORTED int MPI_##name(origin_parameter, TARGET, mpi_handle window, void *request);           \
    int MPI_##name(origin_parameter, TARGET, mpi_handle window, void *request)                     \
    {                                                                                              \
        struct call call;                                                                          \
        if (!begin_operation(&call, "MPI_" #name, origin, kind, window, direction, TARGET_NAMES))  \
            return PMPI(name)(origin, TARGET_NAMES, window, request);                              \
        call_starts(&call);                                                                        \
        call_inside();                                                                             \
        const int result = PMPI(name)(call_usable(&call, origin, ARGUMENT_ORIGIN), TARGET_NAMES,   \
                                      window, request);                                            \
        request_started(&call, result, request);                                                   \
        return call_end(&call, result);                                                            \
    }                                                                                              \
    ALSO_PMPI(name)

OPERATION(Put, "to", CSAN_READ, const void *origin)
OPERATION(Get, "from", CSAN_WRITE, void *origin)
OPERATION_REQUEST(Rput, "to", CSAN_READ, const void *origin)
OPERATION_REQUEST(Rget, "from", CSAN_WRITE, void *origin)

/* An accumulate also has an operation of reduction. */
#define ACCUMULATE                                                                                 \
    const void *origin, int origin_count, mpi_handle origin_type, int target, mpi_aint place,      \
        int target_count, mpi_handle target_type, mpi_handle op, mpi_handle window

EXPORTED int MPI_Accumulate(ACCUMULATE);
int MPI_Accumulate(ACCUMULATE)
{
    struct call call;
    if (!begin_operation(&call, "MPI_Accumulate", origin, CSAN_READ, window, "to", TARGET_NAMES))
        return PMPI(Accumulate)(origin, TARGET_NAMES, op, window);
    call_starts(&call);
    call_inside();
    const int result =
        PMPI(Accumulate)(call_usable(&call, origin, ARGUMENT_ORIGIN), TARGET_NAMES, op, window);
    window_started(handle_value(window), target, &call);
    return call_end(&call, result);
}
ALSO_PMPI(Accumulate)

EXPORTED int MPI_Raccumulate(ACCUMULATE, void *request);
int MPI_Raccumulate(ACCUMULATE, void *request)
{
    struct call call;
    if (!begin_operation(&call, "MPI_Raccumulate", origin, CSAN_READ, window, "to", TARGET_NAMES))
        return PMPI(Raccumulate)(origin, TARGET_NAMES, op, window, request);
    call_starts(&call);
    call_inside();
    const int result = PMPI(Raccumulate)(call_usable(&call, origin, ARGUMENT_ORIGIN), TARGET_NAMES,
                                         op, window, request);
    request_started(&call, result, request);
    return call_end(&call, result);
}
ALSO_PMPI(Raccumulate)

/* ... and one that fetches writes what was there. */
#define GET_ACCUMULATE                                                                             \
    const void *origin, int origin_count, mpi_handle origin_type, void *fetched,                   \
        int fetched_count, mpi_handle fetched_type, int target, mpi_aint place, int target_count,  \
        mpi_handle target_type, mpi_handle op, mpi_handle window
#define GET_ACCUMULATE_REST                                                                        \
    fetched_count, fetched_type, target, place, target_count, target_type, op, window

static bool begin_get_accumulate(struct call *call, const char *name, GET_ACCUMULATE)
{
    (void)op;
    if (!begin_operation(call, name, origin, CSAN_READ, window, "to", TARGET_NAMES))
        return false;
    if (target != abi.proc_null)
        call_writes(call, fetched, fetched_count, fetched_type, ARGUMENT_RESULT);
    return true;
}

EXPORTED int MPI_Get_accumulate(GET_ACCUMULATE);
int MPI_Get_accumulate(GET_ACCUMULATE)
{
    struct call call;
    if (!begin_get_accumulate(&call, "MPI_Get_accumulate", origin, origin_count, origin_type,
                              fetched, GET_ACCUMULATE_REST))
        return PMPI(Get_accumulate)(origin, origin_count, origin_type, fetched,
                                    GET_ACCUMULATE_REST);
    call_starts(&call);
    call_inside();
    const int result =
        PMPI(Get_accumulate)(call_usable(&call, origin, ARGUMENT_ORIGIN), origin_count, origin_type,
                             call_usable(&call, fetched, ARGUMENT_RESULT), GET_ACCUMULATE_REST);
    window_started(handle_value(window), target, &call);
    return call_end(&call, result);
}
ALSO_PMPI(Get_accumulate)

EXPORTED int MPI_Rget_accumulate(GET_ACCUMULATE, void *request);
int MPI_Rget_accumulate(GET_ACCUMULATE, void *request)
{
    struct call call;
    if (!begin_get_accumulate(&call, "MPI_Rget_accumulate", origin, origin_count, origin_type,
                              fetched, GET_ACCUMULATE_REST))
        return PMPI(Rget_accumulate)(origin, origin_count, origin_type, fetched,
                                     GET_ACCUMULATE_REST, request);
    call_starts(&call);
    call_inside();
    const int result = PMPI(Rget_accumulate)(
        call_usable(&call, origin, ARGUMENT_ORIGIN), origin_count, origin_type,
        call_usable(&call, fetched, ARGUMENT_RESULT), GET_ACCUMULATE_REST, request);
    request_started(&call, result, request);
    return call_end(&call, result);
}
ALSO_PMPI(Rget_accumulate)

EXPORTED int MPI_Fetch_and_op(const void *origin, void *fetched, mpi_handle type, int target,
                              mpi_aint place, mpi_handle op, mpi_handle window);
int MPI_Fetch_and_op(const void *origin, void *fetched, mpi_handle type, int target, mpi_aint place,
                     mpi_handle op, mpi_handle window)
{
    struct call call;
    if (!begin_operation(&call, "MPI_Fetch_and_op", origin, CSAN_READ, window, "to", 1, type,
                         target, place, 1, type))
        return PMPI(Fetch_and_op)(origin, fetched, type, target, place, op, window);
    if (target != abi.proc_null)
        call_writes(&call, fetched, 1, type, ARGUMENT_RESULT);
    call_starts(&call);
    call_inside();
    const int result = PMPI(Fetch_and_op)(call_usable(&call, origin, ARGUMENT_ORIGIN),
                                          call_usable(&call, fetched, ARGUMENT_RESULT), type,
                                          target, place, op, window);
    window_started(handle_value(window), target, &call);
    return call_end(&call, result);
}
ALSO_PMPI(Fetch_and_op)

EXPORTED int MPI_Compare_and_swap(const void *origin, const void *compared, void *fetched,
                                  mpi_handle type, int target, mpi_aint place, mpi_handle window);
int MPI_Compare_and_swap(const void *origin, const void *compared, void *fetched, mpi_handle type,
                         int target, mpi_aint place, mpi_handle window)
{
    struct call call;
    if (!begin_operation(&call, "MPI_Compare_and_swap", origin, CSAN_READ, window, "to", 1, type,
                         target, place, 1, type))
        return PMPI(Compare_and_swap)(origin, compared, fetched, type, target, place, window);
    if (target != abi.proc_null) {
        call_reads(&call, compared, 1, type, ARGUMENT_COMPARE);
        call_writes(&call, fetched, 1, type, ARGUMENT_RESULT);
    }
    call_starts(&call);
    call_inside();
    const int result = PMPI(Compare_and_swap)(
        call_usable(&call, origin, ARGUMENT_ORIGIN), call_usable(&call, compared, ARGUMENT_COMPARE),
        call_usable(&call, fetched, ARGUMENT_RESULT), type, target, place, window);
    window_started(handle_value(window), target, &call);
    return call_end(&call, result);
}
ALSO_PMPI(Compare_and_swap)

/* ---- Ends of epochs ---- */

#define ENDS(name, parameters, names, target)                                                      \
    EXPORTED int MPI_##name(parameters);                                                           \
    int MPI_##name(parameters)                                                                     \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, "MPI_" #name))                                                      \
            return PMPI(name)(names);                                                              \
        call_inside();                                                                             \
        const int result = PMPI(name)(names);                                                      \
        call_outside();                                                                            \
        if (result == MPI_OK)                                                                      \
            window_finished(handle_value(window), target);                                         \
        call_inside();                                                                             \
        return call_end(&call, result);                                                            \
    }                                                                                              \
    ALSO_PMPI(name)

#define FENCE        int assertion, mpi_handle window
#define FENCE_NAMES  assertion, window
#define RANK         int rank, mpi_handle window
#define RANK_NAMES   rank, window
#define WINDOW       mpi_handle window
#define WINDOW_NAMES window

ENDS(Win_fence, FENCE, FENCE_NAMES, WINDOW_ANY_TARGET)
ENDS(Win_unlock, RANK, RANK_NAMES, rank)
ENDS(Win_unlock_all, WINDOW, WINDOW_NAMES, WINDOW_ANY_TARGET)
ENDS(Win_flush, RANK, RANK_NAMES, rank)
ENDS(Win_flush_all, WINDOW, WINDOW_NAMES, WINDOW_ANY_TARGET)
ENDS(Win_flush_local, RANK, RANK_NAMES, rank)
ENDS(Win_flush_local_all, WINDOW, WINDOW_NAMES, WINDOW_ANY_TARGET)
ENDS(Win_complete, WINDOW, WINDOW_NAMES, WINDOW_ANY_TARGET)
