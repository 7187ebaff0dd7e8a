/* Functions of the C library for strings. They load as many bytes at once as the processor can, and
 * so bytes behind a string's end, in which an op may be at work: what they load is no access. What
 * the C standard says that they read and write is (C11, 7.24). So csan stands in front of them: the
 * pages are opened, the function is called, and the bytes that it had to look at are the host's
 * access, as with the functions that hand buffers to the kernel (lent_memory.h).
 *
 * memcpy and its kind, and memcmp, load nothing besides, and are not here.
 *
 * Compiled without builtins: a loop here must not become a call of the function that it is in. */
#include "runtime/hook/host/host_blocks.h"
#include "runtime/hook/host/host_page.h"
#include "runtime/hook/host/lent_memory.h"
#include "runtime/hook/host/next_call.h"
#include "runtime/hook/host/page_guard.h"
#include "runtime/hook/host/pending_ranges.h"
#include "runtime/hook/session/guard.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

/* The C library's headers declare these with _FORTIFY_SOURCE only, or by another name. */
char *__strcpy_chk(char *to, const char *from, size_t room);
char *__stpcpy_chk(char *to, const char *from, size_t room);
char *__strncpy_chk(char *to, const char *from, size_t most, size_t room);
char *__stpncpy_chk(char *to, const char *from, size_t most, size_t room);
char *__strcat_chk(char *to, const char *from, size_t room);
char *__strncat_chk(char *to, const char *from, size_t most, size_t room);
long __isoc23_strtol(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base);
unsigned long __isoc23_strtoul(const char *text, char **end, int base);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base);

/* The functions of the C library before 2.38 come first: a look-up that fails allocates, and what
 * an allocator calls is there by then. */
#define CALLS(call)                                                                                \
    call(strlen) call(strnlen) call(strcpy) call(stpcpy) call(strncpy) call(stpncpy) call(strcat)  \
        call(strncat) call(strcmp) call(strncmp) call(strcasecmp) call(strncasecmp) call(strcoll)  \
            call(strchr) call(strchrnul) call(strrchr) call(index) call(rindex) call(memchr)       \
                call(memrchr) call(rawmemchr) call(strstr) call(strcasestr) call(memmem)           \
                    call(strspn) call(strcspn) call(strpbrk) call(strdup) call(strndup)            \
                        call(strtol) call(strtoll) call(strtoul) call(strtoull) call(strtod)       \
                            call(strtof) call(atoi) call(atol) call(atoll) call(atof) call(qsort)  \
                                call(explicit_bzero) call(wcslen) call(wcsnlen) call(wcscpy)       \
                                    call(wcscmp) call(wcsncmp) call(wcschr) call(wcsrchr)          \
                                        call(__strcpy_chk) call(__stpcpy_chk) call(__strncpy_chk)  \
                                            call(__stpncpy_chk) call(__strcat_chk)                 \
                                                call(__strncat_chk)
NEXT_CALLS(CALLS)
#define NEWER_CALLS(call)                                                                          \
    call(__isoc23_strtol) call(__isoc23_strtoll) call(__isoc23_strtoul) call(__isoc23_strtoull)

static struct {
    NEWER_CALLS(NEXT_MEMBER) bool found;
} newer;

static __attribute__((constructor(102))) void find_newer(void)
{
#define FIND(name) *(void **)&newer.name = driver_dlsym(RTLD_NEXT, #name);
    NEWER_CALLS(FIND)
#undef FIND
    __atomic_store_n(&newer.found, true, __ATOMIC_RELEASE);
}

/* ---- How far strings go ---- */

/* Whether any memory is an op's. One of the two says no at any time, as option host has it. */
static inline bool any_is_pending(void)
{
    return __builtin_expect(page_guard_any(), 0) || __builtin_expect(pending_ranges_any(), 0);
}

/* Whether bytes from there on may be an op's. A signal handler may have come within csan. */
static bool matters(const void *memory)
{
    if (host_access_guards && !host_blocks_may_have_address((uintptr_t)memory))
        return false;
    if (guard_self.depth || guard_self.locked)
        return false;
    return host_access_guards ? page_guard_any() && host_blocks_has((uintptr_t)memory)
                              : pending_ranges_any();
}

