/* Orders that a run adds to the program's own (option add_order). csan fix uses them to prove what
 * reports propose. It is the counterpart of injection.h.
 *
 * For an order FROM-TO, csan records an event of its own on the stream of each call made at FROM,
 * after the call. If that call records an event of the program, csan uses that one. Before each
 * call made at TO, the call's stream waits for the newest such event of every other stream. If the
 * call has no stream, or is an access of the host, the host waits. Events of streams that have
 * ended are gathered in one stream of csan's. All this goes through the hooks, so driver and
 * detector see the same.
 *
 * In a captured stream nothing is recorded or waited for. Between nodes of one graph that were made
 * at FROM and at TO the order is a dependency, which is added before the graph is instantiated
 * (added_edge.h).
 *
 * What a load or store of the host's own is to come after, the host waits for right behind the call
 * at FROM: nothing can be put before an instruction of the program.
 *
 * There are two other kinds: a launch without programmatic stream serialization, and a copy or set
 * in another stream. Any thread. It has its own lock, which is never held while the driver is
 * called. */
#ifndef RUNTIME_HOOK_RUN_ADDED_ORDER_H
#define RUNTIME_HOOK_RUN_ADDED_ORDER_H

#include "runtime/hook/interpose/call_watch.h"

enum added_kind {
    ADDED_ORDER,         /* FROM-TO */
    ADDED_HOST_WAIT,     /* host-FROM-TO: the same, but the host waits */
    ADDED_HOST_BEHIND,   /* behind-FROM: the host waits right behind the call */
    ADDED_NO_OVERLAP,    /* no-overlap-PLACE */
    ADDED_STREAM,        /* stream-PLACE-N: the call there is made in the program's N-th stream */
    ADDED_STREAM_NUMBER, /* number-PLACE: says at the end in which stream the call there was made */
    ADDED_KINDS
};

/* One of the orders asked for, and what became of it. */
struct added {
    enum added_kind kind;
    const char *text; /* as it was written, so many bytes of it */
    int text_bytes;
    uint64_t from, to; /* places; of the other kinds `from` alone */
    unsigned number;   /* number of a stream, from 1; 0: none, or (number) not met yet */
    uint64_t recorded, waited, edges, changed, failed, captured;
    bool several; /* number: it was in several streams, or in a default stream */
    struct added_record *records;
    unsigned waiting; /* calls that have events of it in hand */
    bool gathering;   /* a thread of the program is at it */
    CUstream
        gathers; /* csan's own stream, which waits for the events of streams that ended; or NULL */
};

/* Reads the option. Returns what adds the orders, for call_watch_start; NULL: there is none. */
const struct call_watcher *added_order_start(void);

/* At exit: a note for each order of what became of it, as csan fix reads it. */
void added_order_summarize(void);

/* The orders, for added_edge.c and added_stream.c; the option says how many there are. */
struct added *added_orders(size_t *count);

#endif
