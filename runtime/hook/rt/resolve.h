/* The trampolines of libcsan_rt: every function of the CUDA runtime API, forwarded to the library
 * that target.c chose. resolve.c fills the slots the generated stubs jump through. */
#ifndef RUNTIME_HOOK_RT_RESOLVE_H
#define RUNTIME_HOOK_RT_RESOLVE_H

#include <stdbool.h>

/* Which CUDA version a call is meant for: the symbol's, or, for a program that was linked with
 * -lcsan, the one that the program was built for. */
enum runtime_version { RUNTIME_LINKED, RUNTIME_12 = 12, RUNTIME_13 = 13 };

/* The runtime library for calls of this version: a dlopen handle, or NULL if there is none, which
 * is said once. Chosen at the first call, for good; any thread may call it. Not for RUNTIME_LINKED.
 */
void *target_library(enum runtime_version version);

/* RUNTIME_12 or RUNTIME_13: what the program that was linked with -lcsan was built for. Decided at
 * the first call; any thread may call it. `fat_binary`: the wrapper that the program registers with
 * this call, or NULL. */
enum runtime_version program_version(const void *fat_binary);

/* The function for those that the target does not have. Never NULL. */
void *fallback_function(const char *symbol, bool no_target);

#endif
