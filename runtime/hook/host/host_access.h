/* The host's own loads and stores (option host). Memory that an op of the device may still touch is
 * guarded. If the host accesses it, that becomes an access of the detector, as csan_host_reads and
 * csan_host_writes would make it. */
#ifndef RUNTIME_HOOK_HOST_HOST_ACCESS_H
#define RUNTIME_HOOK_HOST_HOST_ACCESS_H

#include "csan/base/range_map.h"

#include <csan/csan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Call it once, before the first op. Starts what option host asks for. */
void host_access_start(csan_context *context, void (*before_end)(void));

/* The process begins to use the driver. */
void host_access_begin(void);

/* Whether pages may be guarded. */
extern bool host_access_guards __attribute__((visibility("hidden")));

/* Whether an op with such accesses touches memory that the host shares. Its pages are guarded from
 * the call on, so it is not deferred. Any thread, without a lock. */
bool host_access_concerns(const struct csan_access *accesses, size_t count);

/* Whether calls are looked at that read or write the program's memory: pages may be guarded, or
 * code announces its accesses. */
extern bool host_access_calls __attribute__((visibility("hidden")));

/* How many accesses to the host's memory, of work that the calling thread enqueued, have their ends
 * guarded, and all between or samples of it; and how many have not. */
struct host_access_guarded {
    uint64_t ends, other;
};
struct host_access_guarded host_access_guarded(void);
/* Whether there were any since then, and each has its ends guarded: the host cannot touch all of it
 * unseen. Work that waits in a queue had none yet. */
bool host_access_all_guarded(struct host_access_guarded before);

/* The call of that name, of the C library, read or wrote memory. */
void host_access_enter(struct range bytes, bool writes, const char *name);

/* The calling thread has declared an access, which is entered: what it then does within these bytes
 * is no other access, until more work is guarded. */
void host_access_declared(struct range bytes, bool writes);

/* Before a call that writes there, or enqueues that: the write may be over before csan has its op,
 * and the host may be ordered after other work by then. */
void host_access_before_write(uint64_t memory, uint64_t bytes);

/* What is known of the call that enqueues the calling thread's ops, until it is set again. */
enum host_access_call {
    HOST_CALL_OTHER, /* it may have done more already than csan has entered */
    HOST_CALL_COPY,  /* one copy, whose write host_access_before_write has */
    HOST_CALL_WAITED /* the same, and the host has waited for it: no store can be between */
};
void host_access_in_call(enum host_access_call call);

/* For who keeps a log of the run; NULL: nobody. Before an op's change is entered: the op's number,
 * and the site of the call before which the host made it. */
extern void (*host_access_on_change)(uint64_t op, csan_site site);

/* In a forked child: see page_guard_forked. */
void host_access_forked(void);

/* What the summary says of it: what was left out, or, if asked for more, all. False: nothing. */
bool host_access_summary(char *text, size_t bytes);

#endif
