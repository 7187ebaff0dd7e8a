/* See module_map.h. */
#include "csan/stack/module_map.h"
#include "csan/base/array.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool module_map_add(struct module_map *map, const struct module *module)
{
    if (!array_room(&map->modules, map->count, &map->capacity, 16, SIZE_MAX, sizeof *map->modules))
        return false;
    struct module *copy = &map->modules[map->count];
    *copy = *module;
    copy->path = strdup(module->path);
    map->count += copy->path != NULL;
    return copy->path != NULL;
}

void module_map_clear(struct module_map *map)
{
    for (size_t i = 0; i < map->count; i++)
        free(map->modules[i].path);
    free(map->modules);
    *map = (struct module_map){0};
}

struct module *module_map_find(const struct module_map *map, uint64_t address)
{
    for (size_t i = map->count; i-- > 0;)
        if (address - map->modules[i].start < map->modules[i].bytes)
            return &map->modules[i];
    return NULL;
}

/* ---- build ids: a note of type NT_GNU_BUILD_ID, owner "GNU" (elf(5), "Notes") */

static size_t note_find(const uint8_t *notes, size_t bytes, size_t alignment, uint8_t *build_id)
{
    size_t at = 0;
    alignment = alignment == 8 ? 8 : 4;
    while (at <= bytes && bytes - at >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, notes + at, sizeof(note));
        size_t name = at + sizeof(note);
        uint64_t content = (name + (uint64_t)note.n_namesz + alignment - 1) & ~(alignment - 1);
        if (content > bytes || note.n_descsz > bytes - content)
            return 0;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + name, "GNU", 4) == 0) {
            size_t length = note.n_descsz < BUILD_ID_MAX ? note.n_descsz : BUILD_ID_MAX;
            memcpy(build_id, notes + content, length);
            return length;
        }
        at = (content + note.n_descsz + alignment - 1) & ~(alignment - 1);
    }
    return 0;
}

size_t module_file_build_id(const char *path, uint8_t *build_id)
{
    enum { NOTES_MAX = 64 << 10, HEADERS_MAX = 256 };
    ElfW(Ehdr) header;
    size_t found = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    bool elf = pread(file, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
               memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
               header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_phentsize == sizeof(ElfW(Phdr));
    for (unsigned i = 0; elf && !found && i < header.e_phnum && i < HEADERS_MAX; i++) {
        ElfW(Phdr) segment;
        if (pread(file, &segment, sizeof(segment), (off_t)(header.e_phoff + i * sizeof(segment))) !=
            (ssize_t)sizeof(segment))
            break;
        size_t bytes = segment.p_filesz < NOTES_MAX ? segment.p_filesz : NOTES_MAX;
        uint8_t *notes = segment.p_type == PT_NOTE ? malloc(bytes + 1) : NULL;
        if (notes && pread(file, notes, bytes, (off_t)segment.p_offset) == (ssize_t)bytes)
            found = note_find(notes, bytes, segment.p_align, build_id);
        free(notes);
    }
    close(file);
    return found;
}

bool module_file_is_same(struct module *module)
{
    uint8_t build_id[BUILD_ID_MAX];
    if (module->file == MODULE_FILE_UNKNOWN) {
        size_t bytes = module_file_build_id(module->path, build_id);
        bool differs =
            bytes && module->build_id_bytes &&
            (bytes != module->build_id_bytes || memcmp(build_id, module->build_id, bytes) != 0);
        module->file = differs ? MODULE_FILE_OTHER : MODULE_FILE_SAME;
    }
    return module->file == MODULE_FILE_SAME;
}

/* ---- this process */

static bool is_known(const struct module_map *map, const struct module *module)
{
    for (size_t i = 0; i < map->count; i++)
        if (map->modules[i].start == module->start && map->modules[i].bytes == module->bytes &&
            strcmp(map->modules[i].path, module->path) == 0)
            return true;
    return false;
}

/* The file's whole path: the recording is read elsewhere. */
static void whole_path(char path[PATH_MAX], const char *name)
{
    if (name && name[0] && (name[0] == '/' || !strchr(name, '/')))
        snprintf(path, PATH_MAX, "%s", name); /* one without a slash is the kernel's own object */
    else if (!realpath(name && name[0] ? name : "/proc/self/exe", path))
        snprintf(path, PATH_MAX, "%s", name && name[0] ? name : "/proc/self/exe");
}

static bool is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) * segment)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *loaded = &info->dlpi_phdr[i];
        if (loaded->p_type == PT_LOAD && (loaded->p_flags & PF_R) &&
            segment->p_vaddr - loaded->p_vaddr < loaded->p_memsz &&
            segment->p_memsz <= loaded->p_memsz - (segment->p_vaddr - loaded->p_vaddr))
            return true;
    }
    return false;
}

static int module_visit(struct dl_phdr_info *info, size_t size, void *user)
{
    struct module_map *map = user;
    char path[PATH_MAX];
    uint64_t low = UINT64_MAX, high = 0;
    struct module module = {.bias = info->dlpi_addr, .path = path};
    (void)size;
    if (map->changes == info->dlpi_adds)
        return 1;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD) {
            low = segment->p_vaddr < low ? segment->p_vaddr : low;
            high = segment->p_vaddr + segment->p_memsz > high ? segment->p_vaddr + segment->p_memsz
                                                              : high;
        }
        if (segment->p_type == PT_NOTE && !module.build_id_bytes && is_loaded(info, segment))
            module.build_id_bytes =
                (uint8_t)note_find((const uint8_t *)(info->dlpi_addr + segment->p_vaddr),
                                   segment->p_memsz, segment->p_align, module.build_id);
    }
    if (low >= high)
        return 0;
    module.start = info->dlpi_addr + low;
    module.bytes = high - low;
    whole_path(path, info->dlpi_name);
    if (!is_known(map, &module))
        module_map_add(map, &module);
    return 0;
}

static int changes_read(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(uint64_t *)user = info->dlpi_adds;
    return 1;
}

void module_map_update(struct module_map *map)
{
    uint64_t changes = 0;
    dl_iterate_phdr(changes_read, &changes);
    dl_iterate_phdr(module_visit, map);
    map->changes = changes;
}
