/* Messages from rank to rank (MPI 3.1, chapter 3). */
#include "runtime/mpi/functions.h"
#include "runtime/mpi/wrapper.h"

#define SEND_PARAMETERS                                                                            \
    const void *buf, int count, mpi_handle type, int dest, int tag, mpi_handle comm
#define SEND_ARGUMENTS(pass) pass(buf, ARGUMENT_BUF), count, type, dest, tag, comm
#define RECV_PARAMETERS      void *buf, int count, mpi_handle type, int source, int tag, mpi_handle comm
#define RECV_ARGUMENTS(pass) pass(buf, ARGUMENT_BUF), count, type, source, tag, comm

/* For recordings only. */
static uint64_t sent_bytes(int count, mpi_handle type)
{
    return call_shared.links && count > 0 ? (uint64_t)layout_size(type) * (uint64_t)count : 0;
}

static void touch_send(struct call *call, SEND_PARAMETERS)
{
    if (dest != abi.proc_null)
        call_reads(call, buf, count, type, ARGUMENT_BUF);
    call_peer(call, count, type, "to", dest, tag, comm);
    follow_send(call, dest, tag, comm, sent_bytes(count, type));
}

/* The sender also waits for the receiver. */
static void touch_synchronous(struct call *call, SEND_PARAMETERS)
{
    touch_send(call, SEND_ARGUMENTS(AS_IT_IS));
    follow_synchronous(call);
}

static void touch_receive(struct call *call, RECV_PARAMETERS)
{
    if (source != abi.proc_null)
        call_writes(call, buf, count, type, ARGUMENT_BUF);
    call_peer(call, count, type, "from", source, tag, comm);
    follow_receive(call, source, tag, comm);
}

