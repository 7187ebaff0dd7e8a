/* See host_call.h. */
#include "runtime/hook/host/host_call.h"
#include "runtime/hook/host/page_guard.h"
#include "runtime/hook/host/unguarded.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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

void host_call_lend(struct host_call *call, const struct iovec *parts, size_t count, bool writes)
{
    const bool is_refused = count > UIO_MAXIOV; /* parts may be fewer then */
    const struct range hull = hull_of(parts, is_refused ? 0 : count);
    size_t before = 0;
    if (hull.start >= hull.end)
        return;
    *call = (struct host_call){.on = true, .writes = writes, .unguarded = unguarded_begin(hull)};
    for (size_t i = 0; i < count; before += parts[i++].iov_len) {
        const uint64_t start = (uintptr_t)parts[i].iov_base;
        const uint64_t epoch =
            page_guard_lend((struct range){start, start + parts[i].iov_len}, writes);
        if (!epoch || call->epoch)
            continue;
        call->epoch = epoch;
        call->memory = start;
        call->bytes = parts[i].iov_len;
        call->before = before;
    }
}

void host_call_check(struct host_call *call, size_t done, const char *name)
{
    const int error = errno;
    unguarded_end(call->unguarded);
    if (call->epoch && done > call->before) {
        const size_t left = done - call->before;
        const struct range bytes = {call->memory,
                                    call->memory + (left < call->bytes ? left : call->bytes)};
        if (page_guard_meets(call->epoch, bytes))
            host_access_enter(bytes, call->writes, name);
    }
    errno = error;
}

static struct range range_of(const void *memory, size_t bytes)
{
    const uint64_t start = (uintptr_t)memory;
    return (struct range){start, start + bytes < start ? UINT64_MAX : start + bytes};
}

void host_call_give(const void *memory, size_t bytes, bool writes, const char *name)
{
    const struct range range = range_of(memory, bytes);
    const int error = errno;
    if (!host_access_guards || !bytes)
        return;
    unguarded_add(range);
    if (page_guard_lend(range, writes) && name)
        host_access_enter(range, writes, name);
    errno = error;
}

void host_call_open(const void *memory, size_t bytes)
{
    if (host_access_guards && bytes)
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

void host_call_open_strings(const char *path, char *const arguments[], char *const environment[])
{
    if (!host_access_guards)
        return;
    open_string(path);
    open_array(arguments);
    open_array(environment);
}

void host_call_ends(const void *memory, size_t bytes)
{
    if (!host_access_guards || !bytes)
        return;
    page_guard_forget(range_of(memory, bytes));
    unguarded_remove(range_of(memory, bytes));
}

/* ---- Registered blocks ---- */

/* Whether all of it can be read and written and not executed, as the kernel says. */
static bool is_plain(struct range block)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    uint64_t at = block.start, start, end;
    char line[512], protection[5];
    while (maps && at < block.end && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, protection) != 3 || end <= at)
            continue;
        if (start > at || strncmp(protection, "rw-", 3) != 0)
            break;
        at = end;
    }
    if (maps)
        fclose(maps);
    return at >= block.end;
}

void host_access_registered(const void *block, size_t bytes)
{
    const struct range range = range_of(block, bytes);
    if (!host_access_guards || !bytes)
        return;
    page_guard_lend(range, false); /* what another block's op guards looks otherwise */
    if (!is_plain(range))
        unguarded_add(range);
    unguarded_registered(range);
}

void host_access_unregistered(const void *block)
{
    if (host_access_guards)
        unguarded_unregistered(range_of(block, 1));
}
