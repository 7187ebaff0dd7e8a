/* A call through which the kernel reads or writes memory of the program's. It refuses guarded pages
 * (EFAULT), so they are opened before the call and stay open until it is over; what it read or
 * wrote counts as the host's access then. Thread-safe, and for signal handlers, too. */
#ifndef RUNTIME_HOOK_HOST_HOST_CALL_H
#define RUNTIME_HOOK_HOST_HOST_CALL_H

#include "runtime/hook/host/host_access.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

struct host_call {
    bool on;
    bool writes;
    unsigned unguarded; /* see unguarded_begin */
    uint64_t epoch;     /* of the op that the access would meet; 0: none */
    uintptr_t memory;   /* where it would */
    size_t bytes;
    size_t before; /* bytes of other buffers that come first */
};

void host_call_lend(struct host_call *call, const struct iovec *parts, size_t count, bool writes);
void host_call_check(struct host_call *call, size_t done, const char *name);

/* Every part of a vector of buffers. */
static inline void host_call_begin_vector(struct host_call *call, const struct iovec *parts,
                                          size_t count, bool writes)
{
    call->on = false;
    if (__builtin_expect(host_access_guards, 0) && parts && count)
        host_call_lend(call, parts, count, writes);
}

static inline void host_call_begin_message(struct host_call *call, const struct msghdr *message,
                                           bool writes)
{
    call->on = false;
    if (__builtin_expect(host_access_guards, 0) && message)
        host_call_begin_vector(call, message->msg_iov, message->msg_iovlen, writes);
}

static inline void host_call_begin(struct host_call *call, const void *memory, size_t bytes,
                                   bool writes)
{
    const struct iovec part = {(void *)(uintptr_t)memory, bytes};
    host_call_begin_vector(call, &part, 1, writes);
}

/* `done` bytes were read or written; negative or 0: none were, and `done` is returned. */
static inline ssize_t host_call_end(struct host_call *call, ssize_t done, const char *name)
{
    if (__builtin_expect(call->on, 0))
        host_call_check(call, done > 0 ? (size_t)done : 0, name);
    return done;
}

/* The kernel may read or write that memory from here on, at any time until it ends or is mapped
 * anew: it is opened, and is not guarded again. With a name, the call of that name counts as the
 * host's access, too. */
void host_call_give(const void *memory, size_t bytes, bool writes, const char *name);

/* A call that changes mappings, or looks pages up: guarded pages among these are opened before. */
void host_call_open(const void *memory, size_t bytes);
/* What a new process or program is started with: strings, and arrays of these that end with NULL.
 */
void host_call_open_strings(const char *path, char *const arguments[], char *const environment[]);
/* They end. */
void host_call_ends(const void *memory, size_t bytes);

/* Around one of the system calls that change mappings or look pages up, which a program makes by
 * syscall(2); `arguments` are the six. */
void host_mapping_before(long number, const long *arguments);
void host_mapping_after(long number, const long *arguments, long result);

#endif
