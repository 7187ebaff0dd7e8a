/* See host_access.h. */
#include "host_access.h"
#include "runtime/hook/host/kernel_call.h"

#include <csan/csan.h>

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Whether the host may read the byte or, `writes`, set it to that value, as the kernel tries it.
 * Not by the C library's functions, in front of which csan stands. */
static bool is_open(uint8_t *place, bool writes, uint8_t value)
{
    struct iovec here = {place, 1}, there = {&value, 1};
    return kernel_call(writes ? SYS_process_vm_readv : SYS_process_vm_writev, getpid(), (long)&here,
                       1, (long)&there, 1, 0) == 1;
}

/* One instruction, so that csan sees all of it or nothing. */
static void store_all(uint8_t *place, uint8_t value, size_t count)
{
    __asm__ volatile("rep stosb" : "+D"(place), "+c"(count) : "a"(value) : "memory");
}

static void load_all(uint8_t *to, const uint8_t *place, size_t count)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(place), "+c"(count) : : "memory");
}

void host_access_plainly(const struct host_access *access)
{
    if (access->to)
        load_all(access->to, access->place, access->count);
    else if (access->from)
        load_all(access->place, access->from, access->count);
    else
        store_all(access->place, access->value, access->count);
}

/* Returns whether csan counts an op: of a page that was closed and is open, it has taken notice.
 * Where it took the bytes for nobody's it has closed the page again. */
static bool access_guarded(const struct host_access *access)
{
    const uint8_t value = access->from ? access->from[0] : access->value;
    const bool closed = !is_open(access->place, !access->to, value);
    host_access_plainly(access);
    return closed && is_open(access->place, !access->to, value);
}

/* What shows in memory later is no op. Returns the same. */
static bool access_silently(const struct host_access *access)
{
    host_access_plainly(access);
    return false;
}

/* Returns the same. */
static bool access_declared(const struct host_access *access)
{
    if (access->to)
        csan_host_reads(access->place, access->count);
    else
        csan_host_writes(access->place, access->count);
    host_access_plainly(access);
    return true;
}

bool host_access_make(const struct host_access *access, enum host_way way)
{
    if (way == HOST_DECLARED)
        return access_declared(access);
    return (way == HOST_GUARDED ? access_guarded : access_silently)(access);
}
