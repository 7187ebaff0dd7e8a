/* The interface of ThreadSanitizer's compiler pass for plain loads and stores, as gcc and clang
 * emit it with -fsanitize=thread (compiler-rt, tsan_interface.h; gcc, sanitizer.def).
 *
 * The linker puts this object into every program and library that is linked with -lcsan_host. So
 * an access costs a call and no jump through the procedure linkage table. libcsan_host.so has it,
 * too, for libraries that were linked without. */
#include "runtime/instrumented/table.h"

/* Other libraries may use those of the program; whoever has its own uses these. */
#define CALLED __attribute__((visibility("protected")))

#define PC() __builtin_return_address(0)

CALLED void __tsan_init(void) {}
CALLED void __tsan_func_entry(const void *caller)
{
    (void)caller;
}
CALLED void __tsan_func_exit(void) {}
CALLED void __tsan_ignore_thread_begin(void) {}
CALLED void __tsan_ignore_thread_end(void) {}

/* What is rare is apart, and is jumped to: the return address is the program's there, too. */
#define SLOW __attribute__((noinline)) static void
#define SIZED(bytes)                                                                               \
    SLOW read##bytes##_slow(const void *address)                                                   \
    {                                                                                              \
        csan_host_access(address, bytes, 0, PC());                                                 \
    }                                                                                              \
    SLOW write##bytes##_slow(const void *address)                                                  \
    {                                                                                              \
        csan_host_access(address, bytes, 1, PC());                                                 \
    }                                                                                              \
    CALLED void __tsan_read##bytes(const void *address)                                            \
    {                                                                                              \
        if (may_meet(address, csan_host_written))                                                  \
            read##bytes##_slow(address);                                                           \
    }                                                                                              \
    CALLED void __tsan_write##bytes(void *address)                                                 \
    {                                                                                              \
        if (may_meet(address, csan_host_touched))                                                  \
            write##bytes##_slow(address);                                                          \
    }                                                                                              \
    CALLED void __tsan_volatile_read##bytes(const void *address)                                   \
    {                                                                                              \
        if (may_meet(address, csan_host_written))                                                  \
            read##bytes##_slow(address);                                                           \
    }                                                                                              \
    CALLED void __tsan_volatile_write##bytes(void *address)                                        \
    {                                                                                              \
        if (may_meet(address, csan_host_touched))                                                  \
            write##bytes##_slow(address);                                                          \
    }                                                                                              \
    CALLED void __tsan_read_write##bytes(void *address)                                            \
    {                                                                                              \
        if (may_meet(address, csan_host_touched))                                                  \
            write##bytes##_slow(address);                                                          \
    }
SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)

/* One that is not aligned may end in the next page. */
static inline bool may_meet_either(const void *address, size_t bytes, const uint16_t *pages)
{
    return may_meet(address, pages) || may_meet((const char *)address + bytes - 1, pages);
}
#define UNALIGNED(bytes)                                                                           \
    CALLED void __tsan_unaligned_read##bytes(const void *address)                                  \
    {                                                                                              \
        if (may_meet_either(address, bytes, csan_host_written))                                    \
            read##bytes##_slow(address);                                                           \
    }                                                                                              \
    CALLED void __tsan_unaligned_write##bytes(void *address)                                       \
    {                                                                                              \
        if (may_meet_either(address, bytes, csan_host_touched))                                    \
            write##bytes##_slow(address);                                                          \
    }                                                                                              \
    CALLED void __tsan_unaligned_volatile_read##bytes(const void *address)                         \
    {                                                                                              \
        if (may_meet_either(address, bytes, csan_host_written))                                    \
            read##bytes##_slow(address);                                                           \
    }                                                                                              \
    CALLED void __tsan_unaligned_volatile_write##bytes(void *address)                              \
    {                                                                                              \
        if (may_meet_either(address, bytes, csan_host_touched))                                    \
            write##bytes##_slow(address);                                                          \
    }                                                                                              \
    CALLED void __tsan_unaligned_read_write##bytes(void *address)                                  \
    {                                                                                              \
        if (may_meet_either(address, bytes, csan_host_touched))                                    \
            write##bytes##_slow(address);                                                          \
    }
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)

CALLED void __tsan_read_range(const void *address, size_t bytes)
{
    csan_host_range(address, bytes, 0, PC());
}
CALLED void __tsan_write_range(void *address, size_t bytes)
{
    csan_host_range(address, bytes, 1, PC());
}
CALLED void __tsan_vptr_read(void **vptr)
{
    reads(vptr, sizeof *vptr, PC());
}
CALLED void __tsan_vptr_update(void **vptr, void *value)
{
    if (*vptr != value)
        writes(vptr, sizeof *vptr, PC());
}
