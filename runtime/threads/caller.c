/* See caller.h. */
#include "runtime/threads/caller.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

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

/* What is loaded there, and its file's name. Without a lock where that can be:
 * the caller may hold one that another thread wants inside the dynamic loader, such as an
 * allocator's. */
struct place {
    const void *object; /* NULL: nothing is known */
    const char *file;
};

static struct place place_of(const void *address)
{
    struct dl_find_object object;
    Dl_info info;
    if (!_dl_find_object)
        return dladdr(address, &info) ? (struct place){info.dli_fbase, info.dli_fname}
                                      : (struct place){0};
    return _dl_find_object((void *)(uintptr_t)address, &object) == 0
               ? (struct place){object.dlfo_link_map, object.dlfo_link_map->l_name}
               : (struct place){0};
}

/* Whether malloc is from there, and neither the C library nor the program is. csan allocates with
 * locks of its own held, so that it could never be told of an allocator's. */
static bool allocates(struct place place)
{
    return place.object == place_of((const void *)(uintptr_t)malloc).object &&
           place.object != place_of((const void *)(uintptr_t)getpid).object &&
           place.object != place_of((const void *)getauxval(AT_PHDR)).object;
}

static bool look_up(const void *caller)
{
    const struct place place = place_of(caller);
    if (!place.file)
        return false;
    const char *slash = strrchr(place.file, '/');
    const char *name = slash ? slash + 1 : place.file;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            return true;
    return allocates(place);
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
