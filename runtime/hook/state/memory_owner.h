/* The context that memory belongs to: an allocation ends with its context, unless it is freed
 * before. With the hooks' lock, unless a function says otherwise. */
#ifndef RUNTIME_HOOK_STATE_MEMORY_OWNER_H
#define RUNTIME_HOOK_STATE_MEMORY_OWNER_H

#include "runtime/hook/interpose/driver.h"

void memory_owner_set(uint64_t base, CUcontext context);
/* Memory of a pool that the program named, or mapped memory: the driver has to say which devices
 * may touch it. */
enum memory_access { MEMORY_ACCESS_OF_CONTEXT, MEMORY_ACCESS_OF_POOL, MEMORY_ACCESS_OF_MAPPING };
void memory_owner_set_access(uint64_t base, enum memory_access access);
void memory_owner_forget(uint64_t base);
/* The context of the device's memory that begins at `base`; NULL: csan does not know. */
CUcontext memory_owner(uint64_t base);
/* Whether kernels of that context may be unable to touch the memory that begins at `base`, and who
 * says so. */
bool memory_owner_is_apart(uint64_t base, CUcontext context, enum memory_access *access);
/* The context is gone: calls `each` for all memory that it owned, and forgets it. */
void memory_owner_ended(CUcontext context, void (*each)(uint64_t base));

/* Whether there ever was memory of another context than that one, or one of which the driver has to
 * say who may touch it. Without the lock. */
bool memory_owner_has_others(CUcontext context);

#endif
