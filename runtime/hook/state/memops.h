/* Synchronous copies and sets that always wait for themselves, because the program asked for it:
 * CU_CTX_SYNC_MEMOPS of the current context, or CU_POINTER_ATTRIBUTE_SYNC_MEMOPS of the memory.
 * Others wait as "API synchronization behavior" of the CUDA Driver API says. csan asks the driver,
 * which keeps both. So it does not matter who set them, and when. */
#ifndef RUNTIME_HOOK_STATE_MEMOPS_H
#define RUNTIME_HOOK_STATE_MEMOPS_H

#include <stdbool.h>
#include <stdint.h>

/* For a synchronous copy or set of the calling thread. Without the hooks' lock. */
bool memops_wait(uint64_t address);

#endif
