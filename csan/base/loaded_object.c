/* See loaded_object.h. */
#include "csan/base/loaded_object.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/* glibc 2.35 and later: a library that was built with a newer glibc runs with an older one, too. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

/* What dl_iterate_phdr is asked for, and its answer. */
struct search {
    uintptr_t address;
    uintptr_t start, end;
};

static int search_in(struct dl_phdr_info *info, size_t size, void *user)
{
    struct search *search = user;
    uintptr_t start = UINTPTR_MAX, end = 0;
    bool inside = false;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        const uintptr_t first = info->dlpi_addr + segment->p_vaddr;
        const uintptr_t behind = first + segment->p_memsz;
        start = first < start ? first : start;
        end = behind > end ? behind : end;
        inside |= search->address >= first && search->address < behind;
    }
    if (inside) {
        search->start = start;
        search->end = end;
    }
    return inside;
}

bool loaded_object_by_lock(const void *address, struct loaded_object *object)
{
    struct search search = {.address = (uintptr_t)address};
    struct link_map *map = NULL;
    Dl_info info;
    if (!dl_iterate_phdr(search_in, &search) ||
        !dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    *object = (struct loaded_object){map, (const void *)search.start, (const void *)search.end};
    return true;
}

bool loaded_object_at(const void *address, struct loaded_object *object)
{
    struct dl_find_object found;
    if (!_dl_find_object)
        return loaded_object_by_lock(address, object);
    if (_dl_find_object((void *)(uintptr_t)address, &found) != 0 || !found.dlfo_link_map)
        return false;
    *object = (struct loaded_object){found.dlfo_link_map, found.dlfo_map_start, found.dlfo_map_end};
    return true;
}
