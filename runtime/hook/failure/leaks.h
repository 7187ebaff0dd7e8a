/* Option leak_check: the memory of the program that is live when it exits becomes one finding for
 * each place that allocated some.
 *
 * Listed are allocations of cuMemAlloc and its kind on devices, on streams and at the host, arrays,
 * and blocks of declared pools. For a pool's memory the blocks are listed and not the allocation,
 * which pools keep on purpose. Libraries also keep what they allocate for themselves (cuBLAS'
 * workspaces): one line adds it up. Memory that is mapped or registered is not listed, and neither
 * are variables and memory that ended with its context. Nothing is listed for a program that does
 * not end by exit, since exit would have run the destructors that free memory. */
#ifndef RUNTIME_HOOK_FAILURE_LEAKS_H
#define RUNTIME_HOOK_FAILURE_LEAKS_H

#include "runtime/hook/session/session.h"

#include <stdbool.h>
#include <stddef.h>

/* Call it at the process's end, when all that waited is decided. Without locks. */
void leaks_find(struct session_end how);

/* Whether a well-known library made the call with that stack for itself: the innermost frame,
 * without CUDA's own, is the library's. */
bool leaks_is_library(const void *const *frames, size_t count);

#endif
