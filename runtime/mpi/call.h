/* One call of MPI's, from the moment when the program makes it.
 *
 *     struct call call;
 *     if (!call_begin(&call, "MPI_Send"))      off, or MPI calls itself
 *         return PMPI(Send)(...);
 *     call_reads(&call, ...);                  what it touches
 *     call_touches(&call);                     ... is the host's
 *     call_inside(&call);                      what MPI does with CUDA now is its own affair
 *     const int result = PMPI(Send)(...);
 *     return call_end(&call, result);
 *
 * wrapper.h writes this for most functions. A call that starts a request says call_starts in place
 * of call_touches, and request_started behind the real call (request.h). Buffers in
 * device memory that the host cannot reach are replaced by the host's view of them, or by a copy
 * (call_usable), so that an MPI without CUDA can move them. */
#ifndef RUNTIME_MPI_CALL_H
#define RUNTIME_MPI_CALL_H

#include "runtime/mpi/abi.h"
#include "runtime/mpi/follow.h"
#include "runtime/mpi/layout.h"
#include "runtime/mpi/stage.h"

#include <csan/csan.h>

enum { CALL_BUFFERS = 8, CALL_KNOWN = 64 };

/* What the arguments of MPI's functions are called, as reports show them. */
enum call_argument {
    ARGUMENT_BUF,
    ARGUMENT_SENDBUF,
    ARGUMENT_RECVBUF,
    ARGUMENT_BUFFER,
    ARGUMENT_ORIGIN,
    ARGUMENT_RESULT,
    ARGUMENT_COMPARE,
    ARGUMENT_INBUF,
    ARGUMENT_OUTBUF,
    ARGUMENT_WINDOW,
    ARGUMENTS
};

struct buffer {
    const void *address;
    int64_t count;
    mpi_handle type;
    uint8_t kind; /* CSAN_READ or CSAN_WRITE */
    uint8_t argument;
};

/* What a report says of a call beside its name. */
struct call_words {
    int64_t count;
    mpi_handle type;
    const char *direction; /* "to", "from"; NULL: no peer */
    int peer, tag, root;
    mpi_handle comm;
    bool has_type, has_tag, has_root, has_comm;
};

struct call {
    const char *name;
    struct buffer *buffers, own[CALL_BUFFERS];
    size_t count, capacity;
    struct call_words words;
    uint64_t request;      /* csan's number of what it started; or 0 */
    struct stage *stages;  /* copies of its buffers; or NULL */
    struct follow *follow; /* what it orders between processes, if that is recorded; or NULL */
    const void *status;    /* of what it received; NULL: not known */
};

/* ---- What was declared already ----
 *
 * A thread remembers the buffers that it declared, and csan's counters then (csan_activity). A call
 * that touches the same again, while nothing else has happened, declares nothing: a ping-pong costs
 * a few loads. */

struct known {
    const void *address, *view; /* view: as MPI can use it; NULL: none is known */
    int64_t count;
    uint64_t bytes;
    mpi_handle type;
    uint64_t entered;
    uint32_t deferred, types; /* types: datatypes freed by then */
    uint8_t kind;
};

/* The calling thread. */
struct call_thread {
    bool in_mpi;
    uint32_t *flag; /* csan_library_flag, once something is known; or NULL */
    struct known known[CALL_KNOWN];
};
extern __thread struct call_thread call_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

extern struct call_shared {
    const struct csan_api *api;
    const struct csan_activity *activity; /* NULL: not known yet */
    uint32_t types_freed;                 /* atomic */
    bool threads;                         /* several threads call MPI at once */
    bool links;                           /* what orders processes is recorded */
    struct csan_call_counts counts;
} call_shared __attribute__((visibility("hidden")));

static inline struct known *call_known_place(const void *address, int kind)
{
    const uint64_t mixed = ((uintptr_t)address ^ (unsigned)kind) * 0x9e3779b97f4a7c15u;
    struct known *place = &call_thread.known[mixed >> 58];
    __asm__("" : "+r"(place)); /* kept: compilers work it out anew at each use */
    return place;
}

