/* The real CUDA driver behind the hooks: which symbols libcsan stands in front of, and where the
 * functions are that it forwards to.
 *
 * The entries are made from driver.table. Their `real` starts at a thunk that finds the function in
 * libcuda.so.1 on the first call, so that a stub is one test and one jump from then on. */
#ifndef RUNTIME_HOOK_INTERPOSE_DRIVER_H
#define RUNTIME_HOOK_INTERPOSE_DRIVER_H

/* The table names every version of a function itself; keep cuda.h's renaming macros out. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct driver_entry {
    void *real;             /* the function to forward to; the stubs read it at offset 0 */
    const char *symbol;     /* as exported: cuMemcpyHtoD_v2_ptds */
    const char *name;       /* as cuGetProcAddress knows it: cuMemcpyHtoD */
    void *stub;             /* what programs are given instead of `real` */
    uint8_t unmodelled;     /* passes through; the summary names it when `called` */
    uint8_t thread_default; /* stream 0 is the per-thread default stream */
    uint8_t called;         /* set by the stub of an unmodelled entry while csan is on */
    uint8_t hooked;         /* its calls go to a hook */
};

/* All of them, as they are generated above; handed in before session_start returns. */
struct driver_table {
    struct driver_entry *entries;
    unsigned count;
    const char *const *queries; /* names of the functions that have no effect on order or memory,
                                   ended by NULL */
};
extern struct driver_table driver_table;

/* 1 once a capture entry was called: from then on a stream may be under capture. */
extern uint8_t driver_capture_seen;

/* Set to 1 by every call of an unmodelled entry: it may have written to memory. */
extern uint8_t driver_unmodelled_called;
/* The same for another who asks (doubt.h). */
extern uint8_t driver_unmodelled_doubt;

/* Was any entry point called that no hook stands behind? */
static inline bool driver_was_passed(void)
{
    return driver_unmodelled_called || driver_capture_seen;
}

/* The function behind an entry, with its type: DRIVER_REAL(entry, cuMemAlloc_v3020)(&p, bytes). */
#define DRIVER_REAL(entry, typedef_name)                                                           \
    ((PFN_##typedef_name)__atomic_load_n(&(entry)->real, __ATOMIC_ACQUIRE))

/* A driver function by its exported name, in the table or not; NULL when this driver has none. */
void *driver_function(const char *symbol);

/* A callback that runs once, on the thread that opened libcuda.so.1, before any of its functions
 * runs; NULL: none. Set before session_start returns. */
extern void (*driver_on_opened)(void);

/* As driver_function, found once and remembered in `slot` (which starts NULL). */
void *driver_function_cached(void **slot, const char *symbol);

/* The entry of that exported symbol, or NULL. */
struct driver_entry *driver_entry_of_symbol(const char *symbol);

/* The entry of cuGetProcAddress's `name` whose real function is `real`, or NULL. The driver gives
 * out the very functions it exports, so the address identifies the version and the default stream.
 */
struct driver_entry *driver_entry_of_address(const char *name, void *real);

/* The entry of any name whose real function is `real`, or NULL. */
struct driver_entry *driver_entry_of_function(void *real);

/* The entry whose stub is `address`, or NULL. */
struct driver_entry *driver_entry_of_stub(const void *address);

/* 1 when `address` lies in a library called libcuda.so*. */
bool driver_owns(const void *address);

/* The dlsym of the C library (dlsym.c). */
void *driver_dlsym(void *handle, const char *symbol);

#endif
