/* How tests and explorers choose the order in which the embedded device runs work, and see where it
 * stands. Like trace.h it knows nothing of csan; the functions are exported by the embedded
 * libcuda.so.1 and found with dlsym. */
#ifndef RUNTIME_DEVICE_SCHEDULE_SCHEDULE_H
#define RUNTIME_DEVICE_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* The texts that name a schedule, here and in CSAN_SCHEDULE:
 *
 *   eager            everything runs when it is enqueued
 *   lazy             nothing runs until something forces it, and then only what that needs
 *   random:SEED      a seeded coin says when, a seeded die which, in slices of random length
 *   reverse          nothing runs until something forces it, and then the newest legal work first
 *   hold:A-B:C       eager, but items A to B (numbers in the order of all enqueues, from 1) wait
 *                    until item C is done, unless the host waits for them
 *   replay:FILE      what an earlier run saved */
#define DEVICE_SCHEDULES "eager, lazy, random:SEED, reverse, hold:A-B:C, replay:FILE"

/* Wait for all pending work, then begin anew with this schedule, its random numbers included: two
 * equal programs started so run equally. 0 when done; -1: the text names no schedule, or its file
 * cannot be replayed, and nothing has changed. For one host thread; after cuInit.
 * Symbol: device_schedule_set. */
int device_schedule_set(const char *schedule);

/* The program is at its end: with CSAN_OUTCOME run all pending work and write what is left. Done by
 * itself when the library is unloaded; who watches the launches wants it earlier.
 * Symbol: device_schedule_finish. */
void device_schedule_finish(void);

/* Where the device stands, for the calling thread. Symbol: device_schedule_now. */
struct device_schedule_position {
    uint64_t item; /* the newest copy, set, kernel or host function this thread enqueued; 0: none */
    uint64_t newest;  /* the newest item of all, events and frees included */
    uint64_t clock;   /* steps made so far */
    uint64_t entered; /* steps made when this thread's newest call began */
};
void device_schedule_now(struct device_schedule_position *position);

/* From now on the calling thread's calls are, or are not, occasions to make steps, and its newest
 * call. They are none while it works for who watches the program: how many calls that takes, and
 * when, is up to the machine. What it was before. Symbol: device_schedule_aside. */
bool device_schedule_aside(bool is_aside);

/* From now on no clock makes anything happen: the device makes no step while the program calls
 * nothing, and who hands over a host function waits for its end however long that takes. On a busy
 * machine a run stays the same then. For programs that never wait for the device by looking at
 * memory, and whose host functions wait for nobody. Symbol: device_schedule_ignore_clock. */
void device_schedule_ignore_clock(void);

/* Which item a node was in the calling thread's newest launch of a graph, by the node of the graph
 * that was instantiated; 0: none, or nobody compares runs. Symbol: device_schedule_node. */
uint64_t device_schedule_node(const void *node);

#endif
