/* For a file that stands in front of functions of other libraries: the next functions of these
 * names, found before any constructor of libcsan's runs, since a look-up takes locks (libc_next.h).
 *
 *   #define CALLS(call) call(read) call(write)
 *   NEXT_CALLS(CALLS)
 *   ... NEXT(read)(file, memory, bytes)
 *
 * A function that the C library of this machine lacks is NULL; nobody can have called it then. */
#ifndef RUNTIME_HOOK_HOST_NEXT_CALL_H
#define RUNTIME_HOOK_HOST_NEXT_CALL_H

#include "runtime/hook/interpose/driver.h"

#include <dlfcn.h>
#include <stdbool.h>

#define NEXT_EXPORTED __attribute__((visibility("default")))

#define NEXT_MEMBER(name) __typeof__(name) *name;
#define NEXT_FIND(name)   *(void **)&next_calls.name = driver_dlsym(RTLD_NEXT, #name);
#define NEXT_CALLS(list)                                                                           \
    static struct {                                                                                \
        list(NEXT_MEMBER) bool found;                                                              \
    } next_calls;                                                                                  \
    static __attribute__((constructor(101))) void next_calls_find(void)                            \
    {                                                                                              \
        list(NEXT_FIND) __atomic_store_n(&next_calls.found, true, __ATOMIC_RELEASE);               \
    }

/* Another library's constructor may call first. */
#define NEXT(name)                                                                                 \
    (__builtin_expect(!__atomic_load_n(&next_calls.found, __ATOMIC_ACQUIRE), 0)                    \
         ? next_calls_find()                                                                       \
         : (void)0,                                                                                \
     next_calls.name)

#endif
