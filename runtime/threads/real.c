/* See real.h. */
#include "runtime/threads/real.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* Of condition variables glibc keeps two kinds on x86-64; what is linked today uses the newer. */
void *real_find(void **place, const char *name)
{
    void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    if (!found)
        found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "csan: libcsan_threads.so stands in front of %s, but there is none\n",
                name);
        abort();
    }
    __atomic_store_n(place, found, __ATOMIC_RELEASE);
    return found;
}
