/* Graphs of work: what the files about them share.
 *
 *   graph ── nodes ── edges                    capture ── streams ── frontier (nodes)
 *              \__ what each does: an item that is never run and makes others (item->again)
 *   exec ── a clone of the graph, and a plan: every node of it, those of child graphs included,
 *              in an order that the edges allow, each in a branch
 *
 * A launch makes an item for each entry of the plan and appends it to the queue of its branch, a
 * stream that no handle names. Nodes of one branch depend on one another in a row; what a node
 * waits for in other branches are marks. So the scheduler may run a graph's nodes in every order
 * that its edges allow, as it does with streams.
 *
 * Guarded by device.lock like everything else. Rules: CUDA Driver API 13.0, "Graph Management";
 * CUDA C++ Programming Guide, "CUDA Graphs". */
#ifndef RUNTIME_DEVICE_DRIVER_GRAPH_GRAPH_H
#define RUNTIME_DEVICE_DRIVER_GRAPH_GRAPH_H

#include "runtime/device/driver/driver.h"

struct node_list {
    struct CUgraphNode_st **nodes;
    size_t count, capacity;
};

enum { NODE_ATTRIBUTES = 17 }; /* CU_LAUNCH_ATTRIBUTE_*, of kernel nodes */

struct CUgraphNode_st {
    struct object object;
    struct CUgraph_st *graph;
    struct CUgraphNode_st *next, *previous; /* of the graph, in order of creation */
    CUgraphNodeType type;
    struct node_list dependencies, dependents;
    struct item *work;                    /* kernel, copy, set and host nodes; else NULL */
    struct CUgraph_st *child;             /* a child graph node's own */
    struct conditional *conditional;      /* a conditional node's bodies; else NULL */
    CUevent event;                        /* event nodes */
    CUDA_MEM_ALLOC_NODE_PARAMS_v1 memory; /* alloc and free nodes: at dptr */
    const struct CUgraphNode_st
        *original; /* the graph that it was cloned from, which may be gone */
    bool disabled; /* of an exec: cuGraphNodeSetEnabled */
    size_t place;  /* scratch for walks over the graph */
    CUkernelNodeAttrValue attributes[NODE_ATTRIBUTES]; /* hints, kept and given back */
};

/* Memory that a graph's nodes allocate: its address stays the same in all launches. */
struct graph_block {
    struct graph_block *next;
    uint64_t address, bytes;
    unsigned references; /* alloc nodes of graphs and of execs */
    bool live;           /* according to what was enqueued so far: allocated and not freed */
};

/* An object of the program's that graphs keep alive: cuUserObjectCreate. */
struct CUuserObject_st {
    struct object object;
    void *pointer;
    CUhostFn destroy;
    unsigned references;
};

struct user_reference {
    struct user_reference *next;
    struct CUuserObject_st *user;
    unsigned count;
};

struct CUgraph_st {
    struct object object;
    struct CUgraphNode_st *first, *last;
    size_t count;
    const struct CUgraph_st *original; /* what it was cloned from */
    struct CUgraphNode_st *owner;      /* the child graph node it belongs to, or NULL */
    bool of_exec;                      /* an executable graph's own: its nodes have no handles */
    bool capturing;                    /* a capture adds to it */
    unsigned execs;                    /* alive; counted for graphs that allocate memory only */
    struct user_reference *users;
};

/* One step of an exec's plan. */
struct plan_entry {
    struct CUgraphNode_st *node;
    bool edge;    /* begin or end of a child graph: does nothing by itself */
    bool awaited; /* by an entry of another branch, or by the launch's end */
    uint32_t branch;
    uint32_t *dependencies; /* earlier entries */
    size_t dependency_count;
};

struct CUgraphExec_st {
    struct object object;
    struct CUgraphExec_st *next; /* all of them */
    struct CUctx_st *context;    /* NULL once it is destroyed */
    uint64_t flags;              /* CUDA_GRAPH_INSTANTIATE_FLAG_* */
    struct CUgraph_st *graph;
    struct CUgraph_st *source; /* that it was made from; to be compared, perhaps gone */
    struct plan_entry *plan;
    size_t count;
    struct CUstream_st **branches;
    size_t branch_count;
    struct mark *last; /* the end of the newest launch */
    /* The body of a conditional node: no handle names it, and items keep it. */
    unsigned references;
    struct CUstream_st *gate; /* a branch that its launches begin and end in; else NULL */
};

/* A capture under way. */
struct capture {
    struct capture *next;
    uint64_t id;
    CUstreamCaptureMode mode;
    uint64_t thread; /* that began it */
    struct CUgraph_st *graph;
    bool into_existing; /* cuStreamBeginCaptureToGraph */
    bool invalid;
    struct CUstream_st *origin;
};

/* ---- graph.c ------------------------------------------------------------------------------- */

bool node_list_add(struct node_list *list, struct CUgraphNode_st *node);
bool node_list_has(const struct node_list *list, const struct CUgraphNode_st *node);
void node_list_clear(struct node_list *list);

struct CUgraph_st *graph_create_empty(void);
void graph_destroy(struct CUgraph_st *graph);
/* A copy, child graphs included. NULL when memory is short. */
struct CUgraph_st *graph_clone(const struct CUgraph_st *graph, bool of_exec);
/* 1 if it, or a child graph, has a node of that type. */
bool graph_has(const struct CUgraph_st *graph, CUgraphNodeType type);
/* Both kinds of nodes that deal in memory. */
bool graph_has_memory(const struct CUgraph_st *graph);

/* Makes a node with these dependencies (all in the graph, none twice). CUDA_ERROR_INVALID_VALUE if
 * they are not. */
