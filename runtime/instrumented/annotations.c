/* What programs declare to ThreadSanitizer: locks, orders and fibers of their own
 * (sanitizer/tsan_interface.h), and the older "dynamic annotations". They order threads as atomic
 * operations do. What leaves out races between the host's threads is taken and has no effect. */
#include "runtime/instrumented/table.h"

#include <stdlib.h>

static void release(const volatile void *key)
{
    if (host_table.release)
        host_table.release((const void *)key);
}

static void acquire(const volatile void *key)
{
    if (host_table.acquire)
        host_table.acquire((const void *)key);
}

EXPORTED void __tsan_acquire(void *address)
{
    acquire(address);
}
EXPORTED void __tsan_release(void *address)
{
    release(address);
}
EXPORTED void __tsan_flush_memory(void) {}

/* ---- Locks */

enum { TRY_LOCK_FAILED = 1 << 5 };

#define IGNORED_MUTEX(name)                                                                        \
    EXPORTED void __tsan_mutex_##name(void *mutex, unsigned flags)                                 \
    {                                                                                              \
        (void)mutex, (void)flags;                                                                  \
    }
IGNORED_MUTEX(create)
IGNORED_MUTEX(destroy)
IGNORED_MUTEX(pre_lock)
IGNORED_MUTEX(post_unlock)
IGNORED_MUTEX(pre_signal)
IGNORED_MUTEX(post_signal)
IGNORED_MUTEX(pre_divert)
IGNORED_MUTEX(post_divert)

EXPORTED void __tsan_mutex_post_lock(void *mutex, unsigned flags, int recursion)
{
    (void)recursion;
    if (!(flags & TRY_LOCK_FAILED))
        acquire(mutex);
}
/* How often it was locked; whoever unlocks a recursive mutex at once gives that back. */
EXPORTED int __tsan_mutex_pre_unlock(void *mutex, unsigned flags)
{
    (void)flags;
    release(mutex);
    return 1;
}

/* ---- Fibers: what one did comes before what it does next, on whichever thread */

static __thread char own; /* stands for the thread's own stack */
static __thread void *current;

EXPORTED void *__tsan_get_current_fiber(void)
{
    return current ? current : &own;
}
EXPORTED void *__tsan_create_fiber(unsigned flags)
{
    (void)flags;
    return malloc(1);
}
EXPORTED void __tsan_destroy_fiber(void *fiber)
{
    free(fiber);
}
EXPORTED void __tsan_switch_to_fiber(void *fiber, unsigned flags)
{
    (void)flags;
    release(__tsan_get_current_fiber());
    current = fiber;
    acquire(fiber);
}
EXPORTED void __tsan_set_fiber_name(void *fiber, const char *name)
{
    (void)fiber, (void)name;
}

/* ---- Objects of other languages: an access is one of their first byte */

EXPORTED void *__tsan_external_register_tag(const char *type)
{
    return (void *)(uintptr_t)type;
}
EXPORTED void __tsan_external_register_header(void *tag, const char *header)
{
    (void)tag, (void)header;
}
EXPORTED void __tsan_external_assign_tag(void *address, void *tag)
{
    (void)address, (void)tag;
}
EXPORTED void __tsan_external_read(void *address, void *caller, void *tag)
{
    (void)tag;
    reads(address, 1, caller);
}
EXPORTED void __tsan_external_write(void *address, void *caller, void *tag)
{
    (void)tag;
    writes(address, 1, caller);
}

/* ---- Dynamic annotations */

#define ANNOTATION(name, does, ...)                                                                \
    EXPORTED void Annotate##name(const char *file, int line, ##__VA_ARGS__)                        \
    {                                                                                              \
        (void)file, (void)line;                                                                    \
        does;                                                                                      \
    }
#define ADDRESS const volatile void *address
ANNOTATION(HappensBefore, release(address), ADDRESS)
ANNOTATION(HappensAfter, acquire(address), ADDRESS)
ANNOTATION(CondVarSignal, release(address), ADDRESS)
ANNOTATION(CondVarSignalAll, release(address), ADDRESS)
ANNOTATION(CondVarWait, ((void)mutex, acquire(address)), ADDRESS, const volatile void *mutex)
ANNOTATION(RWLockCreate, (void)address, ADDRESS)
ANNOTATION(RWLockCreateStatic, (void)address, ADDRESS)
ANNOTATION(RWLockDestroy, (void)address, ADDRESS)
ANNOTATION(RWLockAcquired, ((void)writes, acquire(address)), ADDRESS, long writes)
ANNOTATION(RWLockReleased, ((void)writes, release(address)), ADDRESS, long writes)
ANNOTATION(MutexIsNotPHB, (void)address, ADDRESS)
ANNOTATION(MutexIsUsedAsCondVar, (void)address, ADDRESS)
ANNOTATION(PCQCreate, (void)address, ADDRESS)
ANNOTATION(PCQDestroy, (void)address, ADDRESS)
ANNOTATION(PCQPut, release(address), ADDRESS)
ANNOTATION(PCQGet, acquire(address), ADDRESS)
ANNOTATION(NewMemory, ((void)address, (void)bytes), ADDRESS, size_t bytes)
ANNOTATION(PublishMemoryRange, ((void)address, (void)bytes), ADDRESS, size_t bytes)
ANNOTATION(UnpublishMemoryRange, ((void)address, (void)bytes), ADDRESS, size_t bytes)
ANNOTATION(MemoryIsInitialized, ((void)address, (void)bytes), ADDRESS, size_t bytes)
ANNOTATION(MemoryIsUninitialized, ((void)address, (void)bytes), ADDRESS, size_t bytes)
ANNOTATION(TraceMemory, (void)address, ADDRESS)
ANNOTATION(ExpectRace, ((void)address, (void)text), ADDRESS, const char *text)
ANNOTATION(BenignRace, ((void)address, (void)text), ADDRESS, const char *text)
ANNOTATION(BenignRaceSized, ((void)address, (void)bytes, (void)text), ADDRESS, size_t bytes,
           const char *text)
ANNOTATION(EnableRaceDetection, (void)enable, int enable)
ANNOTATION(ThreadName, (void)name, const char *name)
ANNOTATION(FlushState, (void)0)
ANNOTATION(FlushExpectedRaces, (void)0)
ANNOTATION(NoOp, (void)address, ADDRESS)
ANNOTATION(IgnoreReadsBegin, (void)0)
ANNOTATION(IgnoreReadsEnd, (void)0)
ANNOTATION(IgnoreWritesBegin, (void)0)
ANNOTATION(IgnoreWritesEnd, (void)0)
ANNOTATION(IgnoreSyncBegin, (void)0)
ANNOTATION(IgnoreSyncEnd, (void)0)

EXPORTED int RunningOnValgrind(void)
{
    return 0;
}
EXPORTED double ValgrindSlowdown(void)
{
    return 1;
}
