/* The allocations of contexts, as far as others need them. */
#ifndef RUNTIME_HOOK_API_MEMORY_H
#define RUNTIME_HOOK_API_MEMORY_H

#include <csan/csan.h>
#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/state/implicit_wait.h"

/* The context took its allocations with it. Wants the hooks' lock. */
void memory_context_destroyed(CUcontext context);

/* Around a call of the host that frees what lies at `base` once the device is done with it. */
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
