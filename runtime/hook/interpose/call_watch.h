/* What else happens at each call of the driver, beside its hook, in runs that ask for it: counting
 * (call_count.h), and adding an order (added_order.h). The generated wrappers test one byte for it.
 * Other runs pay nothing more. */
#ifndef RUNTIME_HOOK_INTERPOSE_CALL_WATCH_H
#define RUNTIME_HOOK_INTERPOSE_CALL_WATCH_H

#include "runtime/hook/interpose/driver.h"

#include <stdint.h>

extern bool calls_watched;

/* A call, from before its hook to after it. */
struct watched_call {
    const struct driver_entry *entry;
    /* What the program passed. The hook gets `stream` and `config` as `begin` left them. */
    CUstream stream; /* 0 also for a synchronous copy or set, whose stream is the default stream */
    CUevent event;
    CUgraph graph;
    CUstream *created; /* where the call leaves a new stream */
    const CUlaunchConfig *config;
    bool has_stream; /* the call enqueues work on `stream`, or is about that stream */
    bool moved;      /* a synchronous copy or set is made in `stream`, by its asynchronous form */
    bool inside;     /* csan's own call, or one within another call: nothing is done */
    uint64_t place;  /* where the program makes it (csan/stack/code_place.h) */
    CUlaunchConfig *own_config; /* to be freed; or NULL */
};

/* Adds orders around calls of the program (run/added_order.h). Called without any lock. */
struct call_watcher {
    void (*before)(struct watched_call *call);
    void (*after)(struct watched_call *call, CUresult result);
    void (*before_host)(void);
};

/* Call it once, when csan is on. Sets calls_watched if this run asks for it. NULL: no orders. */
void call_watch_start(const struct call_watcher *orders);

void call_watch_begin(struct watched_call *call);
/* Returns the result. */
CUresult call_watch_end(struct watched_call *call, CUresult result);

/* Called before the host touches memory, as the program declares. */
void call_watch_host(void);

#endif
