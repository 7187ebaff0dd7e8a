/* Learning from launches of graphs. When a graph is launched, its nodes of which nothing is known
 * are traced, if no other node has the same kernel. They use the learned set once it is known, from
 * these launches or from others. At launches 4, 8, 16, ... of the graph csan checks known sets
 * again. A node's accesses change when its learned set changes. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_LEARN_H
#define RUNTIME_HOOK_GRAPH_GRAPH_LEARN_H

#include "runtime/hook/graph/graph_topology.h"
#include "runtime/hook/observe/trace_source.h"

struct learning_case;

/* For one launch: the entries of the topology that are looked at, and the nodes whose traces are
 * wanted. */
enum { GRAPH_LOOKS = 512, GRAPH_WANTS = 32 };

struct graph_wants {
    struct graph_want {
        CUgraphNode node;
        struct trace_want what;
        struct learning_case *taken; /* NULL: it is not traced */
    } * items;                       /* NULL: none */
    size_t count;
    CUfunction
        *settled; /* for nodes that now have a set, or are given up: they are no longer requested */
    size_t settled_count, settled_room;
};

/* Of an exec; zeros when its shape is new. */
struct graph_learning {
    bool alone_known; /* which entries are */
    uint64_t launches;
    uint64_t news;              /* value of learning_news up to which entries were looked at */
    size_t at;                  /* the entry that looking goes on with */
    size_t closed;              /* no entry before this one is open; wraps around */
    size_t to_look, to_confirm; /* entries to look at from this one on, because of news or again */
};

/* Some nodes of the topology do something else now. */
static inline void graph_learning_changed(struct graph_learning *learning)
{
    learning->closed = 0;
    learning->alone_known = false;
}

struct graph_learned {
    bool changed;             /* something became known, and was stored in the topology */
    struct graph_wants wants; /* to be begun and ended */
};

/* The graph is launched. With the hooks' lock, which guards both. */
struct graph_learned graph_learn(struct graph_topology *shape, struct graph_learning *learning,
                                 CUstream stream, bool thread_default);
/* Call these before the driver's call and right after it, with no lock held. */
void graph_learn_begin(struct graph_wants *wants);
void graph_learn_end(struct graph_wants *wants, CUresult result);

#endif