/* Whether nothing has happened since it was declared. */
static inline bool call_is_known(const struct known *known, const void *address, mpi_handle type,
                                 int kind)
{
    const struct csan_activity *activity = __atomic_load_n(&call_shared.activity, __ATOMIC_ACQUIRE);
    return known->view && known->address == address && known->kind == kind &&
           known->type == handle_value(type) &&
           known->entered == __atomic_load_n(activity->entered, __ATOMIC_RELAXED) &&
           known->deferred == __atomic_load_n(activity->deferred, __ATOMIC_RELAXED) &&
           known->types == __atomic_load_n(&call_shared.types_freed, __ATOMIC_RELAXED) &&
           !call_thread.in_mpi;
}
/* ... so that nothing is to be done about a call but to make it. */
static inline bool call_is_quick(const struct known *known, const void *address, mpi_handle type,
                                 int kind)
{
    return call_is_known(known, address, type, kind) && !call_shared.links;
}

/* In place of call_begin and the rest, if the buffer is known. What it returns is for the end. */
static inline uint32_t call_known_begin(void)
{
    uint32_t *flag = call_thread.flag;
    const uint32_t before = flag ? *flag : 0;
    call_thread.in_mpi = true;
    if (__builtin_expect(!flag, 0))
        call_shared.api->library(1);
    else if (!before)
        *flag = 1;
    return before;
}
static inline void call_known_end(uint32_t before)
{
    uint32_t *flag = call_thread.flag;
    if (__builtin_expect(!flag, 0))
        call_shared.api->library(0);
    else
        *flag = before;
    call_thread.in_mpi = false;
}

/* A call that moved `messages` of so many bytes in all. */
static inline void call_count(uint64_t messages, uint64_t bytes)
{
    struct csan_call_counts *counts = &call_shared.counts;
    if (__builtin_expect(call_shared.threads, 0)) {
        __atomic_fetch_add(&counts->calls, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&counts->items, messages, __ATOMIC_RELAXED);
        __atomic_fetch_add(&counts->bytes, bytes, __ATOMIC_RELAXED);
    } else {
        counts->calls++;
        counts->items += messages;
        counts->bytes += bytes;
    }
}

/* ---- A call ---- */

/* False: nothing is to be done about the call. */
bool call_begin(struct call *call, const char *name);
int call_end(struct call *call, int result);

/* Elements that the call reads or writes. An empty buffer, MPI_IN_PLACE and what has no elements
 * count for nothing. */
void call_buffer(struct call *call, const void *address, int64_t count, mpi_handle type, int kind,
                 enum call_argument argument);
static inline void call_reads(struct call *call, const void *address, int64_t count,
                              mpi_handle type, enum call_argument argument)
{
    call_buffer(call, address, count, type, CSAN_READ, argument);
}
static inline void call_writes(struct call *call, const void *address, int64_t count,
                               mpi_handle type, enum call_argument argument)
{
    call_buffer(call, address, count, type, CSAN_WRITE, argument);
}

/* What reports say: elements, peer and tag; or elements and root (-1: none). */
void call_peer(struct call *call, int64_t count, mpi_handle type, const char *direction, int peer,
               int tag, mpi_handle comm);
void call_collective(struct call *call, int64_t count, mpi_handle type, int root, mpi_handle comm);
enum { CALL_NO_ROOT = -1000, CALL_NO_TAG = -1000 };

void call_touches(const struct call *call);
/* Behind the real call of a receive, which follow_begin began. */
void call_received(const struct call *call);
void call_starts(struct call *call);

/* The calling thread is in MPI from here on, until call_outside or call_end. */
void call_inside(void);
void call_outside(void);

/* The address as MPI can use it. */
static inline void *call_view(const void *address)
{
    void *view = address && address != abi.in_place ? csan_host_view(address) : NULL;
    return view ? view : (void *)(uintptr_t)address;
}

/* The same of an argument of the call, once its buffers are declared, inside MPI. Where the host
 * has no view of them, they are copied. */
void *call_usable(struct call *call, const void *address, enum call_argument argument);

/* The same call again, later: of a persistent request. The accesses and words are kept. Reports
 * name the call that started it, and then the one that made it. */
struct call_kept;
struct call_kept *call_keep(struct call *call);
uint64_t call_kept_start(const struct call_kept *kept, const char *starter);
void call_kept_free(struct call_kept *kept);

/* A datatype's handle may be used again for another. */
void call_type_freed(void);

/* What the call started is another's from here on. */
struct follow *call_take_follow(struct call *call);
struct follow *call_kept_follow(const struct call_kept *kept);

/* The process uses MPI: says so in the summary. `threads`: several threads may call it at once. */
void call_count_start(bool threads);

#endif
