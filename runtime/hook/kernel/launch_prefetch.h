/* Prefetches what a launch will probably read, by what the newest launch of that kernel and grid
 * read, before csan knows the launch's key. On any thread, without a lock: nothing is read through
 * the remembered addresses. */
#ifndef RUNTIME_HOOK_KERNEL_LAUNCH_PREFETCH_H
#define RUNTIME_HOOK_KERNEL_LAUNCH_PREFETCH_H

#include "runtime/hook/kernel/launch_accesses.h"

struct launch_prefetch;

/* Two steps: prefetch the note itself and, once that has arrived, what it names. */
struct launch_prefetch *launch_prefetch_find(CUfunction function,
                                             const struct launch_accesses_launch *what);
void launch_prefetch_begin(const struct launch_prefetch *prefetch);

/* Whether that launch is noted, with the state that `of` stands for. `of` is only compared. */
bool launch_prefetch_is_noted(CUfunction function, const struct launch_accesses_launch *what,
                              const void *of);
void launch_prefetch_note(CUfunction function, const struct launch_accesses_launch *what,
                          const void *of, const struct access_piece *pieces, size_t count);

#endif
