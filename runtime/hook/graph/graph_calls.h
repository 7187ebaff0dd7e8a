/* Calls of a library in a node of a graph that order processes, as NCCL's collectives do. They are
 * made anew at each launch of the graph: between what the node reads and what it writes. The
 * library says what one orders (collective_link.h). */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_CALLS_H
#define RUNTIME_HOOK_GRAPH_GRAPH_CALLS_H

#include <csan/detector.h>

#include <stddef.h>
#include <stdint.h>

struct graph_call {
    const void *communicator;
    int64_t peer;    /* or root */
    uint64_t signal; /* its index and context, of one */
    uint8_t shape;
};

/* Never changes. */
struct graph_calls {
    unsigned references;
    size_t count;
    struct graph_call items[];
};

/* NULL: memory is short. */
struct graph_calls *graph_calls_create(const struct graph_call *items, size_t count);
struct graph_calls *graph_calls_retain(struct graph_calls *calls); /* NULL is none */
void graph_calls_release(struct graph_calls *calls);

/* They are made, in that lane's turn. NULL: calls of the graph that are not followed may be made.
 * With the hooks' lock. Set it before any hook is entered; NULL: nobody wants to know. */
extern void (*graph_on_calls)(csan_lane lane, const struct graph_calls *calls);

#endif
