/* Barriers: see exec_barrier.c. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_BARRIER_H
#define RUNTIME_DEVICE_EXEC_EXEC_BARRIER_H

#include "runtime/device/exec/exec_engine.h"

/* Some lanes have exited: a cluster barrier that waited only for them opens. */
void barrier_cluster_recheck(struct block *block);

/* A warp's only group, which runs, comes to a barrier of all threads of the block at `pc`. True: it
 * was the last one, and goes on. */
bool barrier_wait(struct warp *w, uint32_t id, uint32_t pc);
/* A handler: the warps of the group go on together. Lanes that have left the kernel are not waited
 * for. */
int barrier_warpgroup(struct warp *w, const struct micro *op);

#endif
