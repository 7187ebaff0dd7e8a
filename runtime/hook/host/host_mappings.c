/* Calls that change the program's mappings, or look pages up for it: guarded pages among them are
 * opened before, so that they do what they did without csan. Memory that the program itself
 * protects is not guarded until it is readable and writable again. Allocators call these with their
 * locks held, and nothing here allocates. */
#include "runtime/hook/host/lent_memory.h"
#include "runtime/hook/host/host_rings.h"
#include "runtime/hook/host/next_call.h"
#include "runtime/hook/host/unguarded.h"

#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS(call)                                                                                \
    call(mmap) call(mmap64) call(munmap) call(mremap) call(mprotect) call(pkey_mprotect)           \
        call(madvise) call(mlock) call(mlock2)
NEXT_CALLS(CALLS)

/* The look-up of the next function may map memory itself. */
static bool is_found(void)
{
    static __thread bool looks __attribute__((tls_model("initial-exec")));
    if (__builtin_expect(next_calls.found, 1))
        return true;
    if (looks)
        return false;
    looks = true;
    next_calls_find();
    looks = false;
    return true;
}

static void *map(void *address, size_t bytes, int protection, int flags, int file, off64_t at)
{
    if (flags & MAP_FIXED)
        lent_memory_unmapped(address, bytes);
    void *memory = is_found()
                       ? next_calls.mmap64(address, bytes, protection, flags, file, at)
                       : (void *)syscall(SYS_mmap, address, bytes, protection, flags, file, at);
    if (__builtin_expect(host_access_calls, 0) && memory != MAP_FAILED && file >= 0)
        host_rings_mapped(file, at, memory);
    return memory;
}

NEXT_EXPORTED void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t at)
{
    return map(address, bytes, protection, flags, file, at);
}
NEXT_EXPORTED void *mmap64(void *address, size_t bytes, int protection, int flags, int file,
                           off64_t at)
{
    return map(address, bytes, protection, flags, file, at);
}

NEXT_EXPORTED int munmap(void *address, size_t bytes)
{
    lent_memory_unmapped(address, bytes);
    return is_found() ? next_calls.munmap(address, bytes)
                      : (int)syscall(SYS_munmap, address, bytes);
}

NEXT_EXPORTED void *mremap(void *address, size_t bytes, size_t wanted, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *place = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(list, void *) : NULL;
    va_end(list);
    lent_memory_unmapped(address, bytes);
    lent_memory_unmapped(place, flags & MREMAP_FIXED ? wanted : 0);
    return is_found() ? next_calls.mremap(address, bytes, wanted, flags, place)
                      : (void *)syscall(SYS_mremap, address, bytes, wanted, flags, place);
}

/* Pages are opened first, and what the program wants holds from then on. */
static void protects_slow(void *address, size_t bytes, int protection)
{
    const struct range range = {(uintptr_t)address, (uintptr_t)address + bytes};
    if (range.start >= range.end)
        return;
    lent_memory_open(address, bytes);
    if (protection == (PROT_READ | PROT_WRITE))
        unguarded_remove(range);
    else
        unguarded_add(range);
}

static inline void protects(void *address, size_t bytes, int protection)
{
    if (__builtin_expect(host_access_guards, 0))
        protects_slow(address, bytes, protection);
}

NEXT_EXPORTED int mprotect(void *address, size_t bytes, int protection)
{
    protects(address, bytes, protection);
    return is_found() ? next_calls.mprotect(address, bytes, protection)
                      : (int)syscall(SYS_mprotect, address, bytes, protection);
}
NEXT_EXPORTED int pkey_mprotect(void *address, size_t bytes, int protection, int key)
{
    protects(address, bytes, key > 0 ? PROT_NONE : protection);
    return is_found() ? next_calls.pkey_mprotect(address, bytes, protection, key)
                      : (int)syscall(SYS_pkey_mprotect, address, bytes, protection, key);
}

/* These look up each page as its user would, and fail on guarded ones. */
NEXT_EXPORTED int madvise(void *address, size_t bytes, int advice)
{
    lent_memory_open(address, bytes);
    return is_found() ? next_calls.madvise(address, bytes, advice)
                      : (int)syscall(SYS_madvise, address, bytes, advice);
}
NEXT_EXPORTED int mlock(const void *address, size_t bytes)
{
    lent_memory_open(address, bytes);
    return NEXT(mlock)(address, bytes);
}
NEXT_EXPORTED int mlock2(const void *address, size_t bytes, unsigned flags)
{
    lent_memory_open(address, bytes);
    return NEXT(mlock2)(address, bytes, flags);
}

/* ---- The same as system calls ---- */

static void *pointer(long argument)
{
    return (void *)(uintptr_t)argument;
}

void host_mapping_before(long number, const long *a)
{
    switch (number) {
    case SYS_mmap:
        if (a[3] & MAP_FIXED)
            lent_memory_unmapped(pointer(a[0]), (size_t)a[1]);
        break;
    case SYS_mremap:
        if (a[3] & MREMAP_FIXED)
            lent_memory_unmapped(pointer(a[4]), (size_t)a[2]);
        lent_memory_unmapped(pointer(a[0]), (size_t)a[1]);
        break;
    case SYS_munmap:
        lent_memory_unmapped(pointer(a[0]), (size_t)a[1]);
        break;
    case SYS_mprotect:
        protects(pointer(a[0]), (size_t)a[1], (int)a[2]);
        break;
    default:
        lent_memory_open(pointer(a[0]), (size_t)a[1]);
    }
}

void host_mapping_after(long number, const long *a, long result)
{
    if (number == SYS_mmap && result != -1 && (int)a[4] >= 0)
        host_rings_mapped((int)a[4], a[5], pointer(result));
}
