/* The real CUDA driver behind the hooks: which symbols libcsan stands in front of, and to which
 * functions it forwards.
 *
 * The entries are made from driver.table. At first, `real` is a thunk that finds the function in
 * libcuda.so.1 at the first call. So a stub is one test and one jump. */
#ifndef RUNTIME_HOOK_INTERPOSE_DRIVER_H
#define RUNTIME_HOOK_INTERPOSE_DRIVER_H

#include "runtime/trace/trace.h"

/* The table names every version of a function itself, so cuda.h's renaming macros are kept out. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>
#include "runtime/cuda/newer.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void driver_trace_subscribe_function(device_trace_done *done, void *user);

struct driver_entry {
    void *real;             /* the function to forward to; the stubs read it at offset 0 */
    const char *symbol;     /* as exported: cuMemcpyHtoD_v2_ptds */
    const char *name;       /* as cuGetProcAddress knows it: cuMemcpyHtoD */
    void *stub;             /* what programs are given instead of `real` */
    uint8_t unmodelled;     /* passes through; the summary names it if `called` */
    uint8_t thread_default; /* stream 0 is the per-thread default stream */
    uint8_t called;         /* set by the stub of an unmodelled entry while csan is on */
    uint8_t hooked;         /* its calls go to a hook */
};

/* All entries, generated from the table. Handed in before session_start returns. */
struct driver_table {
    struct driver_entry *entries;
    unsigned count;
    const char *const *queries; /* names of the functions that have no effect on order or memory;
                                   NULL ends the list */
};
extern struct driver_table driver_table;

/* 1 after a capture entry was called: from then on a stream may be captured. */
extern uint8_t driver_capture_seen;

/* Every call of an unmodelled entry sets it to 1: it may have written to memory. */
extern uint8_t driver_unmodelled_called;
/* The same for another who asks (doubt.h). */
extern uint8_t driver_unmodelled_doubt;

/* Whether an entry point without a hook was called. */
static inline bool driver_was_passed(void)
{
    return driver_unmodelled_called || driver_capture_seen;
}

/* The function behind an entry, with its type: DRIVER_REAL(entry, cuMemAlloc_v3020)(&p, bytes). */
#define DRIVER_REAL(entry, typedef_name)                                                           \
    ((PFN_##typedef_name)__atomic_load_n(&(entry)->real, __ATOMIC_ACQUIRE))

/* A driver function by its exported name, in the table or not; NULL when this driver has none. */
void *driver_function(const char *symbol);

/* Called once, on the thread that opened libcuda.so.1, before any of its functions runs; NULL: no
 * call. Set it before session_start returns. */
extern void (*driver_on_opened)(void);

/* The embedded device's function that subscribes to traces, by which that device is known; NULL:
 * the driver is a GPU's. */
driver_trace_subscribe_function *driver_trace_subscribe(void);
static inline bool driver_is_embedded(void)
{
    return driver_trace_subscribe() != NULL;
}

/* As driver_function, but looked up once and kept in `slot` (which starts as NULL). */
void *driver_function_cached(void **slot, const char *symbol);

/* The entry of that exported symbol, or NULL. */
struct driver_entry *driver_entry_of_symbol(const char *symbol);

/* The entry of cuGetProcAddress's `name` whose real function is `real`, or NULL. The driver gives
 * out the functions that it exports, so the address identifies the version and the default stream.
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
