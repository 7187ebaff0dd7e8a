/* The allocations of contexts, as far as others need them. */
#ifndef RUNTIME_HOOK_MEMORY_H
#define RUNTIME_HOOK_MEMORY_H

#include "include/csan/csan.h"
#include "runtime/hook/driver.h"

/* The context took its allocations with it. Wants the guard's lock. */
void memory_context_destroyed(CUcontext context);

/* Around a call of the host that frees what lies at `base` once the device is done with it. */
struct memory_death {
    csan_free *token;
    csan_lane covered;  /* several devices: ordered after the work that the call waits for */
    CUcontext context;  /* whose work that is */
    csan_snapshot *all; /* one device, and memory csan did not see born: what the wait covers */
    bool waits;
};
struct memory_death memory_death_begin(const struct driver_entry *entry, uint64_t base);
void memory_death_end(struct memory_death *death, uint64_t base, CUresult result);

#endif
