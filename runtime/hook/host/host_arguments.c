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

static struct {
#define CALL(name) words_function *name;
#include "runtime/hook/host/host_arguments.def"
    bool found;
#undef CALL
} next_calls;

/* In the C library before 2.33 these are part of the program, by other functions' help. A program
 * that is linked with csan first gets them here. */
static words_function *found(const char *name, words_function *older)
{
    words_function *function;
    *(void **)&function = driver_dlsym(RTLD_NEXT, name);
    return function ? function : older;
}
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
#define CALL(name) next_calls.name = found(#name, NULL);
#include "runtime/hook/host/host_arguments.def"
    next_calls.stat = found("stat", older_stat);
    next_calls.stat64 = found("stat64", older_stat);
    next_calls.lstat = found("lstat", older_lstat);
    next_calls.lstat64 = found("lstat64", older_lstat);
    next_calls.fstat = found("fstat", older_fstat);
    next_calls.fstat64 = found("fstat64", older_fstat);
    next_calls.fstatat = found("fstatat", older_fstatat);
    next_calls.fstatat64 = found("fstatat64", older_fstatat);
    __atomic_store_n(&next_calls.found, true, __ATOMIC_RELEASE);
}

static bool is_refused_number(long result)
{
    return (int)result == -1 && errno == EFAULT;
}
static bool is_refused_pointer(long result)
{
    return result == 0 && errno == EFAULT;
}
static bool is_refused_error(long result)
{
    return (int)result == EFAULT;
}

static long call_again(words_function *next, const long *a)
{
    struct host_arguments arguments;
    host_arguments_begin(&arguments, a);
    const long result = next(a[0], a[1], a[2], a[3], a[4], a[5]);
    host_arguments_end(&arguments);
    return result;
}

static long call_and_again(words_function *next, bool is_refused(long), const long *a)
{
    const long result = next(a[0], a[1], a[2], a[3], a[4], a[5]);
    return is_refused(result) ? call_again(next, a) : result;
}

/* While no page may be guarded, a function here is tests and a jump: the rest is a function of its
 * own. By its name in the assembler: headers declare it with its own types. */
#define DEFINE(name, made)                                                                         \
    static                                                                                         \
        __attribute__((noinline)) long name##_slow(long a, long b, long c, long d, long e, long f) \
    {                                                                                              \
        const long words[HOST_ARGUMENTS] = {a, b, c, d, e, f};                                     \
        if (!__atomic_load_n(&next_calls.found, __ATOMIC_ACQUIRE))                                 \
            find(); /* the constructor of another library calls */                                 \
        words_function *const next = next_calls.name;                                              \
        return host_access_guards ? made : next(a, b, c, d, e, f);                                 \
    }                                                                                              \
    __attribute__((visibility("default"))) words_function host_##name __asm__(#name);              \
    long host_##name(long a, long b, long c, long d, long e, long f)                               \
    {                                                                                              \
        if (__builtin_expect(!__atomic_load_n(&next_calls.found, __ATOMIC_ACQUIRE), 0) ||          \
            __builtin_expect(host_access_guards, 0))                                               \
            return name##_slow(a, b, c, d, e, f);                                                  \
        return next_calls.name(a, b, c, d, e, f);                                                  \
    }
#undef NUMBER
#undef POINTER
#undef ERROR
#undef LOSING
#define NUMBER(name)  DEFINE(name, call_and_again(next, is_refused_number, words))
#define POINTER(name) DEFINE(name, call_and_again(next, is_refused_pointer, words))
#define ERROR(name)   DEFINE(name, call_and_again(next, is_refused_error, words))
#define LOSING(name)  DEFINE(name, call_again(next, words))
#include "runtime/hook/host/host_arguments.def"
