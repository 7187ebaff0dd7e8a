/* What a launch will probably read, by what the newest one of that kernel and grid read: before it
 * is known what it is to ask, it can be brought near. On any thread, without a lock: what is
 * foreseen is never read through. */
#ifndef RUNTIME_HOOK_KERNEL_LAUNCH_PREFETCH_H
#define RUNTIME_HOOK_KERNEL_LAUNCH_PREFETCH_H

#include "runtime/hook/kernel/launch_accesses.h"

struct launch_prefetch;

/* First where it is noted, and then, once that has come, what is. */
struct launch_prefetch *launch_prefetch_find(CUfunction function,
                                             const struct launch_accesses_launch *what);
void launch_prefetch_begin(const struct launch_prefetch *prefetch);

/* Whether that launch's is noted, as of when `of` was; `of` is compared, and nothing else. */
bool launch_prefetch_is_noted(CUfunction function, const struct launch_accesses_launch *what,
                              const void *of);
void launch_prefetch_note(CUfunction function, const struct launch_accesses_launch *what,
                          const void *of, const struct access_piece *pieces, size_t count);

#endif
