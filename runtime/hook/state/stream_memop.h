/* Stream memory operations: streams write words in memory, and wait for them. A write of a word
 * releases what its stream did before. A wait acquires the first write that satisfies it, which may
 * be enqueued later (CUDA Driver API, "Stream Memory Operations"). Owns the table of such words.
 *
 * The order in which the program enqueued the writes decides which one a wait sees: the first of
 * the newest ones that satisfy it. If no known write satisfies a wait, it stays open. csan holds
 * back what depends on it until such a write comes, or until the program sees that the stream went
 * on. In that case a kernel or the host wrote the word, and what that ordered is not known, which
 * is said once.
 *
 * Signals of external semaphores, and waits for them, are the same by the semaphore's handle and
 * the value of its fence (CUDA Driver API, "External Resource Interoperability"). Other interfaces
 * may signal a semaphore, too. So a wait that no known signal satisfies is not held open.
 *
 * The same operations are nodes of graphs (graph/graph_node_accesses.h). */
#ifndef RUNTIME_HOOK_STATE_STREAM_MEMOP_H
#define RUNTIME_HOOK_STATE_STREAM_MEMOP_H

#include <csan/csan.h>
#include "runtime/hook/state/stream.h"

#include <stdbool.h>
#include <stdint.h>

/* One operation of a stream or a node. */
struct memop {
    bool is_wait, is_semaphore;
    uint8_t bytes;           /* 4 or 8 */
    unsigned flags;          /* of the call */
    uint64_t address, value; /* of a semaphore: its handle and the value of its fence, or 0 */
};

/* What an operation on memory touches. Both sides are strong operations of the whole system,
 * whatever the other side uses. */
struct csan_access memop_access(const struct memop *operation);
/* Whether the write lets the wait go on; both are of any word. */
bool memop_satisfies(const struct memop *write, const struct memop *wait);
/* Fill `operations`, which has room for `count`. Returns how many there are. */
size_t memop_read_batch(const CUstreamBatchMemOpParams *params, unsigned count,
                        struct memop *operations);
void memop_read_signals(const CUexternalSemaphore *semaphores,
                        const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params, unsigned count,
                        struct memop *operations);
void memop_read_waits(const CUexternalSemaphore *semaphores,
                      const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params, unsigned count,
                      struct memop *operations);

/* With the hooks' lock. The operations are done on `lane`: the stream's, or a part of it. */
void stream_memop_enqueue(const struct stream *stream, csan_lane lane, csan_site site,
                          const struct memop *operations, size_t count);

/* With the hooks' lock. Whether there are words at all. */
bool stream_memop_any(void);

/* With the hooks' lock. A call of the host, or a copy or set on a stream, wrote there: the words'
 * contents are not known any more. */
void stream_memop_overwritten(uint64_t base, uint64_t bytes);

/* The memory changed hands, and its words end. */
void stream_memop_forget(uint64_t base, uint64_t bytes);

/* The program destroyed the semaphore. Takes the lock. */
void stream_memop_forget_semaphore(CUexternalSemaphore semaphore);

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
