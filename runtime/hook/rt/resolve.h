/* The trampolines of libcsan_rt: every function of the CUDA runtime API, forwarded to the library
 * that target.c chose. resolve.c fills the slots the generated stubs jump through. */
#ifndef RUNTIME_HOOK_RT_RESOLVE_H
#define RUNTIME_HOOK_RT_RESOLVE_H

#include <stdbool.h>

/* The runtime library calls go to: a dlopen handle, or NULL when there is none, which is said once.
 * Chosen at the first call, never again; any thread may ask. */
void *target_library(void);

/* What a function that the target does not have returns. Never NULL. */
void *fallback_function(const char *symbol, bool no_target);

#endif
