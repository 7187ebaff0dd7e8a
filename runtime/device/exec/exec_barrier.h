/* Barriers: see exec_barrier.c. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_BARRIER_H
#define RUNTIME_DEVICE_EXEC_EXEC_BARRIER_H

#include "runtime/device/exec/exec_engine.h"

/* Some lanes have exited: a cluster barrier that waited only for them opens. */
void barrier_cluster_recheck(struct block *block);

/* A handler: the warps of the group go on together. Lanes that have left the kernel are not waited
 * for. */
int barrier_warpgroup(struct warp *w, const struct micro *op);

#endif