/* Opens what lies between there and the end of its page; returns how much that is. */
static size_t page_open(const void *memory)
{
    const uintptr_t at = (uintptr_t)memory;
    const size_t room = host_page_bytes() - at % host_page_bytes();
    if (host_access_guards)
        lent_memory_open(memory, room);
    return room;
}

/* Bytes up to the first that is one of the two, and with it; `most` where there is none. */
static size_t bytes_to(const void *memory, size_t most, int one, int other)
{
    const unsigned char *text = memory;
    size_t bytes = 0;
    while (bytes < most) {
        size_t room = page_open(text + bytes);
        for (; room && bytes < most; room--, bytes++)
            if (text[bytes] == (unsigned char)one || text[bytes] == (unsigned char)other)
                return bytes + 1;
    }
    return bytes;
}

static size_t text_bytes(const char *text)
{
    return bytes_to(text, SIZE_MAX, 0, 0);
}

/* The text may not end within `most`. */
static size_t text_bytes_of(const char *text, size_t most)
{
    return bytes_to(text, most, 0, 0);
}

static size_t wide_bytes(const wchar_t *text, size_t most, wchar_t one)
{
    size_t count = 0;
    while (count < most) {
        size_t room = page_open(text + count) / sizeof *text;
        for (; room && count < most; room--, count++)
            if (text[count] == one || !text[count])
                return (count + 1) * sizeof *text;
        if (!room && (uintptr_t)(text + count) % host_page_bytes())
            return count * sizeof *text; /* of no alignment */
    }
    return count * sizeof *text;
}

static unsigned char folded(unsigned char letter, bool folds)
{
    return folds && letter >= 'A' && letter <= 'Z' ? (unsigned char)(letter + 'a' - 'A') : letter;
}

/* Bytes of two texts up to the first that differ, or the end, and with them. */
static size_t bytes_alike(const char *a, const char *b, size_t most, bool folds)
{
    size_t bytes = 0;
    while (bytes < most) {
        const size_t of_a = page_open(a + bytes), of_b = page_open(b + bytes);
        size_t room = of_a < of_b ? of_a : of_b;
        for (; room && bytes < most; room--, bytes++)
            if (!a[bytes] ||
                folded((unsigned char)a[bytes], folds) != folded((unsigned char)b[bytes], folds))
                return bytes + 1;
    }
    return bytes;
}

static size_t wide_alike(const wchar_t *a, const wchar_t *b, size_t most)
{
    size_t count = 0;
    while (count < most) {
        page_open(a + count);
        page_open(b + count);
        if (!a[count] || a[count] != b[count])
            return (count + 1) * sizeof *a;
        count++;
    }
    return count * sizeof *a;
}

/* ---- A call ---- */

enum { PARTS = 3 };
struct call {
    struct {
        struct lent_memory lent;
        size_t bytes;
    } parts[PARTS];
    int count;
};

static void part(struct call *call, const void *memory, size_t bytes, bool writes)
{
    lent_memory_begin(&call->parts[call->count].lent, memory, bytes, writes);
    call->parts[call->count++].bytes = bytes;
}

static void reads(struct call *call, const void *memory, size_t bytes)
{
    part(call, memory, bytes, false);
}

static void writes(struct call *call, const void *memory, size_t bytes)
{
    part(call, memory, bytes, true);
}

static void ended(struct call *call, const char *name)
{
    for (int i = 0; i < call->count; i++)
        lent_memory_end(&call->parts[i].lent, (ssize_t)call->parts[i].bytes, name);
}

/* A function: what it returns, its name and parameters, whether any of them matters, what it looks
 * at, and the call itself. What it looks at is a function of its own, so that the rest is tests and
 * a jump while no op is pending. */
