/* See caller.h. */
#include "runtime/threads/caller.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <unwind.h>

/* By the beginnings of their file names. A CUDA runtime that is linked into the program looks like
 * the program itself. */
static const char *const libraries[] = {
    "libcsan", "libcuda", "libnvidia", "libcublas", "libcufft", "libcudnn", "libnccl", "libnv",
    /* MPI, and what it sends by */
    "libmpi", "libopen-pal", "libmca_", "mca_", "libpmix", "libuc", "libfabric",
    /* allocators */
    "libjemalloc", "libtcmalloc", "libmimalloc"};
/* The sanitizers' run-times stand in front of pthread's functions, too, and pass calls on. */
static const char *const passing_on[] = {"libasan", "libtsan",  "libhwasan",
                                         "liblsan", "libubsan", "libclang_rt."};

/* Whose the code is at an address. */
enum owner { PROGRAM, ASIDE, SANITIZER, OWNERS };

enum { CACHED = 1024 };

/* Each entry is an address times OWNERS, and its owner. Two threads may look up the same address.
 */
static uintptr_t cache[CACHED];

/* glibc 2.35 and later. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

#pragma weak _Unwind_Backtrace
#pragma weak _Unwind_GetIP

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

static bool begins(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}
#define BEGINS(name, list) begins(name, list, sizeof(list) / sizeof *(list))

static enum owner look_up(const void *address)
{
    const struct loaded loaded = loaded_at(address);
    if (!loaded.file)
        return PROGRAM;
    const char *slash = strrchr(loaded.file, '/');
    const char *name = slash ? slash + 1 : loaded.file;
    if (BEGINS(name, passing_on))
        return SANITIZER;
    return BEGINS(name, libraries) || allocates(loaded) ? ASIDE : PROGRAM;
}

static enum owner owner_of(const void *code)
{
    const uintptr_t address = (uintptr_t)code;
    uintptr_t *slot = &cache[(address ^ address >> 10) % CACHED];
    const uintptr_t known = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (known / OWNERS == address)
        return (enum owner)(known % OWNERS);
    const enum owner owner = look_up(code);
    __atomic_store_n(slot, address * OWNERS + owner, __ATOMIC_RELAXED);
    return owner;
}

/* ---- behind a sanitizer */

/* The stack from `from` outwards, up to the first that is no sanitizer's. */
struct walk {
    const void *from;
    bool begun;
    enum owner owner;
};

static _Unwind_Reason_Code walk_frame(struct _Unwind_Context *frame, void *user)
{
    struct walk *walk = user;
    const void *address = (const void *)_Unwind_GetIP(frame);
    walk->begun |= address == walk->from;
    if (walk->begun)
        walk->owner = owner_of(address);
    return walk->owner == SANITIZER ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* The unwinder calls pthread functions of its own. */
static __thread bool walking;

/* Who called the sanitizer. Its run-time brings the unwinder that this library does not need
 * otherwise. */
static enum owner owner_behind(const void *sanitizer)
{
    struct walk walk = {.from = sanitizer, .owner = SANITIZER};
    if (!_Unwind_Backtrace || !_Unwind_GetIP)
        return SANITIZER;
    walking = true;
    _Unwind_Backtrace(walk_frame, &walk);
    walking = false;
    return walk.owner;
}

bool caller_is_aside(const void *caller)
{
    enum owner owner = walking ? ASIDE : owner_of(caller);
    if (__builtin_expect(owner == SANITIZER, 0))
        owner = owner_behind(caller);
    return owner == ASIDE;
}