#define PERSISTENT(name, stem, touch)                                                              \
    WRAPPER(name, (stem##_PARAMETERS, void *request), (stem##_ARGUMENTS(AS_IT_IS), request),       \
            (stem##_ARGUMENTS(USABLE), request), touch(&call, stem##_ARGUMENTS(AS_IT_IS)),         \
            request_made(&call, result, request))

/* ---- Sends ---- */

#define SEND(name, touch)                                                                          \
    EXPORTED int MPI_##name(SEND_PARAMETERS);                                                      \
    static __attribute__((noinline)) int name##_slow(SEND_PARAMETERS)                              \
    {                                                                                              \
        struct call call;                                                                          \
        if (!call_begin(&call, "MPI_" #name))                                                      \
            return PMPI(name)(SEND_ARGUMENTS(AS_IT_IS));                                           \
        touch(&call, SEND_ARGUMENTS(AS_IT_IS));                                                    \
        call_touches(&call);                                                                       \
        call_inside();                                                                             \
        return call_end(&call, PMPI(name)(SEND_ARGUMENTS(USABLE)));                                \
    }                                                                                              \
    int MPI_##name(SEND_PARAMETERS)                                                                \
    {                                                                                              \
        const struct known *known = call_known_place(buf, CSAN_READ);                              \
        if (!call_is_quick(known, buf, type, CSAN_READ) || known->count != count)                  \
            return name##_slow(SEND_ARGUMENTS(AS_IT_IS));                                          \
        call_count(1, known->bytes);                                                               \
        const uint32_t before = call_known_begin();                                                \
        const int result = PMPI(name)(known->view, count, type, dest, tag, comm);                  \
        call_known_end(before);                                                                    \
        return result;                                                                             \
    }                                                                                              \
    ALSO_PMPI(name)

SEND(Send, touch_send)
SEND(Bsend, touch_send)
SEND(Ssend, touch_synchronous)
SEND(Rsend, touch_send)
STARTING(Isend, SEND, touch_send)
STARTING(Ibsend, SEND, touch_send)
STARTING(Issend, SEND, touch_synchronous)
STARTING(Irsend, SEND, touch_send)
PERSISTENT(Send_init, SEND, touch_send)
PERSISTENT(Bsend_init, SEND, touch_send)
PERSISTENT(Ssend_init, SEND, touch_synchronous)
PERSISTENT(Rsend_init, SEND, touch_send)

/* ---- Receives ---- */

/* A status of the program's own, or one to look at. */
static void *status_of(void *status, void *own)
{
    return status == abi.status_ignore ? own : status;
}

/* What came: only that was written. */
static void note_received(struct call *call, size_t buffer, const void *status, int count,
                          mpi_handle type)
{
    const int *fields = status;
    int received = count;
    if (PMPI(Get_count)(status, type, &received) != MPI_OK || received == abi.undefined ||
        received < 0 || received > count)
        received = count;
    if (buffer < call->count)
        call->buffers[buffer].count = received;
    call->words.count = received;
    call->words.peer = fields[abi.status_source];
    call->words.tag = fields[abi.status_tag];
}

/* With the message in `status`. True: it wrote what the thread has declared already. */
static bool received_known(const struct known *known, const void *buf, mpi_handle type,
                           const void *status)
{
    return call_is_known(known, buf, type, CSAN_WRITE) && status_bytes(status) == known->bytes;
}

EXPORTED int MPI_Recv(RECV_PARAMETERS, void *status);

/* It has come, and wrote something else than the thread has declared. */
static __attribute__((noinline)) int recv_declare(RECV_PARAMETERS, const void *status, int result)
{
    struct call call;
    if (!call_begin(&call, "MPI_Recv"))
        return result;
    touch_receive(&call, RECV_ARGUMENTS(AS_IT_IS));
    note_received(&call, 0, status, count, type);
    call_touches(&call);
    call_inside();
    return call_end(&call, result);
}

static __attribute__((noinline)) int recv_slow(RECV_PARAMETERS, void *status)
{
    struct call call;
    uint64_t own[STATUS_BYTES / sizeof(uint64_t)];
    if (!call_begin(&call, "MPI_Recv"))
        return PMPI(Recv)(RECV_ARGUMENTS(AS_IT_IS), status);
    touch_receive(&call, RECV_ARGUMENTS(AS_IT_IS));
    void *looked_at = status_of(status, own);
    follow_begin(call.follow, false);
    call_inside();
    const int result = PMPI(Recv)(RECV_ARGUMENTS(USABLE), looked_at);
    if (result == MPI_OK && call.count)
        note_received(&call, 0, looked_at, count, type);
    call_outside();
    call.status = looked_at;
    if (!call.follow)
        call_received(&call);
    call_inside();
    return call_end(&call, result);
}

int MPI_Recv(RECV_PARAMETERS, void *status)
{
    uint64_t own[STATUS_BYTES / sizeof(uint64_t)];
    const struct known *known = call_known_place(buf, CSAN_WRITE);
    if (!call_is_quick(known, buf, type, CSAN_WRITE))
        return recv_slow(RECV_ARGUMENTS(AS_IT_IS), status);
    void *looked_at = status_of(status, own);
    const uint32_t before = call_known_begin();
    const int result =
        PMPI(Recv)((void *)(uintptr_t)known->view, count, type, source, tag, comm, looked_at);
    call_known_end(before);
    if (result == MPI_OK && !received_known(known, buf, type, looked_at))
        return recv_declare(RECV_ARGUMENTS(AS_IT_IS), looked_at, result);
    call_count(0, 0);
    return result;
}
ALSO_PMPI(Recv)

STARTING(Irecv, RECV, touch_receive)
PERSISTENT(Recv_init, RECV, touch_receive)

/* ---- Probes: from here on it is known that the message was sent ---- */

#define PROBE(name, parameters, arguments, found, taken)                                           \
    EXPORTED int MPI_##name parameters;                                                            \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        struct call call;                                                                          \
        uint64_t own[STATUS_BYTES / sizeof(uint64_t)];                                             \
        if (!call_shared.links || !call_begin(&call, "MPI_" #name))                                \
            return PMPI(name) arguments;                                                           \
        if (status == abi.status_ignore)                                                           \
            status = own;                                                                          \
        call_inside();                                                                             \
        const int result = PMPI(name) arguments;                                                   \
        call_outside();                                                                            \
        if (result == MPI_OK && (found))                                                           \
            follow_probed(source, comm, status, taken);                                            \
        call_inside();                                                                             \
        return call_end(&call, result);                                                            \
    }                                                                                              \
    ALSO_PMPI(name)

PROBE(Probe, (int source, int tag, mpi_handle comm, void *status), (source, tag, comm, status),
      true, NULL)
PROBE(Iprobe, (int source, int tag, mpi_handle comm, int *flag, void *status),
      (source, tag, comm, flag, status), *flag, NULL)
PROBE(Mprobe, (int source, int tag, mpi_handle comm, void *message, void *status),
      (source, tag, comm, message, status), true, message)
PROBE(Improbe, (int source, int tag, mpi_handle comm, int *flag, void *message, void *status),
      (source, tag, comm, flag, message, status), *flag, message)

/* ---- Matched receives: the probe has taken the message ---- */

#define MRECV_PARAMETERS      void *buf, int count, mpi_handle type, void *message
#define MRECV_ARGUMENTS(pass) pass(buf, ARGUMENT_BUF), count, type, message

EXPORTED int MPI_Mrecv(MRECV_PARAMETERS, void *status);
int MPI_Mrecv(MRECV_PARAMETERS, void *status)
{
    struct call call;
    uint64_t own[STATUS_BYTES / sizeof(uint64_t)];
    if (!call_begin(&call, "MPI_Mrecv"))
        return PMPI(Mrecv)(MRECV_ARGUMENTS(AS_IT_IS), status);
    void *looked_at = status_of(status, own);
    follow_matched(message);
    call_writes(&call, buf, count, type, ARGUMENT_BUF);
    call_peer(&call, count, type, "from", 0, 0, 0);
    call.words.has_comm = false;
    call_inside();
    const int result = PMPI(Mrecv)(MRECV_ARGUMENTS(USABLE), looked_at);
    if (result == MPI_OK)
        note_received(&call, 0, looked_at, count, type);
    call_outside();
    call_touches(&call);
    call_inside();
    return call_end(&call, result);
}
ALSO_PMPI(Mrecv)

static void touch_matched(struct call *call, MRECV_PARAMETERS)
{
    follow_matched(message);
    call_writes(call, buf, count, type, ARGUMENT_BUF);
    call_peer(call, count, type, NULL, 0, CALL_NO_TAG, 0);
}
STARTING(Imrecv, MRECV, touch_matched)

/* ---- Both at once ---- */

EXPORTED int MPI_Sendrecv(const void *sendbuf, int sendcount, mpi_handle sendtype, int dest,
                          int sendtag, void *recvbuf, int recvcount, mpi_handle recvtype,
                          int source, int recvtag, mpi_handle comm, void *status);
int MPI_Sendrecv(const void *sendbuf, int sendcount, mpi_handle sendtype, int dest, int sendtag,
                 void *recvbuf, int recvcount, mpi_handle recvtype, int source, int recvtag,
                 mpi_handle comm, void *status)
{
    struct call call;
    uint64_t own[STATUS_BYTES / sizeof(uint64_t)];
    if (!call_begin(&call, "MPI_Sendrecv"))
        return PMPI(Sendrecv)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                              recvtype, source, recvtag, comm, status);
    if (dest != abi.proc_null)
        call_reads(&call, sendbuf, sendcount, sendtype, ARGUMENT_SENDBUF);
    if (source != abi.proc_null)
        call_writes(&call, recvbuf, recvcount, recvtype, ARGUMENT_RECVBUF);
    call_peer(&call, sendcount, sendtype, "to", dest, sendtag, comm);
    follow_send(&call, dest, sendtag, comm, sent_bytes(sendcount, sendtype));
    follow_receive(&call, source, recvtag, comm);
    call_touches(&call);
    void *looked_at = status_of(status, own);
    call.status = looked_at;
    call_inside();
    const int result =
        PMPI(Sendrecv)(call_usable(&call, sendbuf, ARGUMENT_SENDBUF), sendcount, sendtype, dest,
                       sendtag, call_usable(&call, recvbuf, ARGUMENT_RECVBUF), recvcount, recvtype,
                       source, recvtag, comm, looked_at);
    return call_end(&call, result);
}
ALSO_PMPI(Sendrecv)

EXPORTED int MPI_Sendrecv_replace(void *buf, int count, mpi_handle type, int dest, int sendtag,
                                  int source, int recvtag, mpi_handle comm, void *status);
int MPI_Sendrecv_replace(void *buf, int count, mpi_handle type, int dest, int sendtag, int source,
                         int recvtag, mpi_handle comm, void *status)
{
    struct call call;
    uint64_t own[STATUS_BYTES / sizeof(uint64_t)];
    if (!call_begin(&call, "MPI_Sendrecv_replace"))
        return PMPI(Sendrecv_replace)(buf, count, type, dest, sendtag, source, recvtag, comm,
                                      status);
    if (dest != abi.proc_null)
        call_reads(&call, buf, count, type, ARGUMENT_BUF);
    if (source != abi.proc_null)
        call_writes(&call, buf, count, type, ARGUMENT_BUF);
    call_peer(&call, count, type, "to", dest, sendtag, comm);
    follow_send(&call, dest, sendtag, comm, sent_bytes(count, type));
    follow_receive(&call, source, recvtag, comm);
    call_touches(&call);
    void *looked_at = status_of(status, own);
    call.status = looked_at;
    call_inside();
    const int result = PMPI(Sendrecv_replace)(call_usable(&call, buf, ARGUMENT_BUF), count, type,
                                              dest, sendtag, source, recvtag, comm, looked_at);
    return call_end(&call, result);
}
ALSO_PMPI(Sendrecv_replace)