#define STRINGS(returned, name, parameters, matter, looks, arguments)                              \
    static __attribute__((noinline)) returned name##_looked parameters                             \
    {                                                                                              \
        if (!(matter))                                                                             \
            return NEXT(name) arguments;                                                           \
        struct call call = {.count = 0};                                                           \
        looks;                                                                                     \
        returned const result = NEXT(name) arguments;                                              \
        ended(&call, #name);                                                                       \
        return result;                                                                             \
    }                                                                                              \
    NEXT_EXPORTED returned name parameters                                                         \
    {                                                                                              \
        if (any_is_pending())                                                                      \
            return name##_looked arguments;                                                        \
        return NEXT(name) arguments;                                                               \
    }

/* ---- One text is read ---- */

STRINGS(size_t, strlen, (const char *text), matters(text), reads(&call, text, text_bytes(text)),
        (text))
STRINGS(size_t, strnlen, (const char *text, size_t most), matters(text),
        reads(&call, text, text_bytes_of(text, most)), (text, most))
STRINGS(char *, strchr, (const char *text, int letter), matters(text),
        reads(&call, text, bytes_to(text, SIZE_MAX, letter, 0)), (text, letter))
STRINGS(char *, index, (const char *text, int letter), matters(text),
        reads(&call, text, bytes_to(text, SIZE_MAX, letter, 0)), (text, letter))
STRINGS(char *, strchrnul, (const char *text, int letter), matters(text),
        reads(&call, text, bytes_to(text, SIZE_MAX, letter, 0)), (text, letter))
STRINGS(char *, strrchr, (const char *text, int letter), matters(text),
        reads(&call, text, text_bytes(text)), (text, letter))
STRINGS(char *, rindex, (const char *text, int letter), matters(text),
        reads(&call, text, text_bytes(text)), (text, letter))
/* "The implementation shall behave as if it reads the characters sequentially and stops as soon as
 * a matching character is found" (C17, 7.24.5.1). */
STRINGS(void *, memchr, (const void *memory, int value, size_t bytes), matters(memory),
        reads(&call, memory, bytes_to(memory, bytes, value, value)), (memory, value, bytes))
STRINGS(void *, rawmemchr, (const void *memory, int value), matters(memory),
        reads(&call, memory, bytes_to(memory, SIZE_MAX, value, value)), (memory, value))
STRINGS(char *, strdup, (const char *text), matters(text), reads(&call, text, text_bytes(text)),
        (text))
STRINGS(char *, strndup, (const char *text, size_t most), matters(text),
        reads(&call, text, text_bytes_of(text, most)), (text, most))

static const void *last_of(const unsigned char *memory, int value, size_t bytes)
{
    lent_memory_open(memory, bytes);
    while (bytes && memory[bytes - 1] != (unsigned char)value)
        bytes--;
    return bytes ? memory + bytes - 1 : memory;
}
STRINGS(void *, memrchr, (const void *memory, int value, size_t bytes), matters(memory),
        const char *from = last_of(memory, value, bytes);
        reads(&call, from, (size_t)((const char *)memory + bytes - from)), (memory, value, bytes))

/* ---- Two are compared ---- */

#define COMPARES(name, most, folds, parameters, arguments)                                         \
    STRINGS(int, name, parameters, matters(a) || matters(b),                                       \
            const size_t bytes = bytes_alike(a, b, most, folds);                                   \
            reads(&call, a, bytes); reads(&call, b, bytes), arguments)
COMPARES(strcmp, SIZE_MAX, false, (const char *a, const char *b), (a, b))
COMPARES(strcasecmp, SIZE_MAX, true, (const char *a, const char *b), (a, b))
COMPARES(strncmp, most, false, (const char *a, const char *b, size_t most), (a, b, most))
COMPARES(strncasecmp, most, true, (const char *a, const char *b, size_t most), (a, b, most))
STRINGS(int, strcoll, (const char *a, const char *b), matters(a) || matters(b),
        reads(&call, a, text_bytes(a));
        reads(&call, b, text_bytes(b)), (a, b))

/* ---- One is looked for in another ---- */

/* So far was the first read: to the end of what was found, or its own. */
static size_t found_within(const void *in, size_t bytes, const void *found, size_t length)
{
    return found ? (size_t)((const char *)found - (const char *)in) + length : bytes;
}

#define SEARCHES(name)                                                                             \
    STRINGS(char *, name, (const char *in, const char *text), matters(in) || matters(text),        \
            const size_t length = text_bytes(text);                                                \
            const size_t bytes = text_bytes(in); reads(&call, text, length);                       \
            reads(&call, in, found_within(in, bytes, NEXT(name)(in, text), length - 1)),           \
            (in, text))
SEARCHES(strstr)
SEARCHES(strcasestr)
STRINGS(void *, memmem, (const void *in, size_t bytes, const void *what, size_t length),
        matters(in) || matters(what), lent_memory_open(in, bytes);
        lent_memory_open(what, length); reads(&call, what, length);
        reads(&call, in, found_within(in, bytes, NEXT(memmem)(in, bytes, what, length), length)),
        (in, bytes, what, length))

/* Bytes of a text before the first that is in the set, or not. */
#define SPANS(name)                                                                                \
    STRINGS(size_t, name, (const char *text, const char *set), matters(text) || matters(set),      \
            const size_t length = text_bytes(set);                                                 \
            text_bytes(text); reads(&call, set, length);                                           \
            reads(&call, text, NEXT(name)(text, set) + 1), (text, set))
SPANS(strspn)
SPANS(strcspn)
STRINGS(char *, strpbrk, (const char *text, const char *set), matters(text) || matters(set),
        const size_t length = text_bytes(set);
        const size_t bytes = text_bytes(text); reads(&call, set, length);
        reads(&call, text, found_within(text, bytes, NEXT(strpbrk)(text, set), 1)), (text, set))

/* ---- One is copied ---- */

#define COPIES(name, read, written, parameters, arguments)                                         \
    STRINGS(char *, name, parameters, matters(to) || matters(from), const size_t bytes = read;     \
            reads(&call, from, bytes); writes(&call, to, written), arguments)
#define TO_FROM char *restrict to, const char *restrict from
COPIES(strcpy, text_bytes(from), bytes, (TO_FROM), (to, from))
COPIES(stpcpy, text_bytes(from), bytes, (TO_FROM), (to, from))
COPIES(strncpy, text_bytes_of(from, most), most, (TO_FROM, size_t most), (to, from, most))
COPIES(stpncpy, text_bytes_of(from, most), most, (TO_FROM, size_t most), (to, from, most))
COPIES(__strcpy_chk, text_bytes(from), bytes, (TO_FROM, size_t room), (to, from, room))
COPIES(__stpcpy_chk, text_bytes(from), bytes, (TO_FROM, size_t room), (to, from, room))
COPIES(__strncpy_chk, text_bytes_of(from, most), most, (TO_FROM, size_t most, size_t room),
       (to, from, most, room))
COPIES(__stpncpy_chk, text_bytes_of(from, most), most, (TO_FROM, size_t most, size_t room),
       (to, from, most, room))

/* Where there is no end within `most`, one is written. */
static size_t appended(const char *from, size_t read)
{
    return read && !from[read - 1] ? read : read + 1;
}

#define APPENDS(name, read, parameters, arguments)                                                 \
    STRINGS(char *, name, parameters, matters(to) || matters(from), const size_t bytes = read;     \
            const size_t old = text_bytes(to); reads(&call, from, bytes); reads(&call, to, old);   \
            writes(&call, to + old - 1, appended(from, bytes)), arguments)
APPENDS(strcat, text_bytes(from), (TO_FROM), (to, from))
APPENDS(strncat, text_bytes_of(from, most), (TO_FROM, size_t most), (to, from, most))
APPENDS(__strcat_chk, text_bytes(from), (TO_FROM, size_t room), (to, from, room))
APPENDS(__strncat_chk, text_bytes_of(from, most), (TO_FROM, size_t most, size_t room),
        (to, from, most, room))

/* ---- One is a number ---- */

/* Up to the first byte that is no part of the number, and with it. */
static size_t integer_bytes(const char *text, int base)
{
    char *end = NULL;
    text_bytes(text);
    NEXT(strtol)(text, &end, base);
    return (size_t)(end - text) + 1;
}
static size_t real_bytes(const char *text)
{
    char *end = NULL;
    text_bytes(text);
    NEXT(strtod)(text, &end);
    return (size_t)(end - text) + 1;
}

#define INTEGER(type, name)                                                                        \
    STRINGS(type, name, (const char *restrict text, char **restrict end, int base), matters(text), \
            reads(&call, text, integer_bytes(text, base)), (text, end, base))
INTEGER(long, strtol)
INTEGER(long long, strtoll)
INTEGER(unsigned long, strtoul)
INTEGER(unsigned long long, strtoull)
#define REAL(type, name)                                                                           \
    STRINGS(type, name, (const char *restrict text, char **restrict end), matters(text),           \
            reads(&call, text, real_bytes(text)), (text, end))
REAL(double, strtod)
REAL(float, strtof)
#define DECIMAL(type, name)                                                                        \
    STRINGS(type, name, (const char *text), matters(text),                                         \
            reads(&call, text, integer_bytes(text, 10)), (text))
DECIMAL(int, atoi)
DECIMAL(long, atol)
DECIMAL(long long, atoll)
STRINGS(double, atof, (const char *text), matters(text), reads(&call, text, real_bytes(text)),
        (text))

/* ---- Wide characters ---- */

#define WIDE(returned, name, parameters, bytes, arguments)                                         \
    STRINGS(returned, name, parameters, matters(text), reads(&call, text, bytes), arguments)
WIDE(size_t, wcslen, (const wchar_t *text), wide_bytes(text, SIZE_MAX, 0), (text))
WIDE(size_t, wcsnlen, (const wchar_t *text, size_t most), wide_bytes(text, most, 0), (text, most))
WIDE(wchar_t *, wcschr, (const wchar_t *text, wchar_t letter), wide_bytes(text, SIZE_MAX, letter),
     (text, letter))
WIDE(wchar_t *, wcsrchr, (const wchar_t *text, wchar_t letter), wide_bytes(text, SIZE_MAX, 0),
     (text, letter))
#define WIDE_COMPARES(name, most, parameters, arguments)                                           \
    STRINGS(int, name, parameters, matters(a) || matters(b),                                       \
            const size_t bytes = wide_alike(a, b, most);                                           \
            reads(&call, a, bytes); reads(&call, b, bytes), arguments)
WIDE_COMPARES(wcscmp, SIZE_MAX, (const wchar_t *a, const wchar_t *b), (a, b))
WIDE_COMPARES(wcsncmp, most, (const wchar_t *a, const wchar_t *b, size_t most), (a, b, most))
STRINGS(wchar_t *, wcscpy, (wchar_t *restrict to, const wchar_t *restrict from),
        matters(to) || matters(from), const size_t bytes = wide_bytes(from, SIZE_MAX, 0);
        reads(&call, from, bytes); writes(&call, to, bytes), (to, from))

/* ---- An array is sorted, or cleared ---- */

/* The comparisons are the program's own; who is moved where is not. */
static __attribute__((noinline)) void sorted_looked(void *array, size_t count, size_t size,
                                                    int (*compare)(const void *, const void *))
{
    struct call call = {.count = 0};
    if (count > 1 && matters(array)) {
        lent_memory_open(array, count * size);
        writes(&call, array, count * size);
    }
    NEXT(qsort)(array, count, size, compare);
    ended(&call, "qsort");
}
NEXT_EXPORTED void qsort(void *array, size_t count, size_t size,
                         int (*compare)(const void *, const void *))
{
    if (any_is_pending())
        sorted_looked(array, count, size, compare);
    else
        NEXT(qsort)(array, count, size, compare);
}

/* The C library calls memset by another name here. */
static __attribute__((noinline)) void cleared_looked(void *memory, size_t bytes)
{
    struct call call = {.count = 0};
    if (matters(memory))
        writes(&call, memory, bytes);
    NEXT(explicit_bzero)(memory, bytes);
    ended(&call, "explicit_bzero");
}
NEXT_EXPORTED void explicit_bzero(void *memory, size_t bytes)
{
    if (any_is_pending())
        cleared_looked(memory, bytes);
    else
        NEXT(explicit_bzero)(memory, bytes);
}

/* Those of C23, which the C library has since 2.38. */
#undef NEXT
#define NEXT(name)                                                                                 \
    (__builtin_expect(!__atomic_load_n(&newer.found, __ATOMIC_ACQUIRE), 0) ? find_newer()          \
                                                                           : (void)0,              \
     newer.name)
INTEGER(long, __isoc23_strtol)
INTEGER(long long, __isoc23_strtoll)
INTEGER(unsigned long, __isoc23_strtoul)
INTEGER(unsigned long long, __isoc23_strtoull)
