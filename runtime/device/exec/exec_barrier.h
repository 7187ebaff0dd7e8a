/* Barriers: see exec_barrier.c. */
#ifndef RUNTIME_DEVICE_EXEC_EXEC_BARRIER_H
#define RUNTIME_DEVICE_EXEC_EXEC_BARRIER_H

#include "runtime/device/exec/exec_engine.h"

/* Some lanes have exited: a cluster barrier that waited only for them opens. */
void barrier_cluster_recheck(struct block *block);

#endif
