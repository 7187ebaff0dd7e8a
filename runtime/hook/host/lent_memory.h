/* Memory that the program lends to the operating system's kernel by a call, to be read or written.
 * The kernel refuses guarded pages (EFAULT), so they are opened before the call and stay open until
 * it is over. What was read or written counts as the host's access then. Thread-safe, and for
 * signal handlers, too. While no page may be guarded, each inline function here is one test. Where
 * code announces its accesses, there are no guarded pages, and the call is looked at all the same.
 */
#ifndef RUNTIME_HOOK_HOST_LENT_MEMORY_H
#define RUNTIME_HOOK_HOST_LENT_MEMORY_H

#include "runtime/hook/host/host_access.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/* By one call. */
struct lent_memory {
    bool on;
    bool writes;
    bool announced;     /* no page is guarded: what is pending is known */
    unsigned unguarded; /* see unguarded_begin */
    uint64_t epoch;     /* of the op that the access would meet; 0: none; announced: 1, of any */
    uintptr_t memory;   /* where it would */
    size_t bytes;
    size_t before; /* bytes of other buffers that come first */
};

void lent_memory_begin_slow(struct lent_memory *call, const struct iovec *parts, size_t count,
                            bool writes);
void lent_memory_begin_message_slow(struct lent_memory *call, const struct msghdr *message,
                                    bool writes);
void lent_memory_end_slow(struct lent_memory *call, size_t done, const char *name);
void lent_memory_give_slow(const void *memory, size_t bytes, bool writes, const char *name);
void lent_memory_open_slow(const void *memory, size_t bytes);
void lent_memory_unmapped_slow(const void *memory, size_t bytes);

/* Every part of a vector of buffers. */
static inline void lent_memory_begin_vector(struct lent_memory *call, const struct iovec *parts,
                                            size_t count, bool writes)
{
    call->on = false;
    if (__builtin_expect(host_access_calls, 0) && parts && count)
        lent_memory_begin_slow(call, parts, count, writes);
}

static inline void lent_memory_begin_message(struct lent_memory *call, const struct msghdr *message,
                                             bool writes)
{
    call->on = false;
    if (__builtin_expect(host_access_calls, 0) && message)
        lent_memory_begin_message_slow(call, message, writes);
}

static inline void lent_memory_begin(struct lent_memory *call, const void *memory, size_t bytes,
                                     bool writes)
{
    const struct iovec part = {(void *)(uintptr_t)memory, bytes};
    lent_memory_begin_vector(call, &part, 1, writes);
}

/* `done` bytes were read or written; negative or 0: none were, and `done` is returned. */
static inline ssize_t lent_memory_end(struct lent_memory *call, ssize_t done, const char *name)
{
    if (__builtin_expect(call->on, 0))
        lent_memory_end_slow(call, done > 0 ? (size_t)done : 0, name);
    return done;
}

/* By one call that takes several messages. What it has more than so many is opened and not
 * checked. */
enum { LENT_MESSAGES_MOST = 64 };
struct lent_messages {
    const struct mmsghdr *messages;
    unsigned count;
    struct lent_memory each[LENT_MESSAGES_MOST];
};
void lent_messages_begin(struct lent_messages *call, const struct mmsghdr *messages, unsigned count,
                         bool writes);
/* `done` messages were sent or received; it is returned. */
int lent_messages_end(struct lent_messages *call, int done, const char *name);

/* The kernel may read or write that memory from here on, at any time until it ends or is mapped
 * anew: it is opened, and is not guarded again. With a name, the call of that name counts as the
 * host's access, too. */
static inline void lent_memory_give(const void *memory, size_t bytes, bool writes, const char *name)
{
    if (__builtin_expect(host_access_calls, 0))
        lent_memory_give_slow(memory, bytes, writes, name);
}

/* A call that changes mappings, or looks pages up: guarded pages among these are opened before. */
static inline void lent_memory_open(const void *memory, size_t bytes)
{
    if (__builtin_expect(host_access_guards, 0))
        lent_memory_open_slow(memory, bytes);
}
/* What a new process or program is started with: strings, and arrays of these that end with NULL.
 */
void lent_memory_open_strings(const char *path, char *const arguments[], char *const environment[]);
/* The mappings there end. */
static inline void lent_memory_unmapped(const void *memory, size_t bytes)
{
    if (__builtin_expect(host_access_guards, 0))
        lent_memory_unmapped_slow(memory, bytes);
}

/* Around one of the system calls that change mappings or look pages up, which a program makes by
 * syscall(2); `arguments` are the six. */
void host_mapping_before(long number, const long *arguments);
void host_mapping_after(long number, const long *arguments, long result);

#endif
