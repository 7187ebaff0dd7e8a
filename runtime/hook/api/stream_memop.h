/* Memory operations of streams: words that streams write, and wait for. A write of a word releases
 * what its stream did before; a wait acquires the first write that satisfies it, which may be
 * enqueued later (CUDA Driver API, "Stream Memory Operations"). Owns the table of such words.
 *
 * The order in which the program enqueued the writes decides which one a wait sees: of the newest
 * ones that satisfy it, the first. A word that nothing known satisfies leaves the wait open: csan
 * holds back what depends on it until a write comes, or the program sees that the stream went on;
 * then a kernel or the host wrote there, and what that ordered is not known: said once. */
#ifndef RUNTIME_HOOK_API_STREAM_MEMOP_H
#define RUNTIME_HOOK_API_STREAM_MEMOP_H

#include <csan/csan.h>
#include "runtime/hook/state/stream.h"

#include <stdbool.h>
#include <stdint.h>

/* With the hooks' lock. A call of the host, or a copy or set on a stream, wrote there: what the
 * words hold is not known any more. */
void stream_memop_overwritten(uint64_t base, uint64_t bytes);

/* The memory changed hands: its words are gone. */
void stream_memop_forget(uint64_t base, uint64_t bytes);

/* What a wait of the program covers, as of when it began. */
struct stream_memop_scope {
    csan_lane lane;    /* a stream alone; CSAN_NO_LANE: all streams */
    CUcontext context; /* of this context; NULL: of all */
    bool blocking;     /* only those that are ordered with the legacy stream */
};
struct stream_memop_scope stream_memop_scope_of(const struct stream *stream);

/* The program saw that all in the scope is done: the waits that are still open there are over. This
 * takes the lock. */
void stream_memop_settle(const struct stream_memop_scope *scope);

#endif
