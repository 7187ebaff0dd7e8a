/* See caller.h. */
#include "runtime/threads/caller.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

/* By the beginnings of their file names. A CUDA runtime that is linked into the program cannot be
 * told from it. */
static const char *const libraries[] = {"libcsan", "libcuda", "libnvidia", "libcublas", "libcufft",
                                        "libcudnn", "libnccl", "libnv",
                                        /* allocators */
                                        "libjemalloc", "libtcmalloc", "libmimalloc"};

enum { CACHED = 1024 };

/* Each: an address, shifted by one, and whether it is aside. Two threads may look the same one up.
 */
static uintptr_t cache[CACHED];

/* glibc 2.35 and later. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

/* The file that holds the address, or "" or NULL. Without a lock where that can be: the caller may
 * hold one that another thread wants inside the dynamic loader, such as an allocator's. */
static const char *file_of(const void *caller)
{
    struct dl_find_object object;
    Dl_info info;
    if (_dl_find_object)
        return _dl_find_object((void *)(uintptr_t)caller, &object) == 0
                   ? object.dlfo_link_map->l_name
                   : NULL;
    return dladdr(caller, &info) ? info.dli_fname : NULL;
}

static bool look_up(const void *caller)
{
    const char *file = file_of(caller);
    if (!file)
        return false;
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
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
