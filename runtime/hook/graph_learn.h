/* Learning from launches of graphs: the nodes that nothing is known of are traced when their graph
 * is launched, and told by what was learned once it is known, of these launches or of others. */
#ifndef RUNTIME_HOOK_GRAPH_LEARN_H
#define RUNTIME_HOOK_GRAPH_LEARN_H

#include "runtime/hook/shape.h"
#include "runtime/hook/trace_source.h"

struct learning_case;

/* Nodes whose traces are wanted of one launch. */
enum { GRAPH_WANTS = 32 };
struct graph_wants {
    struct graph_want {
        CUgraphNode node;
        struct trace_want what;
        struct learning_case *taken; /* NULL: it is not traced */
    } * items;
    size_t count;
};

/* With the guard's lock, which covers the shape: what became known of its nodes takes the place of
 * what was said of them. *open: how many there are of which nothing is known yet. Returns whether
 * any changed. */
bool graph_learn_take(struct shape *shape, size_t *open);

/* With the guard's lock: the shape is launched. The wants are to be ended. */
struct graph_wants graph_learn_choose(const struct shape *shape, CUstream stream,
                                      bool thread_default);
/* Before the driver's call and right after it, with no lock held. */
void graph_learn_begin(struct graph_wants *wants);
void graph_learn_end(struct graph_wants *wants, CUresult result);

#endif
