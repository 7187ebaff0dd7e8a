/* The interface of ThreadSanitizer's compiler pass for plain loads and stores, as gcc and clang
 * emit it with -fsanitize=thread (compiler-rt, tsan_interface.h; gcc, sanitizer.def). */
#include "runtime/instrumented/copies.h"
#include "runtime/instrumented/table.h"

static const uint16_t none[INSTRUMENTED_PAGES];
struct csan_host_table host_table = {.written = none, .touched = none};

EXPORTED void csan_host_activate(const struct csan_host_table *table)
{
    host_table.access = table->access;
    host_table.release = table->release;
    host_table.acquire = table->acquire;
    __atomic_store_n(&host_table.written, table->written, __ATOMIC_RELEASE);
    __atomic_store_n(&host_table.touched, table->touched, __ATOMIC_RELEASE);
}

/* ---- Ranges ---- */

static bool any_page(const void *address, size_t bytes, const uint16_t *pages)
{
    const uintptr_t page = (uintptr_t)1 << INSTRUMENTED_PAGE_SHIFT;
    const uintptr_t end = (uintptr_t)address + bytes;
    size_t looked = 0;
    for (uintptr_t at = (uintptr_t)address; at < end && looked < INSTRUMENTED_PAGES;
         at = (at | (page - 1)) + 1, looked++)
        if (may_meet((const void *)at, pages))
            return true;
    return false;
}

void reads_range(const void *address, size_t bytes, const void *pc)
{
    if (any_page(address, bytes, host_table.written))
        host_table.access(address, bytes, 0, pc);
}

void writes_range(const void *address, size_t bytes, const void *pc)
{
    if (any_page(address, bytes, host_table.touched))
        host_table.access(address, bytes, 1, pc);
}

/* ---- The interface ---- */

#define PC() __builtin_return_address(0)

EXPORTED void __tsan_init(void) {}
EXPORTED void __tsan_func_entry(const void *caller)
{
    (void)caller;
}
EXPORTED void __tsan_func_exit(void) {}
EXPORTED void __tsan_ignore_thread_begin(void) {}
EXPORTED void __tsan_ignore_thread_end(void) {}

/* What is rare is apart, and is jumped to: the return address is the program's there, too. */
#define SLOW __attribute__((noinline)) static void
#define SIZED(bytes)                                                                               \
    SLOW read##bytes##_slow(const void *address)                                                   \
    {                                                                                              \
        host_table.access(address, bytes, 0, PC());                                                \
    }                                                                                              \
    SLOW write##bytes##_slow(const void *address)                                                  \
    {                                                                                              \
        host_table.access(address, bytes, 1, PC());                                                \
    }                                                                                              \
    EXPORTED void __tsan_read##bytes(const void *address)                                          \
    {                                                                                              \
        if (may_meet(address, host_table.written))                                                 \
            read##bytes##_slow(address);                                                           \
    }                                                                                              \
    EXPORTED void __tsan_write##bytes(void *address)                                               \
    {                                                                                              \
        if (may_meet(address, host_table.touched))                                                 \
            write##bytes##_slow(address);                                                          \
    }                                                                                              \
    EXPORTED void __tsan_volatile_read##bytes(const void *address)                                 \
    {                                                                                              \
        if (may_meet(address, host_table.written))                                                 \
            read##bytes##_slow(address);                                                           \
    }                                                                                              \
    EXPORTED void __tsan_volatile_write##bytes(void *address)                                      \
    {                                                                                              \
        if (may_meet(address, host_table.touched))                                                 \
            write##bytes##_slow(address);                                                          \
    }                                                                                              \
    EXPORTED void __tsan_read_write##bytes(void *address)                                          \
    {                                                                                              \
        if (may_meet(address, host_table.touched))                                                 \
            write##bytes##_slow(address);                                                          \
    }
SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)

/* One that is not aligned may end in the next page. */
#define UNALIGNED(bytes)                                                                           \
    EXPORTED void __tsan_unaligned_read##bytes(const void *address)                                \
    {                                                                                              \
        reads_range(address, bytes, PC());                                                         \
    }                                                                                              \
    EXPORTED void __tsan_unaligned_write##bytes(void *address)                                     \
    {                                                                                              \
        writes_range(address, bytes, PC());                                                        \
    }                                                                                              \
    EXPORTED void __tsan_unaligned_volatile_read##bytes(const void *address)                       \
    {                                                                                              \
        reads_range(address, bytes, PC());                                                         \
    }                                                                                              \
    EXPORTED void __tsan_unaligned_volatile_write##bytes(void *address)                            \
    {                                                                                              \
        writes_range(address, bytes, PC());                                                        \
    }                                                                                              \
    EXPORTED void __tsan_unaligned_read_write##bytes(void *address)                                \
    {                                                                                              \
        writes_range(address, bytes, PC());                                                        \
    }
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)

EXPORTED void __tsan_read_range(const void *address, size_t bytes)
{
    reads_range(address, bytes, PC());
}
EXPORTED void __tsan_write_range(void *address, size_t bytes)
{
    writes_range(address, bytes, PC());
}
EXPORTED void __tsan_vptr_read(void **vptr)
{
    reads(vptr, sizeof *vptr, PC());
}
EXPORTED void __tsan_vptr_update(void **vptr, void *value)
{
    if (*vptr != value)
        writes(vptr, sizeof *vptr, PC());
}

/* clang calls these in place of the C library's. */
EXPORTED void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    reads_range(from, bytes, PC());
    writes_range(to, bytes, PC());
    return copies_next.copy(to, from, bytes);
}
EXPORTED void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    reads_range(from, bytes, PC());
    writes_range(to, bytes, PC());
    return copies_next.move(to, from, bytes);
}
EXPORTED void *__tsan_memset(void *to, int value, size_t bytes)
{
    writes_range(to, bytes, PC());
    return copies_next.set(to, value, bytes);
}
