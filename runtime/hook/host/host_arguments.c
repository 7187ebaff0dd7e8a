/* Functions of the C library whose arguments the kernel looks at: paths, structures, results. Such
 * an argument may lie in a page that is guarded because of other bytes in it, and the kernel
 * answers EFAULT then. That has no effect, for most calls: the arguments are opened, and the call
 * is made again. Calls that would lose something, such as a connection, have theirs opened before.
 *
 * None of it is an access that is checked. Buffers, which are, are in host_calls.c. */
#include "runtime/hook/host/host_arguments.h"
#include "runtime/hook/interpose/driver.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What these calls look at is smaller, but for the longest arrays. */
enum { ROOM = 64 << 10 };

void host_arguments_begin(struct host_arguments *arguments, const long *values)
{
    for (int i = 0; i < HOST_ARGUMENTS; i++)
        lent_memory_begin(&arguments->each[i], (const void *)(uintptr_t)values[i], ROOM, false);
}

void host_arguments_end(struct host_arguments *arguments)
{
    for (int i = 0; i < HOST_ARGUMENTS; i++)
        lent_memory_end(&arguments->each[i], 0, NULL);
}

/* All are called with six words: arguments that a function does not have are ignored by it, as the
 * calling convention has it (System V ABI, AMD64, "Parameter Passing"; AAPCS64, the same). */
typedef long words_function(long a, long b, long c, long d, long e, long f);

#define NUMBER(name)  CALL(name)
#define POINTER(name) CALL(name)
#define ERROR(name)   CALL(name)
#define LOSING(name)  CALL(name)

/* Until the next functions are found: the constructor of another library calls. */
#define CALL(name) static words_function name##_early;
#include "runtime/hook/host/host_arguments.def"
#undef CALL

static struct {
#define CALL(name) words_function *name; /* atomic */
#include "runtime/hook/host/host_arguments.def"
#undef CALL
} next_calls = {
#define CALL(name) .name = name##_early,
#include "runtime/hook/host/host_arguments.def"
#undef CALL
};

static void find_next(words_function **next, const char *name, words_function *older)
{
    words_function *function;
    *(void **)&function = driver_dlsym(RTLD_NEXT, name);
    __atomic_store_n(next, function ? function : older, __ATOMIC_RELAXED);
}

/* In the C library before 2.33 these are part of the program, by other functions' help. A program
 * that is linked with csan first gets them here. */
static long older_stat(long a, long b, long c, long d, long e, long f)
{
    (void)c, (void)d, (void)e, (void)f;
    return syscall(SYS_newfstatat, AT_FDCWD, a, b, 0);
}
static long older_lstat(long a, long b, long c, long d, long e, long f)
{
    (void)c, (void)d, (void)e, (void)f;
    return syscall(SYS_newfstatat, AT_FDCWD, a, b, AT_SYMLINK_NOFOLLOW);
}
static long older_fstat(long a, long b, long c, long d, long e, long f)
{
    (void)c, (void)d, (void)e, (void)f;
    return syscall(SYS_fstat, a, b);
}
static long older_fstatat(long a, long b, long c, long d, long e, long f)
{
    (void)e, (void)f;
    return syscall(SYS_newfstatat, a, b, c, d);
}

static __attribute__((constructor(101))) void find(void)
{
#define CALL(name) find_next(&next_calls.name, #name, NULL);
#include "runtime/hook/host/host_arguments.def"
#undef CALL
    find_next(&next_calls.stat, "stat", older_stat);
    find_next(&next_calls.stat64, "stat64", older_stat);
    find_next(&next_calls.lstat, "lstat", older_lstat);
    find_next(&next_calls.lstat64, "lstat64", older_lstat);
    find_next(&next_calls.fstat, "fstat", older_fstat);
    find_next(&next_calls.fstat64, "fstat64", older_fstat);
    find_next(&next_calls.fstatat, "fstatat", older_fstatat);
    find_next(&next_calls.fstatat64, "fstatat64", older_fstatat);
}

/* Arguments are kept on the stack for the second call. In registers they would cost the first one
 * more: as many would have to be saved for the caller. */
typedef volatile long kept_words[HOST_ARGUMENTS];

static __attribute__((noinline)) long call_open(words_function *next, const kept_words kept)
{
    struct host_arguments arguments;
    long a[HOST_ARGUMENTS];
    for (int i = 0; i < HOST_ARGUMENTS; i++)
        a[i] = kept[i];
    host_arguments_begin(&arguments, a);
    const long result = next(a[0], a[1], a[2], a[3], a[4], a[5]);
    host_arguments_end(&arguments);
    return result;
}

/* It failed, for this reason or another. */
static __attribute__((noinline)) long call_again(words_function *next, const kept_words kept,
                                                 long result)
{
    return errno == EFAULT ? call_open(next, kept) : result;
}

/* While no page may be guarded, a function here is a test and a jump, and else mostly a call and
 * a look at its result. By its name in the assembler: headers declare it with its own types. */
#define NEXT(name) __atomic_load_n(&next_calls.name, __ATOMIC_RELAXED)
#define DEFINE(name, guarded)                                                                      \
    static long name##_early(long a, long b, long c, long d, long e, long f)                       \
    {                                                                                              \
        find();                                                                                    \
        return NEXT(name)(a, b, c, d, e, f);                                                       \
    }                                                                                              \
    static __attribute__((noinline)) long name##_guarded(long a, long b, long c, long d, long e,   \
                                                         long f)                                   \
    {                                                                                              \
        kept_words kept;                                                                           \
        kept[0] = a, kept[1] = b, kept[2] = c, kept[3] = d, kept[4] = e, kept[5] = f;              \
        guarded;                                                                                   \
    }                                                                                              \
    __attribute__((visibility("default"))) words_function host_##name __asm__(#name);              \
    long host_##name(long a, long b, long c, long d, long e, long f)                               \
    {                                                                                              \
        if (__builtin_expect(host_access_guards, 0))                                               \
            return name##_guarded(a, b, c, d, e, f);                                               \
        return NEXT(name)(a, b, c, d, e, f);                                                       \
    }
#define AGAIN(name, failed, again)                                                                 \
    DEFINE(name, const long result = NEXT(name)(a, b, c, d, e, f);                                 \
           return __builtin_expect(failed, 0) ? again : result)
#undef NUMBER
#undef POINTER
#undef ERROR
#undef LOSING
#define NUMBER(name)  AGAIN(name, (int)result == -1, call_again(NEXT(name), kept, result))
#define POINTER(name) AGAIN(name, result == 0, call_again(NEXT(name), kept, result))
#define ERROR(name)   AGAIN(name, (int)result == EFAULT, call_open(NEXT(name), kept))
#define LOSING(name)  DEFINE(name, return call_open(NEXT(name), kept))
#include "runtime/hook/host/host_arguments.def"
