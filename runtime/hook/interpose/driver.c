/* The real driver: finds libcuda.so.1 and its functions. See driver.h. */
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/interpose/detour_aarch64.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/session/session.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct driver_table driver_table;
void (*driver_on_opened)(void);
uint8_t driver_capture_seen;
uint8_t driver_unmodelled_called, driver_unmodelled_doubt;

static struct {
    void *library; /* handle of libcuda.so.1, opened once and kept */
    int said;      /* that there is no driver */
    int noted;     /* that it was opened */
} driver;

/* The program's own libcuda.so.1 when it has one already; a second copy would be another driver. */
static void *driver_library(void)
{
    void *library = __atomic_load_n(&driver.library, __ATOMIC_ACQUIRE);
    if (library)
        return library;
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!library)
        library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return NULL;
    __atomic_store_n(&driver.library, library, __ATOMIC_RELEASE);
    if (!__atomic_exchange_n(&driver.noted, 1, __ATOMIC_RELAXED) && session_start() &&
        driver_on_opened)
        driver_on_opened();
    return library;
}

void *driver_function(const char *symbol)
{
    void *library = driver_library();
    return library ? driver_dlsym(library, symbol) : NULL;
}

void *driver_function_cached(void **slot, const char *symbol)
{
    void *function = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (!function) {
        function = driver_function(symbol);
        __atomic_store_n(slot, function, __ATOMIC_RELEASE);
    }
    return function;
}

driver_trace_subscribe_function *driver_trace_subscribe(void)
{
    static void *function;
    return (driver_trace_subscribe_function *)driver_function_cached(&function,
                                                                     "device_trace_subscribe");
}

/* Stands in for an entry point this machine's driver does not have. */
static CUresult driver_absent(void)
{
    return CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND;
}

/* Called by the thunks with their entry; returns where to go on. */
void *driver_resolve(struct driver_entry *entry);
void *driver_resolve(struct driver_entry *entry)
{
    void *function = driver_function(entry->symbol);
    if (!function && !driver.library && !__atomic_exchange_n(&driver.said, 1, __ATOMIC_RELAXED))
        fprintf(stderr,
                "csan: %s was called, but libcuda.so.1 cannot be opened (%s); install the NVIDIA "
                "driver or use `csan run --device=embedded`\n",
                entry->symbol, dlerror());
    if (!function)
        function = (void *)driver_absent;
    __atomic_store_n(&entry->real, function, __ATOMIC_RELEASE);
    return function;
}

/* The table is small and is searched while the program sets itself up, never on a hot path. */
struct driver_entry *driver_entry_of_symbol(const char *symbol)
{
    for (unsigned i = 0; i < driver_table.count; i++)
        if (strcmp(driver_table.entries[i].symbol, symbol) == 0)
            return &driver_table.entries[i];
    return NULL;
}

struct driver_entry *driver_entry_of_address(const char *name, void *real)
{
    for (unsigned i = 0; i < driver_table.count; i++) {
        struct driver_entry *entry = &driver_table.entries[i];
        if (strcmp(entry->name, name) != 0)
            continue;
        if (__atomic_load_n(&entry->real, __ATOMIC_ACQUIRE) == real ||
            driver_function(entry->symbol) == real)
            return entry;
    }
    return NULL;
}

struct driver_entry *driver_entry_of_function(void *real)
{
    for (unsigned i = 0; i < driver_table.count; i++) {
        struct driver_entry *entry = &driver_table.entries[i];
        if (__atomic_load_n(&entry->real, __ATOMIC_ACQUIRE) == real ||
            driver_function(entry->symbol) == real)
            return entry;
    }
    return NULL;
}

struct driver_entry *driver_entry_of_stub(const void *address)
{
    for (unsigned i = 0; i < driver_table.count; i++)
        if (driver_table.entries[i].stub == address)
            return &driver_table.entries[i];
    return NULL;
}

bool driver_owns(const void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_name)
        return false;
    const char *slash = strrchr(map->l_name, '/');
    return strncmp(slash ? slash + 1 : map->l_name, "libcuda.so", 10) == 0;
}

/* Called by the stubs of class begin likewise. */
void *driver_begin(struct driver_entry *entry);
void *driver_begin(struct driver_entry *entry)
{
    guard_use_begins();
    return __atomic_load_n(&entry->real, __ATOMIC_ACQUIRE);
}

#if defined(__x86_64__)
/* Keeps all argument registers, calls a function with the entry, and goes on to what
 * it returns. */
#define DETOUR(name, function)                                                                     \
    __asm__(".pushsection .text\n" name ":\n"                                                      \
            "    pushq %rbp\n"                                                                     \
            "    movq %rsp, %rbp\n"                                                                \
            "    pushq %rdi\n"                                                                     \
            "    pushq %rsi\n"                                                                     \
            "    pushq %rdx\n"                                                                     \
            "    pushq %rcx\n"                                                                     \
            "    pushq %r8\n"                                                                      \
            "    pushq %r9\n"                                                                      \
            "    subq $16, %rsp\n"                                                                 \
            "    andq $-16, %rsp\n"                                                                \
            "    movups %xmm0, (%rsp)\n"                                                           \
            "    movq %rax, %rdi\n"                                                                \
            "    call " function "\n"                                                              \
            "    movups (%rsp), %xmm0\n"                                                           \
            "    movq -8(%rbp), %rdi\n"                                                            \
            "    movq -16(%rbp), %rsi\n"                                                           \
            "    movq -24(%rbp), %rdx\n"                                                           \
            "    movq -32(%rbp), %rcx\n"                                                           \
            "    movq -40(%rbp), %r8\n"                                                            \
            "    movq -48(%rbp), %r9\n"                                                            \
            "    leave\n"                                                                          \
            "    jmp *%rax\n"                                                                      \
            ".globl " name "\n"                                                                    \
            ".hidden " name "\n"                                                                   \
            ".popsection\n")
#elif defined(__aarch64__)
#define DETOUR(name, function) DETOUR_AARCH64(name, function)
#else
#error "libcsan has stubs for x86-64 and aarch64 only"
#endif

/* Every entry's `real` at first; and the way of class begin. */
DETOUR("driver_resolve_common", "driver_resolve");
DETOUR("driver_begin_common", "driver_begin");
