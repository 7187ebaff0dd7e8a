/* Memory of the host that must not be guarded, or not now: what the kernel may touch by itself at
 * any time (io_uring, stdio's buffers), what the program has protected, memory beside a registered
 * block in the same page, and the buffers of system calls that are being made.
 *
 * Nothing is allocated, since an allocator may be the caller. Thread-safe. */
#ifndef RUNTIME_HOOK_HOST_UNGUARDED_H
#define RUNTIME_HOOK_HOST_UNGUARDED_H

#include "csan/base/range_map.h"

#include <stdbool.h>

/* From here on, or until it is taken back or ends: unguarded_remove. Where there are more ranges
 * than can be kept, memory between them is not guarded either. */
void unguarded_add(struct range bytes);
void unguarded_remove(struct range bytes);

/* A block whose first and last page others may share: what shares them may be a lock, a path, an
 * argument of any system call. */
void unguarded_registered(struct range block);
void unguarded_unregistered(struct range block);

/* The buffer of a call that is being made; what `unguarded_begin` returned ends it. While more
 * calls are being made than can be kept, no page is to be guarded. Safe in signal handlers. */
unsigned unguarded_begin(struct range buffer);
void unguarded_end(unsigned call);

/* Memory that other processes may read and write for a while, which may be long: the kernel refuses
 * guarded pages to them, too. `owner` is not 0. Of what an owner exposed, at most so many end. */
void unguarded_expose(struct range memory, uint64_t owner);
void unguarded_conceal(uint64_t owner, unsigned most);

/* Whether a page is not to be guarded, in whole or in part. */
bool unguarded_has(struct range page);

/* In a forked child: nobody holds the lock, and no call is being made. */
void unguarded_forked(void);

#endif
