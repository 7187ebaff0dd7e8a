/* What calls of NCCL order between processes, for recordings. Calls are matched by communicator and
 * order: all ranks enqueue the collective calls of a communicator in one order, and messages of a
 * pair of ranks come in theirs (NCCL documentation, "Point-to-point communication"). The signals of
 * one rank to another are counted, for each index and context (nccl.h, ncclWaitSignal). */
#ifndef RUNTIME_HOOK_LIBRARY_COLLECTIVE_LINK_H
#define RUNTIME_HOOK_LIBRARY_COLLECTIVE_LINK_H

#include "runtime/hook/graph/graph_calls.h"
#include "runtime/hook/library/touch.h"

/* What one call waits for, and who waits for it. */
struct collective_link {
    uint64_t key, number; /* number: of a message; 0: of a collective call */
    uint64_t takers, givers;
    bool gives;
    bool puts; /* what it writes is there before the taker goes on */
};

/* How many links the call makes: one, but for ncclWaitSignal, which makes one for each signal. */
size_t collective_link_count(const struct touch *call);
/* It orders, and touches no memory. */
bool collective_link_signals(const struct touch *call);
/* Of link number `place`, from 0. False: nothing is recorded, or the communicator is of this
 * process alone; or it is not known, which is recorded. */
bool collective_link_describe(const struct touch *call, size_t place, struct graph_call *what);
/* Whether it is followed in a graph: what ncclPutSignal writes there is not. */
bool collective_link_in_graph(const struct graph_call *what);
/* Once each time that the call is made, in their order. */
void collective_link_number(const struct graph_call *what, struct collective_link *link);
/* In the stream's turn. */
void collective_link_give(csan_lane lane, const struct collective_link *link);
void collective_link_take(csan_lane lane, const struct collective_link *link);
/* A call in a graph that is captured, of which no node is known. */
void collective_link_captured(void);
/* A graph that has them is launched (graph_on_calls). */
void collective_links_launched(csan_lane lane, const struct graph_calls *calls);

#endif
