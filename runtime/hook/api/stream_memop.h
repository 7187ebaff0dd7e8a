/* Stream memory operations: streams write words in memory, and wait for them. A write of a word
 * releases what its stream did before. A wait acquires the first write that satisfies it, which may
 * be enqueued later (CUDA Driver API, "Stream Memory Operations"). Owns the table of such words.
 *
 * The order in which the program enqueued the writes decides which one a wait sees: the first of
 * the newest ones that satisfy it. If no known write satisfies a wait, it stays open. csan holds
 * back what depends on it until such a write comes, or until the program sees that the stream went
 * on. In that case a kernel or the host wrote the word, and what that ordered is not known, which
 * is said once. */
#ifndef RUNTIME_HOOK_API_STREAM_MEMOP_H
#define RUNTIME_HOOK_API_STREAM_MEMOP_H

#include <csan/csan.h>
#include "runtime/hook/state/stream.h"

#include <stdbool.h>
#include <stdint.h>

/* With the hooks' lock. A call of the host, or a copy or set on a stream, wrote there: the words'
 * contents are not known any more. */
void stream_memop_overwritten(uint64_t base, uint64_t bytes);

/* The memory changed hands, and its words end. */
void stream_memop_forget(uint64_t base, uint64_t bytes);

/* What a wait of the program covers, as of its beginning. */
struct stream_memop_scope {
    csan_lane lane;    /* one stream; CSAN_NO_LANE: all streams */
    CUcontext context; /* of this context; NULL: of all */
    bool blocking;     /* only those that are ordered with the legacy stream */
};
struct stream_memop_scope stream_memop_scope_of(const struct stream *stream);

/* The program saw that all work in the scope is done, so the waits that are still open there are
 * over. Takes the lock. */
void stream_memop_settle(const struct stream_memop_scope *scope);

#endif
