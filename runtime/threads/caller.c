/* See caller.h. */
#include "runtime/threads/caller.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

/* By the beginnings of their file names. A CUDA runtime that is linked into the program cannot be
 * told from it. */
static const char *const libraries[] = {"libcsan",  "libcuda",  "libnvidia", "libcublas",
                                        "libcufft", "libcudnn", "libnccl",   "libnv"};

enum { CACHED = 1024 };

/* Each: an address, shifted by one, and whether it is aside. Two threads may look the same one up.
 */
static uintptr_t cache[CACHED];

static bool look_up(const void *caller)
{
    Dl_info info;
    if (!dladdr(caller, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash ? slash + 1 : info.dli_fname;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            return true;
    return false;
}

bool caller_is_aside(const void *caller)
{
    uintptr_t address = (uintptr_t)caller;
    uintptr_t *slot = &cache[(address ^ address >> 10) % CACHED];
    uintptr_t known = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (known >> 1 == address)
        return known & 1;
    bool aside = look_up(caller);
    __atomic_store_n(slot, address << 1 | aside, __ATOMIC_RELAXED);
    return aside;
}
