/* Learning from launches of graphs: the nodes that nothing is known of are traced when their graph
 * is launched, those that alone have their kernel, and told by what was learned once it is known,
 * of these launches or of others. What a node was told stays until its graph is made or updated
 * anew: it is not confirmed. */
#ifndef RUNTIME_HOOK_GRAPH_LEARN_H
#define RUNTIME_HOOK_GRAPH_LEARN_H

#include "runtime/hook/shape.h"
#include "runtime/hook/trace_source.h"

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
    CUfunction *known; /* of nodes that are told from now on: they are not wanted any more */
    size_t known_count, known_room;
};

struct graph_learned {
    bool changed;             /* something became known, and was put into the shape */
    bool open;                /* of some nodes nothing is known yet */
    struct graph_wants wants; /* to be begun and ended */
};

/* With the guard's lock, which covers the shape: it is launched. `*from` is where looking goes on
 * from launch to launch. */
struct graph_learned graph_learn(struct shape *shape, size_t *from, CUstream stream,
                                 bool thread_default);
/* Before the driver's call and right after it, with no lock held. */
void graph_learn_begin(struct graph_wants *wants);
void graph_learn_end(struct graph_wants *wants, CUresult result);

#endif
