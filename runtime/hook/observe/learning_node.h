/* A launch that is a node of a graph, as learning keeps it. The node, its clones and the executable
 * graphs made of them share it. When they are launched, it is looked up, and may be traced
 * (graph_learn.h).
 *
 * The hooks' lock guards it, except for the count of users and whether it is over. */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_NODE_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_NODE_H

#include "runtime/hook/kernel/launch_accesses.h"

struct learning;
struct learning_case;
struct learning_node;
struct trace_want;

/* Call it after learning_apply of a captured launch. NULL: nothing is learned from such launches,
 * the program wants it ignored (csan_ignore_begin), or memory is short. */
struct learning_node *learning_node_create(const struct learning *learning,
                                           const struct kernel *kernel, CUfunction function,
                                           const struct launch_accesses_launch *what,
                                           const struct launch_accesses_touched *touched);
struct learning_node *learning_node_retain(struct learning_node *node);
void learning_node_release(struct learning_node *node); /* NULL is none */
/* Both belong to one kernel with the same parameters; or to none. */
bool learning_node_equal(const struct learning_node *a, const struct learning_node *b);
/* As the program passes it, which may be a CUkernel. */
CUfunction learning_node_function(const struct learning_node *node);
/* Whether no more traces of it will come. */
bool learning_node_is_over(const struct learning_node *node);
void learning_node_give_up(struct learning_node *node);
/* What it touches, once that is known: *accesses_count accesses with their dims behind them, which
 * the caller frees. NULL: not yet, or no more. `known`: its learned set was in use before;
 * *refuted: that set is not valid any more. */
struct csan_access *learning_node_look(struct learning_node *node, bool known,
                                       size_t *accesses_count, bool *refuted);
/* A launch of it is made that cannot be traced. After a number of these it is given up. */
void learning_node_pass(struct learning_node *node);
/* A launch of it is made. Fills in the request to the source, without the stream, and returns a
 * case, to be reported or dropped. NULL: this launch needs no trace. `confirms`: its known set is
 * to be checked again. */
struct learning_case *learning_node_ask(struct learning_node *node, bool confirms,
                                        struct trace_want *want);

#endif
