/* An op that waits until its accesses are known: its ticket, and the accesses that it gets if
 * nothing better comes. */
#ifndef RUNTIME_HOOK_OBSERVE_PENDING_TRACE_H
#define RUNTIME_HOOK_OBSERVE_PENDING_TRACE_H

#include <csan/csan.h>

#include <stdbool.h>

struct pending_trace {
    uint64_t ticket; /* 0: it does not wait */
    enum csan_level level;
    size_t count;
    struct csan_access *accesses; /* with their dims behind them, in one piece */
};

/* Enqueues the op, with the hooks' lock. False when memory is short: then the op gets these
 * accesses, and does not wait. */
bool pending_trace_begin(struct pending_trace *pending, csan_lane lane, csan_site site,
                         enum csan_level level, const struct csan_access *accesses, size_t count);
/* Call one of the two, once, without the lock. They do nothing to an op that does not wait. */
void pending_trace_resolve(const struct pending_trace *pending, enum csan_level level,
                           const struct csan_access *accesses, size_t count);
void pending_trace_fall_back(const struct pending_trace *pending);
void pending_trace_release(struct pending_trace *pending);

#endif
