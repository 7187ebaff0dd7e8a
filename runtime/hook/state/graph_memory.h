/* Memory that nodes of graphs allocate. The detector has it while a launch of the graph has; what
 * the graph's kernels may touch is cut to it before, when they are captured or added.
 *
 * Owns where the blocks lie: of nodes that were noted (graph_node_accesses.c), as long as what they
 * do is kept. launch_pointer.c looks here for what is no allocation. A graph may put a block where
 * one was that it has freed: the newest counts. With a lock of its own, under which no other is
 * taken. */
#ifndef RUNTIME_HOOK_STATE_GRAPH_MEMORY_H
#define RUNTIME_HOOK_STATE_GRAPH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct graph_node_work;

/* The node of this birth allocates [base, base + bytes). */
void graph_memory_note(const struct graph_node_work *birth, uint64_t base, uint64_t bytes);
/* It is about to be freed. */
void graph_memory_forget(const struct graph_node_work *birth, uint64_t base);
/* The block with this address. False: there is none. */
bool graph_memory_find(uint64_t address, uint64_t *start, uint64_t *end);

#endif
