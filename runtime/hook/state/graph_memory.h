/* Memory that nodes of graphs allocate. The detector has it while a launch of the graph has it.
 * When the graph's kernels are captured or added, before any launch, what they may touch is cut to
 * it.
 *
 * Owns the addresses of the blocks of nodes that were noted (graph_node_accesses.c), as long as
 * their accesses are kept. launch_pointer.c looks here for addresses in no allocation. A graph may
 * put a block where it has freed another: then the newest counts. It has a lock of its own, under
 * which no other is taken. */
#ifndef RUNTIME_HOOK_STATE_GRAPH_MEMORY_H
#define RUNTIME_HOOK_STATE_GRAPH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct graph_node_work;

/* The node whose birth this is allocates [base, base + bytes). */
void graph_memory_note(const struct graph_node_work *birth, uint64_t base, uint64_t bytes);
/* It is about to be freed. */
void graph_memory_forget(const struct graph_node_work *birth, uint64_t base);
/* The block that contains this address. False: there is none. */
bool graph_memory_find(uint64_t address, uint64_t *start, uint64_t *end);

#endif
