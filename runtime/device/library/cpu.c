/* OpenBLAS and FFTW. See cpu.h. */
#include "runtime/device/library/cpu.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct cpu_library_name libraries[CPU_LIBRARIES] = CPU_LIBRARY_NAMES;

static struct {
    pthread_mutex_t lock;
    void *handles[CPU_LIBRARIES];
    struct link_map *maps[CPU_LIBRARIES];
    bool said[CPU_LIBRARIES];
} cpu = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* FFTW's planner is one for all users of a process. Its threads library can lock it. */
static void share_planner(enum cpu_library library)
{
    const bool is_double = library == CPU_FFTW;
    void *handle = dlopen(is_double ? "libfftw3_threads.so.3" : "libfftw3f_threads.so.3",
                          RTLD_NOW | RTLD_LOCAL);
    void (*make_safe)(void) = NULL;
    if (handle)
        *(void **)&make_safe = dlsym(handle, is_double ? "fftw_make_planner_thread_safe"
                                                       : "fftwf_make_planner_thread_safe");
    if (make_safe)
        make_safe();
}

/* One thread, so that equal work gives equal bits, which csan explore compares. */
static void prepare(enum cpu_library library)
{
    void (*threads)(int) = NULL;
    if (library != CPU_OPENBLAS)
        share_planner(library);
    else
        *(void **)&threads = dlsym(cpu.handles[library], "openblas_set_num_threads");
    if (threads)
        threads(1);
}

bool cpu_open(enum cpu_library library, const char *user)
{
    pthread_mutex_lock(&cpu.lock);
    if (!cpu.handles[library]) {
        cpu.handles[library] = dlopen(libraries[library].file, RTLD_NOW | RTLD_LOCAL);
        if (cpu.handles[library]) {
            struct link_map *map = NULL;
            prepare(library);
            dlinfo(cpu.handles[library], RTLD_DI_LINKMAP, &map);
            __atomic_store_n(&cpu.maps[library], map, __ATOMIC_RELEASE);
        }
    }
    const bool open = cpu.handles[library] != NULL;
    const bool says = !open && !cpu.said[library];
    cpu.said[library] |= says;
    pthread_mutex_unlock(&cpu.lock);
    if (says)
        fprintf(stderr,
                "csan device: %s needs %s on the embedded device, and %s cannot be opened; install "
                "it (Debian, Ubuntu: apt-get install %s)\n",
                user, libraries[library].name, libraries[library].file, libraries[library].package);
    return open;
}

/* ---- Functions ----
 * Native kernels look them up with the device's lock held. dlsym takes the loader's lock, which
 * another thread may hold while its constructors wait for the device. So the library's own hash
 * table is read, which never changes (System V gABI, "Dynamic Linking"; GNU hash sections). */

struct symbols {
    const char *names;
    const ElfW(Sym) * table;
    const uint32_t *hash;
};

static struct symbols symbols_of(const struct link_map *map)
{
    struct symbols symbols = {NULL, NULL, NULL};
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            symbols.names = (const char *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_SYMTAB)
            symbols.table = (const ElfW(Sym) *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_GNU_HASH)
            symbols.hash = (const uint32_t *)entry->d_un.d_ptr;
    return symbols;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* The section: counts of buckets, first symbol, words of a filter; filter, buckets, hashes. */
static void *symbol_find(const struct link_map *map, const char *name)
{
    const struct symbols symbols = symbols_of(map);
    if (!symbols.names || !symbols.table || !symbols.hash)
        return NULL;
    const uint32_t wanted = hash_of(name), buckets = symbols.hash[0], first = symbols.hash[1];
    const uint32_t *bucket = symbols.hash + 4 + symbols.hash[2] * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *hashes = bucket + buckets;
    uint32_t i = buckets ? bucket[wanted % buckets] : 0;
    for (; i >= first && i; i++) {
        const uint32_t hash = hashes[i - first];
        const ElfW(Sym) *symbol = &symbols.table[i];
        if ((hash | 1) == (wanted | 1) && symbol->st_shndx != SHN_UNDEF &&
            ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            strcmp(symbols.names + symbol->st_name, name) == 0)
            return (void *)(map->l_addr + symbol->st_value);
        if (hash & 1)
            break;
    }
    return NULL;
}

void *cpu_function(enum cpu_library library, const char *name)
{
    const struct link_map *map = __atomic_load_n(&cpu.maps[library], __ATOMIC_ACQUIRE);
    return map ? symbol_find(map, name) : NULL;
}
