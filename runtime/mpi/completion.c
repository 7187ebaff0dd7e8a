/* Requests are started, waited for, tested, freed (MPI 3.1, 3.7 and 3.9). What was started is
 * ordered before what the program does once it knows that it has finished. */
#include "runtime/mpi/call.h"
#include "runtime/mpi/exported.h"
#include "runtime/mpi/functions.h"
#include "runtime/mpi/request.h"

#include <stdlib.h>

/* ---- Statuses ----
 *
 * What a receive had says its status. Where the program ignores it and messages are followed, MPI
 * writes one here. */

struct statuses {
    void *use; /* for MPI */
    bool known;
    uint64_t *many, one[STATUS_BYTES / sizeof(uint64_t)];
};

static void statuses_begin(struct statuses *statuses, void *given, const void *ignored, int count)
{
    statuses->use = given;
    statuses->many = NULL;
    statuses->known = given != ignored;
    if (statuses->known || !call_shared.links || count < 1)
        return;
    if (count > 1)
        statuses->many = calloc((size_t)count, (size_t)abi.status_size);
    if (count > 1 && !statuses->many)
        return;
    statuses->use = count > 1 ? statuses->many : statuses->one;
    statuses->known = true;
}

static void statuses_end(struct statuses *statuses)
{
    free(statuses->many);
}

/* NULL: it is not known. */
static const void *status_at(const struct statuses *statuses, int index)
{
    return statuses->known ? (const char *)statuses->use + (ptrdiff_t)index * abi.status_size
                           : NULL;
}

/* ---- Start ---- */

EXPORTED int MPI_Start(void *request);
int MPI_Start(void *request)
{
    struct call call;
    if (!call_begin(&call, "MPI_Start"))
        return PMPI(Start)(request);
    request_persistent_start(handle_at(request, 0), request, call.name);
    call_inside();
    return call_end(&call, PMPI(Start)(request));
}
ALSO_PMPI(Start)

EXPORTED int MPI_Startall(int count, void *requests);
int MPI_Startall(int count, void *requests)
{
    struct call call;
    if (!call_begin(&call, "MPI_Startall"))
        return PMPI(Startall)(count, requests);
    for (int i = 0; i < count; i++)
        request_persistent_start(handle_at(requests, (size_t)i), handle_place(requests, (size_t)i),
                                 call.name);
    call_inside();
    return call_end(&call, PMPI(Startall)(count, requests));
}
ALSO_PMPI(Startall)

/* ---- One ---- */

EXPORTED int MPI_Wait(void *request, void *status);
int MPI_Wait(void *request, void *status)
{
    struct call call;
    if (!call_begin(&call, "MPI_Wait"))
        return PMPI(Wait)(request, status);
    struct statuses statuses;
    statuses_begin(&statuses, status, abi.status_ignore, 1);
    const struct request_name name = request_name(request, 0);
    call_inside();
    const int result = PMPI(Wait)(request, statuses.use);
    call_outside();
    request_finished(name, status_at(&statuses, 0));
    call_inside();
    return call_end(&call, result);
}
ALSO_PMPI(Wait)

EXPORTED int MPI_Test(void *request, int *flag, void *status);
int MPI_Test(void *request, int *flag, void *status)
{
    struct call call;
    if (!call_begin(&call, "MPI_Test"))
        return PMPI(Test)(request, flag, status);
    struct statuses statuses;
    statuses_begin(&statuses, status, abi.status_ignore, 1);
    const struct request_name name = request_name(request, 0);
    call_inside();
    const int result = PMPI(Test)(request, flag, statuses.use);
    call_outside();
    if (result == MPI_OK && *flag)
        request_finished(name, status_at(&statuses, 0));
    call_inside();
    return call_end(&call, result);
}
ALSO_PMPI(Test)

EXPORTED int MPI_Request_get_status(mpi_handle request, int *flag, void *status);
int MPI_Request_get_status(mpi_handle request, int *flag, void *status)
{
    struct call call;
    if (!call_begin(&call, "MPI_Request_get_status"))
        return PMPI(Request_get_status)(request, flag, status);
    struct statuses statuses;
    statuses_begin(&statuses, status, abi.status_ignore, 1);
    call_inside();
    const int result = PMPI(Request_get_status)(request, flag, statuses.use);
    call_outside();
    if (result == MPI_OK && *flag)
        request_known((struct request_name){handle_value(request), NULL}, status_at(&statuses, 0));
    call_inside();
    return call_end(&call, result);
}
ALSO_PMPI(Request_get_status)

EXPORTED int MPI_Request_free(void *request);
int MPI_Request_free(void *request)
{
    struct call call;
    if (!call_begin(&call, "MPI_Request_free"))
        return PMPI(Request_free)(request);
    request_freed(request_name(request, 0));
    call_inside();
    return call_end(&call, PMPI(Request_free)(request));
}
ALSO_PMPI(Request_free)

