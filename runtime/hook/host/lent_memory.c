/* See lent_memory.h. */
#include "runtime/hook/host/lent_memory.h"
#include "runtime/hook/host/page_guard.h"
#include "runtime/hook/host/pending_ranges.h"
#include "runtime/hook/host/unguarded.h"
#include "runtime/hook/session/guard.h"

#include <errno.h>
#include <string.h>

static struct range hull_of(const struct iovec *parts, size_t count)
{
    struct range hull = {UINT64_MAX, 0};
    for (size_t i = 0; i < count; i++) {
        const uint64_t start = (uintptr_t)parts[i].iov_base, end = start + parts[i].iov_len;
        if (end <= start)
            continue;
        hull.start = start < hull.start ? start : hull.start;
        hull.end = end > hull.end ? end : hull.end;
    }
    return hull;
}

/* A signal handler may have come within csan. */
static bool is_pending(struct range bytes, bool writes)
{
    return guard_self.depth == 0 && guard_self.locked == 0 &&
           pending_ranges_meet(bytes, writes) == PENDING_OP;
}

/* The epoch of the op that the access meets; 0: none. */
static uint64_t lend(const struct lent_memory *call, struct range bytes)
{
    if (call->announced)
        return bytes.start < bytes.end && is_pending(bytes, call->writes);
    return page_guard_lend(bytes, call->writes);
}

void lent_memory_begin_slow(struct lent_memory *call, const struct iovec *parts, size_t count,
                            bool writes)
{
    const bool is_refused = count > UIO_MAXIOV; /* parts may be fewer then */
    const struct range hull = hull_of(parts, is_refused ? 0 : count);
    size_t before = 0;
    if (hull.start >= hull.end)
        return;
    *call = (struct lent_memory){.on = true, .writes = writes, .announced = !host_access_guards};
    if (!call->announced)
        call->unguarded = unguarded_begin(hull);
    for (size_t i = 0; i < count; before += parts[i++].iov_len) {
        const uint64_t start = (uintptr_t)parts[i].iov_base;
        const uint64_t epoch = lend(call, (struct range){start, start + parts[i].iov_len});
        if (!epoch || call->epoch)
            continue;
        call->epoch = epoch;
        call->memory = start;
        call->bytes = parts[i].iov_len;
        call->before = before;
    }
}

/* The kernel also reads and writes the message itself, its address and its control data. */
static void open_message(const struct msghdr *message)
{
    lent_memory_open(message, sizeof *message);
    lent_memory_open(message->msg_name, message->msg_namelen);
    lent_memory_open(message->msg_control, message->msg_controllen);
    lent_memory_open(message->msg_iov, message->msg_iovlen * sizeof *message->msg_iov);
}

void lent_memory_begin_message_slow(struct lent_memory *call, const struct msghdr *message,
                                    bool writes)
{
    open_message(message);
    lent_memory_begin_vector(call, message->msg_iov, message->msg_iovlen, writes);
}

void lent_memory_end_slow(struct lent_memory *call, size_t done, const char *name)
{
    const int error = errno;
    if (!call->announced)
        unguarded_end(call->unguarded);
    if (call->epoch && done > call->before) {
        const size_t left = done - call->before;
        const struct range bytes = {call->memory,
                                    call->memory + (left < call->bytes ? left : call->bytes)};
        if (call->announced ? is_pending(bytes, call->writes)
                            : page_guard_meets(call->epoch, bytes))
            host_access_enter(bytes, call->writes, name);
    }
    errno = error;
}

void lent_messages_begin(struct lent_messages *call, const struct mmsghdr *messages, unsigned count,
                         bool writes)
{
    call->messages = messages;
    call->count = !messages ? 0 : count > UIO_MAXIOV ? UIO_MAXIOV : count; /* as the kernel does */
    lent_memory_open(messages, call->count * sizeof *messages);
    for (unsigned i = 0; i < call->count; i++) {
        const struct msghdr *message = &messages[i].msg_hdr;
        if (i < LENT_MESSAGES_MOST)
            lent_memory_begin_message(&call->each[i], message, writes);
        else
            open_message(message);
        for (size_t k = 0; i >= LENT_MESSAGES_MOST && k < message->msg_iovlen; k++)
            lent_memory_open(message->msg_iov[k].iov_base, message->msg_iov[k].iov_len);
    }
}

int lent_messages_end(struct lent_messages *call, int done, const char *name)
{
    for (unsigned i = 0; i < call->count && i < LENT_MESSAGES_MOST; i++)
        lent_memory_end(&call->each[i], (int)i < done ? (ssize_t)call->messages[i].msg_len : 0,
                        name);
    return done;
}

static struct range range_of(const void *memory, size_t bytes)
{
    const uint64_t start = (uintptr_t)memory;
    return (struct range){start, start + bytes < start ? UINT64_MAX : start + bytes};
}

void lent_memory_give_slow(const void *memory, size_t bytes, bool writes, const char *name)
{
    const struct range range = range_of(memory, bytes);
    const int error = errno;
    if (!bytes)
        return;
    bool meets = false;
    if (host_access_guards) {
        unguarded_add(range);
        meets = page_guard_lend(range, writes) != 0;
    } else if (name) {
        meets = is_pending(range, writes);
    }
    if (meets && name)
        host_access_enter(range, writes, name);
    errno = error;
}

void lent_memory_open_slow(const void *memory, size_t bytes)
{
    if (bytes)
        page_guard_lend(range_of(memory, bytes), false);
}

static void open_string(const char *string)
{
    if (string)
        page_guard_lend(range_of(string, strlen(string) + 1), false);
}

static void open_array(char *const strings[])
{
    size_t count = 0;
    for (; strings && strings[count]; count++)
        open_string(strings[count]);
    if (strings)
        page_guard_lend(range_of(strings, (count + 1) * sizeof *strings), false);
}

void lent_memory_open_strings(const char *path, char *const arguments[], char *const environment[])
{
    if (!host_access_guards)
        return;
    open_string(path);
    open_array(arguments);
    open_array(environment);
}

void lent_memory_unmapped_slow(const void *memory, size_t bytes)
{
    if (!bytes)
        return;
    page_guard_forget(range_of(memory, bytes));
    unguarded_remove(range_of(memory, bytes));
}
