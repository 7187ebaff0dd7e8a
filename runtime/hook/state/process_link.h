/* What joins this process to others: messages, barriers, and CUDA's handles of memory and events.
 * It goes into recordings, where csan merge --order matches it with what the others recorded. */
#ifndef RUNTIME_HOOK_STATE_PROCESS_LINK_H
#define RUNTIME_HOOK_STATE_PROCESS_LINK_H

#include <csan/csan.h>

#include <stdint.h>

/* See csan_link, csan_send and csan_barrier_enter. Any thread, inside the hooks or not. */
void process_link(const struct csan_link *link);
uint64_t process_link_token(void);
void process_link_barrier(uint64_t barrier, uint64_t processes, int leave);

/* The key of a handle that CUDA made for other processes. */
uint64_t process_link_key(const void *handle, size_t bytes);
/* Of CLOCK_MONOTONIC, which the processes of a machine share. */
uint64_t process_link_now(void);
/* A link of a lane. Inside the hooks. */
void process_link_lane(csan_lane lane, const struct csan_link *link);

#endif
