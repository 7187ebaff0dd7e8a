/* Threads of the device's own that help with one job at a time, so that a large grid uses all
 * cores. Started with the first job, never stopped; they sleep when there is nothing to do. */
#ifndef RUNTIME_DEVICE_DRIVER_WORKER_POOL_H
#define RUNTIME_DEVICE_DRIVER_WORKER_POOL_H

#include <stdint.h>

/* How many threads can work at the same time, the caller's included: the cores that this process
 * may use, at most 8. */
uint32_t worker_pool_size(void);

/* Calls run(job, k) for each k below `parts`, on the calling thread and the pool's threads, and
 * returns when all are done. The caller never waits for a thread to wake up, only for parts that
 * are running. The pool has one job at a time: a second caller runs its parts alone. */
void worker_pool_run(void (*run)(void *job, uint32_t part), void *job, uint32_t parts);

#endif
