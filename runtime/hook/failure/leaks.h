/* Option leak_check: what of the program's memory is live when it exits is a finding for each place
 * where it was allocated.
 *
 * Listed are allocations of cuMemAlloc and its kind on devices, on streams and at the host, arrays,
 * and blocks of declared pools. Of a pool's memory the blocks are listed and not the allocation,
 * which pools keep on purpose. What libraries allocate for themselves (cuBLAS' workspaces) they
 * keep, too: it is summed up in a line. Memory that is mapped or registered is not listed, nor
 * variables, nor what its context took along; and nothing of a program that does not end by exit,
 * which would have its destructors free what they hold. */
#ifndef RUNTIME_HOOK_FAILURE_LEAKS_H
#define RUNTIME_HOOK_FAILURE_LEAKS_H

#include "runtime/hook/session/session.h"

#include <stdbool.h>
#include <stddef.h>

/* At the process's end, when all that waited is decided. Without locks. */
void leaks_find(struct session_end how);

/* Whether a call with that stack was made by a well-known library for itself: its innermost frame
 * but for CUDA's own. */
bool leaks_is_library(const void *const *frames, size_t count);

#endif
