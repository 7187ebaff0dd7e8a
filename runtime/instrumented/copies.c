/* memcpy and its kind: the compiler's pass leaves calls of them as they are, and ThreadSanitizer's
 * library stands in front of them. So does this one. All libraries of the process call these, and
 * libcsan.so leaves aside what is not the program's by the return address. */
#include "runtime/instrumented/copies.h"
#include "runtime/instrumented/table.h"

#include <dlfcn.h>

#define PC() __builtin_return_address(0)

/* Who calls before the next functions are found, or while they are. Byte by byte, and volatile: a
 * compiler would make calls of the same functions of it. */
static void *copy_early(void *to, const void *from, size_t bytes)
{
    volatile unsigned char *at = to;
    const volatile unsigned char *source = from;
    for (size_t i = 0; i < bytes; i++)
        at[i] = source[i];
    return to;
}
static void *move_early(void *to, const void *from, size_t bytes)
{
    volatile unsigned char *at = to;
    const volatile unsigned char *source = from;
    if ((uintptr_t)to - (uintptr_t)from >= bytes)
        return copy_early(to, from, bytes);
    while (bytes--)
        at[bytes] = source[bytes];
    return to;
}
static void *set_early(void *to, int value, size_t bytes)
{
    volatile unsigned char *at = to;
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)value;
    return to;
}

static int compare_early(const void *a, const void *b, size_t bytes)
{
    const volatile unsigned char *left = a, *right = b;
    for (; bytes; bytes--, left++, right++)
        if (*left != *right)
            return *left - *right;
    return 0;
}

struct copies copies_next = {copy_early, move_early, set_early, compare_early};

/* Each is complete before it is used. A lookup may copy memory itself. */
static __attribute__((constructor(101))) void find(void)
{
    void *const copy = dlsym(RTLD_NEXT, "memcpy"), *const move = dlsym(RTLD_NEXT, "memmove"),
                *const set = dlsym(RTLD_NEXT, "memset"),
                *const compare = dlsym(RTLD_NEXT, "memcmp");
    if (copy)
        __atomic_store(&copies_next.copy, (__typeof__(copies_next.copy) *)&copy, __ATOMIC_RELEASE);
    if (move)
        __atomic_store(&copies_next.move, (__typeof__(copies_next.move) *)&move, __ATOMIC_RELEASE);
    if (set)
        __atomic_store(&copies_next.set, (__typeof__(copies_next.set) *)&set, __ATOMIC_RELEASE);
    if (compare)
        __atomic_store(&copies_next.compare, (__typeof__(copies_next.compare) *)&compare,
                       __ATOMIC_RELEASE);
}

EXPORTED void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    csan_host_range(from, bytes, 0, PC());
    csan_host_range(to, bytes, 1, PC());
    return copies_next.copy(to, from, bytes);
}
EXPORTED void *memmove(void *to, const void *from, size_t bytes)
{
    csan_host_range(from, bytes, 0, PC());
    csan_host_range(to, bytes, 1, PC());
    return copies_next.move(to, from, bytes);
}
EXPORTED void *memset(void *to, int value, size_t bytes)
{
    csan_host_range(to, bytes, 1, PC());
    return copies_next.set(to, value, bytes);
}

/* Other names of these, of BSD and GNU. */
EXPORTED void *mempcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    csan_host_range(from, bytes, 0, PC());
    csan_host_range(to, bytes, 1, PC());
    return (char *)copies_next.copy(to, from, bytes) + bytes;
}
EXPORTED void bcopy(const void *from, void *to, size_t bytes)
{
    csan_host_range(from, bytes, 0, PC());
    csan_host_range(to, bytes, 1, PC());
    copies_next.move(to, from, bytes);
}
EXPORTED void bzero(void *to, size_t bytes)
{
    csan_host_range(to, bytes, 1, PC());
    copies_next.set(to, 0, bytes);
}

/* "compares the first n characters" (C11, 7.24.4.1): all of them, also behind a difference. */
EXPORTED int memcmp(const void *a, const void *b, size_t bytes)
{
    csan_host_range(a, bytes, 0, PC());
    csan_host_range(b, bytes, 0, PC());
    return copies_next.compare(a, b, bytes);
}
EXPORTED int bcmp(const void *a, const void *b, size_t bytes)
{
    csan_host_range(a, bytes, 0, PC());
    csan_host_range(b, bytes, 0, PC());
    return copies_next.compare(a, b, bytes);
}
/* What compilers make of memcmp where only equality matters (glibc 2.35). */
int __memcmpeq(const void *a, const void *b, size_t bytes);
EXPORTED int __memcmpeq(const void *a, const void *b, size_t bytes)
{
    csan_host_range(a, bytes, 0, PC());
    csan_host_range(b, bytes, 0, PC());
    return copies_next.compare(a, b, bytes);
}

/* With _FORTIFY_SOURCE: the room is known. */
void __chk_fail(void) __attribute__((noreturn));
void *__memcpy_chk(void *to, const void *from, size_t bytes, size_t room);
void *__memmove_chk(void *to, const void *from, size_t bytes, size_t room);
void *__memset_chk(void *to, int value, size_t bytes, size_t room);
void *__mempcpy_chk(void *to, const void *from, size_t bytes, size_t room);

EXPORTED void *__mempcpy_chk(void *to, const void *from, size_t bytes, size_t room)
{
    if (bytes > room)
        __chk_fail();
    csan_host_range(from, bytes, 0, PC());
    csan_host_range(to, bytes, 1, PC());
    return (char *)copies_next.copy(to, from, bytes) + bytes;
}
EXPORTED void *__memcpy_chk(void *to, const void *from, size_t bytes, size_t room)
{
    if (bytes > room)
        __chk_fail();
    csan_host_range(from, bytes, 0, PC());
    csan_host_range(to, bytes, 1, PC());
    return copies_next.copy(to, from, bytes);
}
EXPORTED void *__memmove_chk(void *to, const void *from, size_t bytes, size_t room)
{
    if (bytes > room)
        __chk_fail();
    csan_host_range(from, bytes, 0, PC());
    csan_host_range(to, bytes, 1, PC());
    return copies_next.move(to, from, bytes);
}
EXPORTED void *__memset_chk(void *to, int value, size_t bytes, size_t room)
{
    if (bytes > room)
        __chk_fail();
    csan_host_range(to, bytes, 1, PC());
    return copies_next.set(to, value, bytes);
}
