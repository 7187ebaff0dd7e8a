/* The process begins to use MPI; datatypes that are freed; packing. */
#include "runtime/mpi/call.h"
#include "runtime/mpi/communicator.h"
#include "runtime/mpi/exported.h"
#include "runtime/mpi/functions.h"

enum { THREAD_MULTIPLE = 3 }; /* in both families */

/* A rank that others started comes after what they did, but csan does not know which ones. */
static void started(int result)
{
    if (result != MPI_OK || !call_shared.links)
        return;
    communicators_start();
    const bool spawned = communicators_spawned();
    call_outside();
    if (spawned)
        follow_lack(CSAN_LACK_COMMUNICATOR);
    call_inside();
}

EXPORTED int MPI_Init(int *count, char ***arguments);
int MPI_Init(int *count, char ***arguments)
{
    struct call call;
    if (!call_begin(&call, "MPI_Init"))
        return PMPI(Init)(count, arguments);
    call_count_start(false);
    call_inside();
    const int result = PMPI(Init)(count, arguments);
    started(result);
    return call_end(&call, result);
}
ALSO_PMPI(Init)

EXPORTED int MPI_Init_thread(int *count, char ***arguments, int required, int *provided);
int MPI_Init_thread(int *count, char ***arguments, int required, int *provided)
{
    struct call call;
    if (!call_begin(&call, "MPI_Init_thread"))
        return PMPI(Init_thread)(count, arguments, required, provided);
    call_count_start(required == THREAD_MULTIPLE);
    call_inside();
    const int result = PMPI(Init_thread)(count, arguments, required, provided);
    started(result);
    return call_end(&call, result);
}
ALSO_PMPI(Init_thread)

/* MPI 4.0, 11.3: in place of the two, or beside them. Its threads may be any. */
EXPORTED int MPI_Session_init(mpi_handle info, mpi_handle errors, void *session);
int MPI_Session_init(mpi_handle info, mpi_handle errors, void *session)
{
    struct call call;
    if (!call_begin(&call, "MPI_Session_init"))
        return PMPI(Session_init)(info, errors, session);
    call_count_start(true);
    call_inside();
    return call_end(&call, PMPI(Session_init)(info, errors, session));
}
ALSO_PMPI(Session_init)

EXPORTED int MPI_Finalize(void);
int MPI_Finalize(void)
{
    struct call call;
    if (!call_begin(&call, "MPI_Finalize"))
        return PMPI(Finalize)();
    call_inside();
    return call_end(&call, PMPI(Finalize)());
}
ALSO_PMPI(Finalize)

EXPORTED int MPI_Type_free(void *type);
int MPI_Type_free(void *type)
{
    call_type_freed();
    return PMPI(Type_free)(type);
}
ALSO_PMPI(Type_free)

/* ---- Packing: the host reads and writes ---- */

EXPORTED int MPI_Pack(const void *inbuf, int incount, mpi_handle type, void *outbuf, int outsize,
                      int *position, mpi_handle comm);
int MPI_Pack(const void *inbuf, int incount, mpi_handle type, void *outbuf, int outsize,
             int *position, mpi_handle comm)
{
    struct call call;
    if (!call_begin(&call, "MPI_Pack"))
        return PMPI(Pack)(inbuf, incount, type, outbuf, outsize, position, comm);
    call_reads(&call, inbuf, incount, type, ARGUMENT_INBUF);
    call_collective(&call, incount, type, CALL_NO_ROOT, comm);
    call_touches(&call);
    call_inside();
    return call_end(&call, PMPI(Pack)(call_usable(&call, inbuf, ARGUMENT_INBUF), incount, type,
                                      call_usable(&call, outbuf, ARGUMENT_OUTBUF), outsize,
                                      position, comm));
}
ALSO_PMPI(Pack)

EXPORTED int MPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
                        mpi_handle type, mpi_handle comm);
int MPI_Unpack(const void *inbuf, int insize, int *position, void *outbuf, int outcount,
               mpi_handle type, mpi_handle comm)
{
    struct call call;
    if (!call_begin(&call, "MPI_Unpack"))
        return PMPI(Unpack)(inbuf, insize, position, outbuf, outcount, type, comm);
    call_writes(&call, outbuf, outcount, type, ARGUMENT_OUTBUF);
    call_collective(&call, outcount, type, CALL_NO_ROOT, comm);
    call_touches(&call);
    call_inside();
    return call_end(&call, PMPI(Unpack)(call_usable(&call, inbuf, ARGUMENT_INBUF), insize, position,
                                        call_usable(&call, outbuf, ARGUMENT_OUTBUF), outcount, type,
                                        comm));
}
ALSO_PMPI(Unpack)
