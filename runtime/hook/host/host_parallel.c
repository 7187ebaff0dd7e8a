/* Parallel regions of GNU's OpenMP: the threads that work in one have none of the program's frames
 * above the region. If one of them touches memory too early, the line of Python that began the
 * region says more. So csan stands in front of the functions that begin one. While work of the
 * device may still touch memory of the host, the interpreter's frames go along.
 *
 * Libraries of Python bring libgomp of their own, each out of sight of the others: the next
 * function is that of the library that calls. */
#include "csan/base/loaded_object.h"
#include "runtime/hook/host/host_access.h"
#include "runtime/hook/host/page_guard.h"
#include "runtime/hook/host/pending_ranges.h"
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/session/guard.h"
#include "runtime/hook/state/callsite.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All are called with eight words: arguments that a function does not have are ignored by it, as
 * the calling convention has it (System V ABI, AMD64, "Parameter Passing"; AAPCS64, the same). */
typedef long begin_function(long work, long data, long c, long d, long e, long f, long g, long h);
typedef void work_function(void *data);

enum region {
#define REGION(name) name##_region,
#include "runtime/hook/host/host_parallel.def"
#undef REGION
    REGIONS
};

static const char *const names[REGIONS] = {
#define REGION(name) #name,
#include "runtime/hook/host/host_parallel.def"
#undef REGION
};

/* ---- The next function ---- */

/* For the library with that map; whoever finds a place taken looks the function up each time. */
enum { LIBRARIES = 64 };
static struct next {
    const void *map;                    /* atomic; NULL: free */
    begin_function *functions[REGIONS]; /* atomic */
} nexts[LIBRARIES];

static begin_function *look_up(const struct loaded_object *caller, enum region region)
{
    const char *const name = caller->map->l_name;
    void *function = NULL;
    void *const library = name && *name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (library) {
        function = driver_dlsym(library, names[region]);
        dlclose(library);
    }
    if (!function)
        function = driver_dlsym(RTLD_NEXT, names[region]);
    return (begin_function *)(uintptr_t)function;
}

static begin_function *next_of(const void *address, enum region region)
{
    struct loaded_object caller;
    if (!loaded_object_at(address, &caller))
        return (begin_function *)(uintptr_t)driver_dlsym(RTLD_NEXT, names[region]);
    struct next *const next = &nexts[((uintptr_t)caller.map >> 5) % LIBRARIES];
    const void *none = NULL;
    if (!__atomic_compare_exchange_n(&next->map, &none, (const void *)caller.map, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
        none != caller.map)
        return look_up(&caller, region);
    begin_function *function = __atomic_load_n(&next->functions[region], __ATOMIC_ACQUIRE);
    if (!function) {
        function = look_up(&caller, region);
        __atomic_store_n(&next->functions[region], function, __ATOMIC_RELEASE);
    }
    return function;
}

/* ---- The region ---- */

struct team {
    work_function *work;
    void *data;
    struct callsite_script script;
};

static void member(void *user)
{
    struct team *const team = user;
    const struct callsite_script *const before = callsite_works_for(&team->script);
    team->work(team->data);
    callsite_works_for(before);
}

/* Without pending work nothing can be too early. */
static bool may_report(void)
{
    return guard_self.depth == 0 && (host_access_guards ? page_guard_any() : pending_ranges_any());
}

static __attribute__((noinline)) long begin_looked(begin_function *next, const long *a)
{
    struct team team = {(work_function *)a[0], (void *)a[1], {.count = 0}};
    if (may_report())
        callsite_script_take(&team.script);
    if (!team.script.count)
        return next(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    return next((long)(uintptr_t)member, (long)(uintptr_t)&team, a[2], a[3], a[4], a[5], a[6],
                a[7]);
}

/* By its name in the assembler: no header declares it. */
#define REGION(name)                                                                               \
    __attribute__((visibility("default"))) begin_function host_##name __asm__(#name);              \
    long host_##name(long work, long data, long c, long d, long e, long f, long g, long h)         \
    {                                                                                              \
        const long words[] = {work, data, c, d, e, f, g, h};                                       \
        begin_function *const next = next_of(__builtin_return_address(0), name##_region);          \
        return host_access_calls ? begin_looked(next, words) : next(work, data, c, d, e, f, g, h); \
    }
#include "runtime/hook/host/host_parallel.def"
