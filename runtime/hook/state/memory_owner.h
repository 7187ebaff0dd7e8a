/* The context that memory belongs to: an allocation ends with its context, unless it is freed
 * before. With the hooks' lock, unless a function says otherwise. */
#ifndef RUNTIME_HOOK_STATE_MEMORY_OWNER_H
#define RUNTIME_HOOK_STATE_MEMORY_OWNER_H

#include "runtime/hook/interpose/driver.h"

void memory_owner_set(uint64_t base, CUcontext context);
void memory_owner_forget(uint64_t base);
/* The context of the device's memory that begins at `base`; NULL: csan does not know. */
CUcontext memory_owner(uint64_t base);
/* The context is gone: calls `each` for all memory that it owned, and forgets it. */
void memory_owner_ended(CUcontext context, void (*each)(uint64_t base));

/* Whether another context than this one ever made an allocation. Without the lock. */
bool memory_owner_has_others(CUcontext context);

#endif
