/* The program's host threads, as lanes of the detector.
 *
 * With host_order=observed (the default) there is one: all threads share CSAN_HOST, in the order in
 * which their calls reach csan. With host_order=threads each has its own, made when csan first
 * needs it, and one thread is ordered after another only by what libcsan_threads.so reports
 * (create, join, pthread synchronization), by the program's annotations, and by streams. A stream
 * carries the knowledge of the thread that enqueued its work. Inside a host function the calling
 * thread's lane is the function's. */
#ifndef RUNTIME_HOOK_STATE_THREAD_H
#define RUNTIME_HOOK_STATE_THREAD_H

#include <csan/csan.h>

#include <stdbool.h>

/* What the calling thread does and learns belongs to this lane. */
csan_lane thread_lane(void);
/* It is the calling thread's, which runs no host function. */
bool thread_is_lane(csan_lane lane);

/* The thread enqueues something on the lane. */
void thread_enqueues(csan_lane lane);
/* A new lane, ordered after what the thread knows. */
csan_lane thread_makes_lane(uint64_t handle, const char *label);
csan_lane thread_makes_lane_as(enum csan_lane_role role, uint64_t handle, const char *label);

/* The thread runs a host function, which is that lane; CSAN_HOST: no longer. */
void thread_in_function(csan_lane lane);

/* The program's word: `before`: the thread's past is before `key`'s, else after it. */
void thread_synchronizes(const void *key, bool before);

/* In a forked child that starts anew: only the calling thread is left. */
void thread_forked(void);

/* Once csan is on: lets libcsan_threads.so report. */
void thread_start(void);

#endif
