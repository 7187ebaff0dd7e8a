/* A launch that is a node of a graph, as learning keeps it: shared by the node, its clones and the
 * execs made of them, to be looked up and asked for when they are launched (graph_learn.h).
 *
 * The hooks' lock covers it, but for how many share it and whether it is over. */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_NODE_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_NODE_H

#include "runtime/hook/kernel/launch_accesses.h"

struct learning;
struct learning_case;
struct learning_node;
struct trace_want;

/* After learning_apply of a captured launch. NULL: nothing is learned of such launches, the program
 * wants it ignored (csan_ignore_begin), or memory is short. */
struct learning_node *learning_node_create(const struct learning *learning,
                                           const struct kernel *kernel, CUfunction function,
                                           const struct launch_accesses_launch *what,
                                           const struct launch_accesses_touched *touched);
struct learning_node *learning_node_retain(struct learning_node *node);
void learning_node_release(struct learning_node *node); /* NULL is none */
/* Of one kernel, with the same parameters; or none. */
bool learning_node_equal(const struct learning_node *a, const struct learning_node *b);
/* As the program passed it: a CUkernel, too. */
CUfunction learning_node_function(const struct learning_node *node);
/* Whether no more traces of it will come. */
bool learning_node_is_over(const struct learning_node *node);
void learning_node_give_up(struct learning_node *node);
/* What it touches, once it is known: *accesses_count accesses, their dims behind them, to be freed.
 * NULL: not yet, or no more. `known`: its learned set was in use before; *refuted: and it is no
 * longer valid. */
struct csan_access *learning_node_look(struct learning_node *node, bool known,
                                       size_t *accesses_count, bool *refuted);
/* A launch of it is made that cannot be traced; after so many it is given up. */
void learning_node_pass(struct learning_node *node);
/* A launch of it is made: the request to the source, without the stream; and a case, to be reported
 * or dropped. NULL: this launch needs no trace. `confirms`: its known set is to be checked again.
 */
struct learning_case *learning_node_ask(struct learning_node *node, bool confirms,
                                        struct trace_want *want);

#endif
