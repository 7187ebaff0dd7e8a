/* futex(2) that the program makes itself, by syscall: std::promise, std::atomic::wait and locks of
 * Rust sleep so. With host_order=threads a thread that was woken is ordered after who woke it. What
 * such objects do without a call, where the value is there already, only announced code shows. */
#ifndef RUNTIME_HOOK_HOST_HOST_FUTEX_H
#define RUNTIME_HOOK_HOST_HOST_FUTEX_H

#include <stdbool.h>

/* Whether they are followed. syscall looks at it. */
extern bool host_futex_follows;

/* Before and after the call with these arguments, by code at `caller`; errno stays as it is. */
void host_futex_before(const long *arguments, const void *caller);
void host_futex_after(const long *arguments, const void *caller, long result);

#endif
