/* The functions about contexts' allocations that other files need. */
#ifndef RUNTIME_HOOK_API_MEMORY_H
#define RUNTIME_HOOK_API_MEMORY_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/state/implicit_wait.h"

/* The context has ended, and its allocations with it. With the hooks' lock. */
void memory_context_destroyed(CUcontext context);

/* Call these around a call of the host that frees the memory at `base` once the device is done with
 * it. */
struct memory_death {
    csan_free *token;
    csan_snapshot *before;   /* the work that the call waits for */
    csan_lane covered;       /* several devices: ordered after that */
    CUcontext context;       /* whose work it is */
    enum implicit_wait wait; /* WAIT_NONE: for memory of cuMemAllocAsync */
};
struct memory_death memory_death_begin(const struct driver_entry *entry, enum implicit_wait wait,
                                       uint64_t base);
void memory_death_end(const struct driver_entry *entry, struct memory_death *death, uint64_t base,
                      CUresult result);

#endif
