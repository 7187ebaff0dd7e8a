/* Calls that enqueue operations on words: by an address, or by an external semaphore. */
#ifndef RUNTIME_HOOK_API_MEMOP_CALL_H
#define RUNTIME_HOOK_API_MEMOP_CALL_H

#include "runtime/hook/interpose/driver.h"
#include "runtime/hook/state/stream_memop.h"

/* The call has succeeded: its operations come in the stream, or in the graph that it is captured
 * into. Without the hooks' lock. */
void memop_call_done(const struct driver_entry *entry, csan_site site, CUstream handle,
                     const struct memop *operations, size_t count);

#endif
