/* What is done about each call of the driver, beside its hook, in runs that ask for it: counting
 * (call_count.h) and adding an order (added_order.h). The generated wrappers test one byte; the
 * rest costs nothing in other runs. */
#ifndef RUNTIME_HOOK_INTERPOSE_CALL_WATCH_H
#define RUNTIME_HOOK_INTERPOSE_CALL_WATCH_H

#include "runtime/hook/interpose/driver.h"

#include <stdint.h>

extern bool calls_watched;

/* A call, from before its hook to after it. */
struct watched_call {
    const struct driver_entry *entry;
    /* What the program passed. The hook is given `stream` and `config` as they are after begin. */
    CUstream stream; /* 0, too, of a synchronous copy or set: the default stream is its stream */
    CUevent event;
    CUgraph graph;
    CUstream *created; /* where the call leaves a new stream */
    const CUlaunchConfig *config;
    bool has_stream; /* it enqueues work on `stream`, or the driver's call is about it */
    bool moved;      /* a synchronous copy or set is made in `stream`, by its asynchronous form */
    bool inside;     /* csan's own, or within another call: nothing is done about it */
    uint64_t place;  /* where the program makes it (csan/stack/code_place.h) */
    CUlaunchConfig *own_config; /* to be freed; or NULL */
};

/* Who adds orders around calls of the program's (run/added_order.h). Without any lock. */
struct call_watcher {
    void (*before)(struct watched_call *call);
    void (*after)(struct watched_call *call, CUresult result);
    void (*before_host)(void);
};

/* Once, when csan is on: sets calls_watched where this run asks for it. NULL: no orders. */
void call_watch_start(const struct call_watcher *orders);

void call_watch_begin(struct watched_call *call);
/* Returns the result. */
CUresult call_watch_end(struct watched_call *call, CUresult result);

/* Before the host touches memory, as the program declares. */
void call_watch_host(void);

#endif
