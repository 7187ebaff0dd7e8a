/* See libc_next.h. */
#include "runtime/threads/libc_next.h"
#include "runtime/glibc/symbol_version.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sanitizers' run-times have no versions, so a look-up by version passes them by. Each has one
 * of these. */
extern char __asan_init[] __attribute__((weak));
extern char __tsan_get_current_report[] __attribute__((weak));

/* Asked for by its version, since a look-up that fails allocates: an allocator that locks comes
 * back here for ever, and dlsym may be csan's own. */
void *libc_next_find(void **address, const char *name)
{
    bool condition = strncmp(name, "pthread_cond_", strlen("pthread_cond_")) == 0;
    bool sanitized = __asan_init || __tsan_get_current_report;
    void *found = sanitized ? dlsym(RTLD_NEXT, name)
                            : dlvsym(RTLD_NEXT, name, condition ? GLIBC_CONDITION : GLIBC_FIRST);
    if (!found)
        found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "csan: libcsan_threads.so stands in front of %s, but there is none\n",
                name);
        abort();
    }
    __atomic_store_n(address, found, __ATOMIC_RELEASE);
    return found;
}
