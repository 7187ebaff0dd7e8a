/* See caller.h. */
#include "runtime/threads/caller.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* By the beginnings of their file names. A CUDA runtime that is linked into the program looks like
 * the program itself. */
static const char *const libraries[] = {
    "libcsan", "libcuda", "libnvidia", "libcublas", "libcufft", "libcudnn", "libnccl", "libnv",
    /* MPI, and what it sends by */
    "libmpi", "libopen-pal", "libmca_", "mca_", "libpmix", "libuc", "libfabric",
    /* allocators */
    "libjemalloc", "libtcmalloc", "libmimalloc"};

enum { CACHED = 1024 };

/* Each entry is an address, shifted by one, and one bit: the address is in an excluded library. Two
 * threads may look up the same address. */
static uintptr_t cache[CACHED];

/* glibc 2.35 and later. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

/* The object that is loaded at an address, and its file's name. It takes no lock where that is
 * possible: the caller may hold a lock (an allocator's) that another thread needs inside the
 * dynamic loader. */
struct loaded {
    const void *object; /* NULL: nothing is known */
    const char *file;
};

static struct loaded loaded_at(const void *address)
{
    struct dl_find_object found;
    Dl_info info;
    if (!_dl_find_object)
        return dladdr(address, &info) ? (struct loaded){info.dli_fbase, info.dli_fname}
                                      : (struct loaded){0};
    return _dl_find_object((void *)(uintptr_t)address, &found) == 0
               ? (struct loaded){found.dlfo_link_map, found.dlfo_link_map->l_name}
               : (struct loaded){0};
}

/* Whether the object defines malloc and is neither the C library nor the program. csan itself
 * allocates while it holds its own locks, so it must not follow an allocator's locks. */
static bool allocates(struct loaded loaded)
{
    return loaded.object == loaded_at((const void *)(uintptr_t)malloc).object &&
           loaded.object != loaded_at((const void *)(uintptr_t)getpid).object &&
           loaded.object != loaded_at((const void *)getauxval(AT_PHDR)).object;
}

static bool look_up(const void *caller)
{
    const struct loaded loaded = loaded_at(caller);
    if (!loaded.file)
        return false;
    const char *slash = strrchr(loaded.file, '/');
    const char *name = slash ? slash + 1 : loaded.file;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            return true;
    return allocates(loaded);
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
