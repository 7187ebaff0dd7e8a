/* Orders that a run has beside the program's own (option add_order), by which csan fix proves what
 * reports propose: the counterpart of injection.h.
 *
 * Of an order FROM-TO, csan records an event of its own on the stream of each call that is made at
 * FROM, behind the call; a call at FROM that records an event of the program's lends that event.
 * Before each call that is made at TO, the call's stream waits for the newest such event of every
 * other stream; where the call has no stream, or is an access of the host's, the host waits. What
 * was recorded on streams that ended meanwhile is gathered in one stream of csan's. All that goes
 * through the hooks, so that driver and detector see the same. In a captured stream nothing is
 * recorded or waited for; between the nodes of a graph that were made at FROM and at TO the order
 * is a dependency, added before the graph is instantiated (added_edge.h).
 *
 * Two more: a launch without programmatic stream serialization, and a copy or set in another
 * stream. Any thread; its own lock, which is never held while the driver is called. */
#ifndef RUNTIME_HOOK_RUN_ADDED_ORDER_H
#define RUNTIME_HOOK_RUN_ADDED_ORDER_H

#include "runtime/hook/interpose/call_watch.h"

enum added_kind {
    ADDED_ORDER,         /* FROM-TO */
    ADDED_HOST_WAIT,     /* host-FROM-TO: the same, but the host waits */
    ADDED_NO_OVERLAP,    /* no-overlap-PLACE */
    ADDED_STREAM,        /* stream-PLACE-N: the call there is made in the program's N-th stream */
    ADDED_STREAM_NUMBER, /* number-PLACE: says at the end in which stream the call there is made */
    ADDED_KINDS
};

/* One of the orders asked for, and what came of it. */
struct added {
    enum added_kind kind;
    const char *text; /* as it was written, so many bytes of it */
    int text_bytes;
    uint64_t from, to; /* places; of the other kinds `from` alone */
    unsigned number;   /* of a stream, from 1; 0: none, of number: not met yet */
    uint64_t recorded, waited, edges, changed, failed, captured;
    bool several; /* number: in more than one stream, or in a default one */
    struct added_record *records;
    unsigned waiting; /* calls that have events of it in hand */
    bool gathering;   /* a thread of the program is at it */
    CUstream gathers; /* csan's own, which waits for the records of streams that ended; or NULL */
};

/* Reads the option. What adds the orders, for call_watch_start; NULL: there is none. */
const struct call_watcher *added_order_start(void);

/* At exit: a note for each order of what came of it, as csan fix reads it. */
void added_order_summarize(void);

/* The orders, for added_edge.c and added_stream.c; they are as many as the option said. */
struct added *added_orders(size_t *count);

#endif