CUresult node_create(struct CUgraph_st *graph, CUgraphNodeType type,
                     struct CUgraphNode_st *const *dependencies, size_t count,
                     struct CUgraphNode_st **node);
void node_destroy(struct CUgraphNode_st *node);
CUresult node_depend(struct CUgraphNode_st *from, struct CUgraphNode_st *to);
/* Only edges between full completions are known here: others belong to device-side launches and to
 * programmatic dependent launch. */
bool graph_edges_are_plain(const CUgraphEdgeData *data, size_t count);

/* ---- user_object.c ------------------------------------------------------------------------- */

void user_object_release(struct CUuserObject_st *user, unsigned count);
/* False: memory is short. */
bool user_object_hold(struct CUgraph_st *graph, struct CUuserObject_st *user, unsigned count);

/* ---- graph_memory.c ------------------------------------------------------------------------ */

struct graph_block *graph_block_at(uint64_t address);
struct graph_block *graph_block_create(uint64_t bytes);
void graph_block_release(struct graph_block *block);
/* cuMemFree and cuMemFreeAsync of a graph's memory. False: it is none, or is not allocated now. */
bool graph_block_free(uint64_t address);

/* ---- graph_exec.c -------------------------------------------------------------------------- */

/* The context is gone, and with it the branches of its executable graphs. */
void graph_forget_context(struct CUctx_st *context);

/* A graph as the body of a conditional node: takes `graph`. NULL: memory is short, or
 * it has no plan. */
struct CUgraphExec_st *graph_body_create(struct CUctx_st *context, struct CUgraph_st *graph);
struct CUgraphExec_st *graph_body_retain(struct CUgraphExec_st *body);
void graph_body_release(struct CUgraphExec_st *body);

/* For a call about an executable graph: takes the device's lock, unless there is no such graph. */
CUresult graph_exec_enter(CUgraphExec handle, struct CUctx_st **context,
                          struct CUgraphExec_st **exec);

/* ---- graph_plan.c -------------------------------------------------------------------------- */

/* Plans the exec's graph anew. An error leaves the plan as it was. */
CUresult graph_plan_make(struct CUgraphExec_st *exec);
void graph_plan_free(struct plan_entry *entries, size_t count);

/* ---- graph_launch.c ------------------------------------------------------------------------ */

/* Enqueues one run of a body. False: memory is short. */
bool graph_body_launch(struct CUgraphExec_st *body);
/* Its newest run is over. */
bool graph_body_is_done(const struct CUgraphExec_st *body);

/* ---- capture.c ----------------------------------------------------------------------------- */

/* Whether captures allow it to put work into the stream, or to wait for it. If not, the error says
 * why, and the captures that the call interferes with become invalid. capture_admits: for work.
 * capture_admits_beside: for what runs by itself and never as a node (synchronous copies and sets,
 * launches of graphs). capture_admits_wait: for synchronizing or querying. */
CUresult capture_admits(struct CUstream_st *stream);
CUresult capture_admits_beside(struct CUstream_st *stream);
CUresult capture_admits_wait(struct CUstream_st *stream);
/* For calls that wait for a whole context. */
CUresult capture_admits_context(const struct CUctx_st *context);
/* For calls that a capture does not see although it may depend on them: allocations, waits. */
CUresult capture_admits_unsafe(void);
/* For calls on an event that must have been recorded outside of a capture. */
CUresult capture_admits_event(const struct CUevent_st *event);
/* For what a captured stream cannot take. */
CUresult capture_refuses(struct CUstream_st *stream);

/* The stream is captured: adds a node after what the stream holds. Takes `work`, also on error. */
CUresult capture_work(struct CUstream_st *stream, CUgraphNodeType type, struct item *work);
CUresult capture_node(struct CUstream_st *stream, CUgraphNodeType type,
                      struct CUgraphNode_st **node);
/* A record of the event in a captured stream; and a wait in a stream, if one of the two is
 * captured. */
CUresult capture_record(struct CUstream_st *stream, struct CUevent_st *event, bool external);
CUresult capture_wait(struct CUstream_st *stream, struct CUevent_st *event, bool external);
/* The event holds what a capture did. */
bool capture_has_event(const struct CUevent_st *event);
/* The event is recorded anew, or gone. */
void capture_forget_event(struct CUevent_st *event);
/* The stream is gone, and with it the capture that began in it. */
void capture_leave(struct CUstream_st *stream);

/* ---- What nodes do: made where the same work is made for streams ----------------------------- */

/* launch.c. The item of a kernel node, and its description, whose arrays belong to the item. */
CUresult launch_of_node(const CUDA_KERNEL_NODE_PARAMS_v2 *params, const struct item *before,
                        struct item **item);
void launch_describe(const struct item *item, CUDA_KERNEL_NODE_PARAMS_v2 *params);
/* copy.c */
CUresult copy_of_node(const CUDA_MEMCPY3D *params, struct item **item);
void copy_describe(const struct item *item, CUDA_MEMCPY3D *params);
CUresult set_of_node(const CUDA_MEMSET_NODE_PARAMS_v1 *params, struct item **item);
void set_describe(const struct item *item, CUDA_MEMSET_NODE_PARAMS_v1 *params);
/* host_function.c */
CUresult hostfunc_of_node(const CUDA_HOST_NODE_PARAMS_v1 *params, struct item **item);
void hostfunc_describe(const struct item *item, CUDA_HOST_NODE_PARAMS_v1 *params);
/* stream_memop.c */
CUresult memop_of_node(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params, struct item **item);
void memop_describe(struct item *item, struct CUctx_st *context,
                    CUDA_BATCH_MEM_OP_NODE_PARAMS *params);

#endif