/* ---- All ---- */

static void all_finished(const struct request_name *names, int count,
                         const struct statuses *statuses)
{
    for (int i = 0; names && i < count; i++)
        request_finished(names[i], status_at(statuses, i));
}

EXPORTED int MPI_Waitall(int count, void *requests, void *statuses);
int MPI_Waitall(int count, void *requests, void *statuses)
{
    struct call call;
    if (!call_begin(&call, "MPI_Waitall"))
        return PMPI(Waitall)(count, requests, statuses);
    struct statuses all;
    struct request_name *names = request_names(requests, count);
    statuses_begin(&all, statuses, abi.statuses_ignore, count);
    call_inside();
    const int result = PMPI(Waitall)(count, requests, all.use);
    call_outside();
    all_finished(names, count, &all);
    statuses_end(&all);
    free(names);
    call_inside();
    return call_end(&call, result);
}
ALSO_PMPI(Waitall)

EXPORTED int MPI_Testall(int count, void *requests, int *flag, void *statuses);
int MPI_Testall(int count, void *requests, int *flag, void *statuses)
{
    struct call call;
    if (!call_begin(&call, "MPI_Testall"))
        return PMPI(Testall)(count, requests, flag, statuses);
    struct statuses all;
    struct request_name *names = request_names(requests, count);
    statuses_begin(&all, statuses, abi.statuses_ignore, count);
    call_inside();
    const int result = PMPI(Testall)(count, requests, flag, all.use);
    call_outside();
    if (result == MPI_OK && *flag)
        all_finished(names, count, &all);
    statuses_end(&all);
    free(names);
    call_inside();
    return call_end(&call, result);
}
ALSO_PMPI(Testall)

/* ---- Any ---- */

static void one_finished(const struct request_name *names, int count, int index, const void *status)
{
    if (names && index >= 0 && index < count)
        request_finished(names[index], status);
}

EXPORTED int MPI_Waitany(int count, void *requests, int *index, void *status);
int MPI_Waitany(int count, void *requests, int *index, void *status)
{
    struct call call;
    if (!call_begin(&call, "MPI_Waitany"))
        return PMPI(Waitany)(count, requests, index, status);
    struct statuses one;
    struct request_name *names = request_names(requests, count);
    statuses_begin(&one, status, abi.status_ignore, 1);
    call_inside();
    const int result = PMPI(Waitany)(count, requests, index, one.use);
    call_outside();
    if (result == MPI_OK)
        one_finished(names, count, *index, status_at(&one, 0));
    free(names);
    call_inside();
    return call_end(&call, result);
}
ALSO_PMPI(Waitany)

EXPORTED int MPI_Testany(int count, void *requests, int *index, int *flag, void *status);
int MPI_Testany(int count, void *requests, int *index, int *flag, void *status)
{
    struct call call;
    if (!call_begin(&call, "MPI_Testany"))
        return PMPI(Testany)(count, requests, index, flag, status);
    struct statuses one;
    struct request_name *names = request_names(requests, count);
    statuses_begin(&one, status, abi.status_ignore, 1);
    call_inside();
    const int result = PMPI(Testany)(count, requests, index, flag, one.use);
    call_outside();
    if (result == MPI_OK && *flag)
        one_finished(names, count, *index, status_at(&one, 0));
    free(names);
    call_inside();
    return call_end(&call, result);
}
ALSO_PMPI(Testany)

/* ---- Some ---- */

#define SOME(name)                                                                                 \
    EXPORTED int MPI_##name(int count, void *requests, int *done, int *indices, void *statuses);   \
    int MPI_##name(int count, void *requests, int *done, int *indices, void *statuses)             \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, "MPI_" #name))                                                      \
            return PMPI(name)(count, requests, done, indices, statuses);                           \
        struct statuses all;                                                                       \
        struct request_name *names = request_names(requests, count);                               \
        statuses_begin(&all, statuses, abi.statuses_ignore, count);                                \
        call_inside();                                                                             \
        const int result = PMPI(name)(count, requests, done, indices, all.use);                    \
        call_outside();                                                                            \
        for (int i = 0; result == MPI_OK && i < *done; i++)                                        \
            one_finished(names, count, indices[i], status_at(&all, i));                            \
        statuses_end(&all);                                                                        \
        free(names);                                                                               \
        call_inside();                                                                             \
        return call_end(&call, result);                                                            \
    }                                                                                              \
    ALSO_PMPI(name)

SOME(Waitsome)
SOME(Testsome)

/* ---- Cancel: the wait that follows says whether it was ---- */

EXPORTED int MPI_Cancel(void *request);
int MPI_Cancel(void *request)
{
    follow_cancels();
    return PMPI(Cancel)(request);
}
ALSO_PMPI(Cancel)
