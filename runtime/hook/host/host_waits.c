/* Functions of the C library in which a thread may sleep at a lock of the program's. While it
 * sleeps, the kernel may look at the lock again by itself: when a signal or a stop interrupts the
 * sleep (signal(7), "Interruption of system calls"). If the page is closed by then, the kernel
 * answers EFAULT, and the C library ends the process. So no page of a lock is guarded while a
 * thread may sleep at it.
 *
 * Only locks in memory that the host shares with a device matter: the others' pages are never
 * guarded. What sleeps by syscall(2) is made again after EFAULT (host_syscall.c). */
#include "runtime/glibc/symbol_version.h"
#include "runtime/hook/host/host_blocks.h"
#include "runtime/hook/host/lent_memory.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/session_options.h"
#include "runtime/hook/state/thread.h"
#include "runtime/threads/threads.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ThreadSanitizer's run-time has its own in front, which csan's locks must call. */
#if !defined(THREAD_SANITIZER)

/* The largest of these objects has 56 bytes (pthread_rwlock_t). */
enum { OBJECT_BYTES = 64 };

/* As in host_arguments.c: arguments that a function does not have are ignored by it. */
typedef long words_function(long a, long b, long c, long d);

/* Until the next functions are found: the constructor of another library calls. */
#define WAITS(name, objects) static words_function name##_early;
#include "runtime/hook/host/host_waits.def"
#undef WAITS

static struct {
#define WAITS(name, objects) words_function *name; /* atomic */
#include "runtime/hook/host/host_waits.def"
#undef WAITS
} next_calls = {
#define WAITS(name, objects) .name = name##_early,
#include "runtime/hook/host/host_waits.def"
#undef WAITS
};

static const void *object_of(const void *function)
{
    Dl_info info;
    return function && dladdr(function, &info) ? info.dli_fbase : NULL;
}

/* Of condition variables glibc keeps two kinds on x86-64, and RTLD_NEXT without a version finds the
 * older one. With a version it passes by libraries that have none, such as libcsan_threads. */
static void *function_of(const char *name)
{
    void *const found = driver_dlsym(RTLD_NEXT, name);
    if (strncmp(name, "pthread_cond_", strlen("pthread_cond_")) != 0)
        return found;
    void *const newer = dlvsym(RTLD_NEXT, name, GLIBC_CONDITION);
    return newer && object_of(found) == object_of(newer) ? newer : found;
}

/* In this order: a look-up that fails allocates, and an allocator may lock. */
static __attribute__((constructor(101))) void find(void)
{
#define WAITS(name, objects)                                                                       \
    __atomic_store_n(&next_calls.name, (words_function *)(uintptr_t)function_of(#name),            \
                     __ATOMIC_RELAXED);
#include "runtime/hook/host/host_waits.def"
#undef WAITS
}

/* With host_order=threads libcsan_threads is the next, and asks who calls it: calls must go on to
 * it as they are. It says itself when a thread sleeps. */
static bool is_followed(void)
{
    return csan_threads_activate != NULL && !session_options()->host_observed;
}

static bool any_is_shared(const long *objects, int count)
{
    for (int i = 0; i < count; i++)
        if (host_blocks_has((uint64_t)objects[i]))
            return true;
    return false;
}

static bool matters(const long *objects, int count)
{
    return host_access_guards && !is_followed() && any_is_shared(objects, count);
}

static long wait_open(words_function *next, const long *a, int objects)
{
    struct lent_memory open[2];
    for (int i = 0; i < objects; i++)
        lent_memory_begin(&open[i], (const void *)(uintptr_t)a[i], OBJECT_BYTES, false);
    const long result = next(a[0], a[1], a[2], a[3]);
    for (int i = 0; i < objects; i++)
        lent_memory_end(&open[i], 0, NULL);
    return result;
}

/* Said by libcsan_threads. */
struct sleeping {
    struct lent_memory open[2];
    int count;
};
_Static_assert(sizeof(struct sleeping) <= sizeof(struct csan_threads_sleep),
               "libcsan_threads has room for it");

static void sleeps(struct csan_threads_sleep *sleep, const void *object, const void *other)
{
    const long objects[] = {(long)(uintptr_t)object, (long)(uintptr_t)other};
    struct sleeping *sleeping = (void *)sleep->room;
    sleeping->count = 0;
    if (!host_access_guards || !any_is_shared(objects, other ? 2 : 1))
        return;
    for (; sleeping->count < (other ? 2 : 1); sleeping->count++)
        lent_memory_begin(&sleeping->open[sleeping->count],
                          (const void *)(uintptr_t)objects[sleeping->count], OBJECT_BYTES, false);
}

static void wakes(struct csan_threads_sleep *sleep)
{
    struct sleeping *sleeping = (void *)sleep->room;
    for (int i = 0; i < sleeping->count; i++)
        lent_memory_end(&sleeping->open[i], 0, NULL);
}

static __attribute__((constructor)) void follow(void)
{
    thread_on_sleep = sleeps;
    thread_on_wake = wakes;
}

static inline bool may_be_shared(long object, long other, int count)
{
    return host_blocks_may_have_address((uint64_t)object) ||
           (count > 1 && host_blocks_may_have_address((uint64_t)other));
}

/* The driver and Python take dozens of locks in a launch, and they lie elsewhere: a comparison and
 * a jump. The rest is a function of its own. By its name in the assembler: headers declare it with
 * its own types. */
#define WAITS(name, objects)                                                                       \
    static __attribute__((noinline)) long name##_slow(long a, long b, long c, long d)              \
    {                                                                                              \
        const long words[] = {a, b, c, d};                                                         \
        words_function *const next = __atomic_load_n(&next_calls.name, __ATOMIC_RELAXED);          \
        return matters(words, objects) ? wait_open(next, words, objects) : next(a, b, c, d);       \
    }                                                                                              \
    __attribute__((visibility("default"))) words_function host_##name __asm__(#name);              \
    long host_##name(long a, long b, long c, long d)                                               \
    {                                                                                              \
        if (__builtin_expect(may_be_shared(a, b, objects), 0))                                     \
            return name##_slow(a, b, c, d);                                                        \
        return __atomic_load_n(&next_calls.name, __ATOMIC_RELAXED)(a, b, c, d);                    \
    }                                                                                              \
    static long name##_early(long a, long b, long c, long d)                                       \
    {                                                                                              \
        find();                                                                                    \
        return __atomic_load_n(&next_calls.name, __ATOMIC_RELAXED)(a, b, c, d);                    \
    }
#include "runtime/hook/host/host_waits.def"

#endif
