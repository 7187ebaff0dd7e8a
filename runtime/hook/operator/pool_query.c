/* See pool_query.h. Callers are known by the names that the linker left in PyTorch's libraries:
 * they are not exported, so the loader does not know them. Where the names were stripped, nobody is
 * known. */
#include "runtime/hook/operator/pool_query.h"
#include "csan/base/hash.h"
#include "csan/base/loaded_object.h"
#include "csan/stack/unwind.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const libraries[] = {"libc10_cuda.so", "libtorch_cuda.so"};

/* Parts of mangled names. The third is the pool of pinned memory of PyTorch 2.3. */
static const char *const pollers[] = {"CUDACachingAllocator", "CachingHostAllocator",
                                      "17CUDAHostAllocator", "ProcessGroupNCCL8Watchdog",
                                      "ProcessGroupNCCL15watchdogHandler"};

enum { FRAMES = 12, CACHED = 8192 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct {
    bool any_pool;
    /* Each: an address, shifted by one, and whether it is a pool's. Two threads may look the same
     * one up. */
    uintptr_t cache[CACHED];
} pool_queries;

void pool_query_blocks_are_declared(void)
{
    if (!__atomic_load_n(&pool_queries.any_pool, __ATOMIC_RELAXED))
        __atomic_store_n(&pool_queries.any_pool, true, __ATOMIC_RELAXED);
}

/* ---- Symbols ---- */

struct file {
    const uint8_t *bytes;
    size_t size;
};

static const void *piece(const struct file *file, uint64_t offset, uint64_t size)
{
    const bool within = offset <= file->size && size <= file->size - offset;
    return within && offset % 8 == 0 ? file->bytes + offset : NULL;
}

/* The function at that address: its name, which ends within the file; or NULL. */
static const char *name_among(const struct file *file, const Elf64_Shdr *symbols,
                              const Elf64_Shdr *names, uint64_t address)
{
    const Elf64_Sym *table = piece(file, symbols->sh_offset, symbols->sh_size);
    if (!table || names->sh_offset > file->size || names->sh_size > file->size - names->sh_offset)
        return NULL;
    const char *text = (const char *)file->bytes + names->sh_offset;
    for (size_t i = 0; i < symbols->sh_size / sizeof *table; i++) {
        const Elf64_Sym *symbol = &table[i];
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
            address - symbol->st_value >= symbol->st_size || symbol->st_name >= names->sh_size)
            continue;
        size_t room = names->sh_size - symbol->st_name;
        return strnlen(text + symbol->st_name, room) < room ? text + symbol->st_name : NULL;
    }
    return NULL;
}

static const char *name_at(const struct file *file, uint64_t address)
{
    const Elf64_Ehdr *head = piece(file, 0, sizeof *head);
    if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    const Elf64_Shdr *sections =
        piece(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof *sections);
    for (size_t i = 0; sections && i < head->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < head->e_shnum)
            return name_among(file, &sections[i], &sections[sections[i].sh_link], address);
    return NULL;
}

static bool is_poller(const char *name)
{
    for (size_t i = 0; name && i < COUNT(pollers); i++)
        if (strstr(name, pollers[i]))
            return true;
    return false;
}

static bool polls_in(const char *path, uint64_t address)
{
    struct stat status;
    bool polls = false;
    int handle = open(path, O_RDONLY | O_CLOEXEC);
    if (handle < 0)
        return false;
    if (fstat(handle, &status) == 0 && status.st_size > 0) {
        struct file file = {.size = (size_t)status.st_size};
        void *mapped = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, handle, 0);
        if (mapped != MAP_FAILED) {
            file.bytes = mapped;
            polls = is_poller(name_at(&file, address));
            munmap(mapped, file.size);
        }
    }
    close(handle);
    return polls;
}

/* ---- Callers ---- */

static bool look_up(const void *caller)
{
    struct loaded_object object;
    if (!loaded_object_at(caller, &object) || !object.map->l_name)
        return false;
    const struct link_map *map = object.map;
    const char *slash = strrchr(map->l_name, '/');
    const char *name = slash ? slash + 1 : map->l_name;
    for (size_t i = 0; i < COUNT(libraries); i++)
        if (strcmp(name, libraries[i]) == 0)
            return polls_in(map->l_name, (uintptr_t)caller - map->l_addr);
    return false;
}

static bool polls(const void *returns_to)
{
    uintptr_t address = (uintptr_t)returns_to - 1; /* within the call */
    uintptr_t *slot = &pool_queries.cache[(hash_spread(address) >> 32) % CACHED];
    uintptr_t known = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (known >> 1 == address)
        return known & 1;
    bool found = look_up((const void *)address);
    __atomic_store_n(slot, address << 1 | found, __ATOMIC_RELAXED);
    return found;
}

bool pool_query_is_of_memory(void)
{
    const void *frames[FRAMES];
    if (!__atomic_load_n(&pool_queries.any_pool, __ATOMIC_RELAXED))
        return false;
    size_t count = unwind_stack(frames, FRAMES, 0, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        if (polls(frames[i]))
            return true;
    return false;
}
