/* Which CUDA version a program that is linked with -lcsan was built for. Its calls carry no version
 * of NVIDIA's, because a linker binds them to libcsan_rt before it sees the toolkit's library. So
 * csan looks at the process, and takes the first evidence that it finds:
 *
 *   1. of the object that needs libcsan_rt: the runtime library that it also needs (nvcc -cudart
 *      shared), and functions that it calls and one of the versions lacks
 *   2. the fat binary that the program registers: its PTX has a version of the instruction set, its
 *      machine code one of the format, and both rose with CUDA 13 (static runtime, nvcc's default)
 *   3. the runtime library that is loaded, if one is
 *
 * Without any it is CUDA 13. There is one answer for a process. */
#include "runtime/hook/rt/resolve.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A set: what speaks for each version. Both is no answer. */
enum { TWELVE = 1, THIRTEEN = 2 };

/* ---- Objects that are loaded ---- */

struct evidence {
    unsigned linked; /* of what needs libcsan_rt */
    unsigned loaded;
};

/* What its dynamic section points to. */
struct object {
    ElfW(Addr) base;
    const ElfW(Dyn) * dynamic;
    const char *strings;
    const ElfW(Sym) * symbols;
    const uint32_t *hash; /* GNU's; NULL: it has an older one only */
};

static unsigned runtime_named(const char *name)
{
    const char *slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    return strncmp(name, "libcudart.so.12", 15) == 0   ? TWELVE
           : strncmp(name, "libcudart.so.13", 15) == 0 ? THIRTEEN
                                                       : 0;
}

struct only {
    const char *symbol;
    enum runtime_version version;
};

static int only_compare(const void *name, const void *row)
{
    return strcmp(name, ((const struct only *)row)->symbol);
}

static unsigned version_of_function(const char *name)
{
    static const struct only table[] = {
#include "runtime_only.inc"
    };
    const struct only *found =
        bsearch(name, table, sizeof table / sizeof *table, sizeof *table, only_compare);
    return !found ? 0 : found->version == RUNTIME_12 ? TWELVE : THIRTEEN;
}

/* The symbols that GNU's hash table leaves out come first: those that the object does not define.
 */
static unsigned version_of_calls(const struct object *object)
{
    unsigned found = 0;
    uint32_t hashed_from = object->hash && object->symbols ? object->hash[1] : 0;
    for (uint32_t i = 1; i < hashed_from; i++)
        found |= version_of_function(object->strings + object->symbols[i].st_name);
    return found;
}

/* Some loaders leave an address as it is in the file. */
static const void *pointed_to(const struct object *object, const ElfW(Dyn) * entry)
{
    ElfW(Addr) address = entry->d_un.d_ptr;
    return (const void *)(address < object->base ? object->base + address : address);
}

static void object_open(struct object *object)
{
    for (const ElfW(Dyn) *entry = object->dynamic; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            object->strings = pointed_to(object, entry);
        else if (entry->d_tag == DT_SYMTAB)
            object->symbols = pointed_to(object, entry);
        else if (entry->d_tag == DT_GNU_HASH)
            object->hash = pointed_to(object, entry);
}

static void look_at_needs(const struct object *object, struct evidence *evidence)
{
    unsigned runtimes = 0;
    bool needs_csan = false;
    for (const ElfW(Dyn) *entry = object->dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag != DT_NEEDED)
            continue;
        const char *name = object->strings + entry->d_un.d_val;
        runtimes |= runtime_named(name);
        needs_csan |= strcmp(name, "libcsan_rt.so.0") == 0;
    }
    if (needs_csan)
        evidence->linked |= runtimes ? runtimes : version_of_calls(object);
}

static int look_at_object(struct dl_phdr_info *info, size_t bytes, void *user)
{
    struct evidence *evidence = user;
    (void)bytes;
    evidence->loaded |= runtime_named(info->dlpi_name ? info->dlpi_name : "");
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        struct object object = {.base = info->dlpi_addr};
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        object.dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        object_open(&object);
        if (object.strings)
            look_at_needs(&object, evidence);
    }
    return 0;
}

/* ---- The fat binary ---- */

/* As runtime/ptx/fatbin.c describes them; no more than the heads of a container and of an entry are
 * read here. nvcc 12 writes PTX of version 8 and machine code of version 7 at most; 13 begins with
 * 9 and 8. */
struct wrapper {
    uint32_t magic, version;
    const uint8_t *container;
};
struct container {
    uint32_t magic;
    uint16_t version, header;
    uint64_t bytes;
};
struct entry {
    uint16_t kind, version;
    uint32_t header;
    uint64_t payload;
    uint32_t compressed, unknown;
    uint16_t minor, major;
};
#define WRAPPER_MAGIC   0x466243B1u
#define CONTAINER_MAGIC 0xBA55ED50u
enum { KIND_PTX = 1, KIND_ELF = 2, PTX_OF_13 = 9, ELF_OF_13 = 8 };

/* 0: neither PTX nor machine code. */
static unsigned version_of_entry(const struct entry *entry)
{
    if (entry->kind == KIND_PTX)
        return entry->major >= PTX_OF_13 ? THIRTEEN : TWELVE;
    if (entry->kind == KIND_ELF)
        return entry->minor >= ELF_OF_13 ? THIRTEEN : TWELVE;
    return 0;
}

/* The newest of its entries decides: an object may embed what an older compiler made. */
static unsigned version_of_binary(const struct wrapper *wrapper)
{
    unsigned found = 0;
    if (!wrapper || wrapper->magic != WRAPPER_MAGIC || !wrapper->container)
        return 0;
    struct container container;
    memcpy(&container, wrapper->container, sizeof container);
    if (container.magic != CONTAINER_MAGIC)
        return 0;
    for (uint64_t at = 0; at + sizeof(struct entry) <= container.bytes;) {
        struct entry entry;
        memcpy(&entry, wrapper->container + container.header + at, sizeof entry);
        found |= version_of_entry(&entry);
        if (entry.header < sizeof entry || entry.payload > container.bytes - at)
            break;
        at += entry.header + entry.payload;
    }
    return found & THIRTEEN ? THIRTEEN : found;
}

/* ---- The answer ---- */

static enum runtime_version decide(const void *fat_binary)
{
    struct evidence evidence = {0};
    dl_iterate_phdr(look_at_object, &evidence);
    unsigned answers[] = {evidence.linked, version_of_binary(fat_binary), evidence.loaded};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i] == TWELVE || answers[i] == THIRTEEN)
            return answers[i] == TWELVE ? RUNTIME_12 : RUNTIME_13;
    return RUNTIME_13;
}

enum runtime_version program_version(const void *fat_binary)
{
    static enum runtime_version decided = RUNTIME_LINKED;
    enum runtime_version version = __atomic_load_n(&decided, __ATOMIC_ACQUIRE);
    if (version != RUNTIME_LINKED)
        return version;
    enum runtime_version found = decide(fat_binary);
    __atomic_compare_exchange_n(&decided, &version, found, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    return version == RUNTIME_LINKED ? found : version;
}
