/* The allocations of contexts, as far as others need them. */
#ifndef RUNTIME_HOOK_MEMORY_H
#define RUNTIME_HOOK_MEMORY_H

#include "runtime/hook/driver.h"

/* The context took its allocations with it. Wants the guard's lock. */
void memory_context_destroyed(CUcontext context);

#endif
