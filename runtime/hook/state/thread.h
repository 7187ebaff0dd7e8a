/* The program's host threads, as lanes of the detector.
 *
 * With host_order=observed (the default) there is one lane: all threads share CSAN_HOST, in the
 * order in which their calls reach csan. With host_order=threads each thread has its own lane, made
 * when csan first needs it. A thread is then ordered after another only by what libcsan_threads.so
 * reports (create, join, pthread synchronization), by the program's annotations, and by streams. A
 * stream carries the knowledge of the thread that enqueued its work. Inside a host function the
 * calling thread's lane is the function's. */
#ifndef RUNTIME_HOOK_STATE_THREAD_H
#define RUNTIME_HOOK_STATE_THREAD_H

#include <csan/csan.h>

#include <stdbool.h>

/* The lane of what the calling thread does and learns. */
csan_lane thread_lane(void);
/* Whether it is the lane of the calling thread, which runs no host function. */
bool thread_is_lane(csan_lane lane);

/* The thread enqueues something on the lane. */
void thread_enqueues(csan_lane lane);
/* A new lane, ordered after what the thread knows. */
csan_lane thread_makes_lane(uint64_t handle, const char *label);
csan_lane thread_makes_lane_as(enum csan_lane_role role, uint64_t handle, const char *label);

/* The thread runs a host function, whose lane this is; CSAN_HOST: it has ended. */
void thread_in_function(csan_lane lane);

/* For who guards pages: the calling thread may sleep at these objects of the program's; it wakes.
 * Set before csan is on; NULL: nobody wants to know. Only with host_order=threads. */
struct csan_threads_sleep;
extern void (*thread_on_sleep)(struct csan_threads_sleep *sleep, const void *object,
                               const void *other);
extern void (*thread_on_wake)(struct csan_threads_sleep *sleep);

/* What the program declares. `before`: the thread releases `key`; else it acquires `key`. */
void thread_synchronizes(const void *key, bool before);

/* In a forked child that starts anew, where only the calling thread exists. */
void thread_forked(void);

/* Call it when csan is on. From then on libcsan_threads.so reports. */
void thread_start(void);

#endif
