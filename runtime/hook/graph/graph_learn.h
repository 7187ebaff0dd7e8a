/* Learning from launches of graphs: the nodes that nothing is known of are traced when their graph
 * is launched, those that alone have their kernel, and use the learned set once it is known, from
 * these launches or from others. At launches 4, 8, 16, ... of the graph csan checks known sets
 * again. A node's accesses change when its learned set changes. */
#ifndef RUNTIME_HOOK_GRAPH_GRAPH_LEARN_H
#define RUNTIME_HOOK_GRAPH_GRAPH_LEARN_H

#include "runtime/hook/graph/graph_topology.h"
#include "runtime/hook/observe/trace_source.h"

struct learning_case;

/* Of one launch: entries of the shape that are looked at, and nodes whose traces are wanted. */
enum { GRAPH_LOOKS = 512, GRAPH_WANTS = 32 };

struct graph_wants {
    struct graph_want {
        CUgraphNode node;
        struct trace_want what;
        struct learning_case *taken; /* NULL: it is not traced */
    } * items;                       /* NULL: none */
    size_t count;
    CUfunction
        *settled; /* of nodes that have a set from now on, or are given up: no longer requested */
    size_t settled_count, settled_room;
};

/* Of an exec; zeros when its shape is new. */
struct graph_learning {
    bool alone_known; /* which entries are */
    uint64_t launches;
    uint64_t news;              /* learning_news, as far as entries were looked at for it */
    size_t at;                  /* the entry that looking goes on with */
    size_t closed;              /* entries before it without an open one, in circles */
    size_t to_look, to_confirm; /* entries from it on: for the news, and again */
};

/* Some of the shape's nodes do something else. */
static inline void graph_learning_changed(struct graph_learning *learning)
{
    learning->closed = 0;
    learning->alone_known = false;
}

struct graph_learned {
    bool changed;             /* something became known, and was put into the shape */
    struct graph_wants wants; /* to be begun and ended */
};

/* With the hooks' lock, which covers both: it is launched. */
struct graph_learned graph_learn(struct graph_topology *shape, struct graph_learning *learning,
                                 CUstream stream, bool thread_default);
/* Before the driver's call and right after it, with no lock held. */
void graph_learn_begin(struct graph_wants *wants);
void graph_learn_end(struct graph_wants *wants, CUresult result);

#endif
