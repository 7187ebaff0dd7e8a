/* The real CUDA driver behind the hooks: which symbols libcsan stands in front of, and where the
 * functions are that it forwards to.
 *
 * driver_entries is made from driver.table. Its `real` starts at a thunk that finds the function in
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

extern struct driver_entry driver_entries[];
extern const unsigned driver_entry_count;

/* The names of the functions that have no effect on order or memory, ended by NULL. */
extern const char *const driver_queries[];

/* What the stubs test. 0: pass everything through. The rest go to the hooks; in all states but
 * DRIVER_ON their calls take the slow way in (guard.h).
 * READY: on, and no hook was entered yet. FORKED: in a child whose parent was on. */
enum { DRIVER_OFF = 0, DRIVER_ON = 1, DRIVER_UNDECIDED = 2, DRIVER_READY = 3, DRIVER_FORKED = 4 };
extern uint8_t driver_hooks_on;

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

/* Called once, when libcuda.so.1 was opened and before any of its functions runs (trace.c). */
void driver_opened(void);

/* Called by entry points of class begin, until the process is known to use CUDA (process.c). */
void driver_begins(void);

/* As driver_function, found once and remembered in `slot` (which starts NULL). */
void *driver_function_cached(void **slot, const char *symbol);

/* The entry of that exported symbol, or NULL. */
struct driver_entry *driver_entry_of_symbol(const char *symbol);

/* The entry of cuGetProcAddress's `name` whose real function is `real`, or NULL. The driver gives
 * out the very functions it exports, so the address tells the version and the default stream. */
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
