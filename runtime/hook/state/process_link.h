/* What joins this process to others: messages, barriers, and CUDA's handles of memory and events.
 * It goes into recordings, where csan merge --order matches it with what the others recorded. */
#ifndef RUNTIME_HOOK_STATE_PROCESS_LINK_H
#define RUNTIME_HOOK_STATE_PROCESS_LINK_H

#include <csan/csan.h>

#include <stdint.h>

/* See csan_send, csan_barrier_enter and csan_links_wanted. Any thread, inside the hooks or not. */
uint64_t process_link_token(void);
void process_link_barrier(uint64_t barrier, uint64_t processes, int leave);
int process_links_wanted(void);
/* See csan_link. The recording begins with it, if CUDA was not used yet: what the process learns of
 * others before its first call of CUDA counts, too. */
void process_link_of_library(const struct csan_link *link);

/* The calling process is about to start another one: that knows what the calling thread knows now.
 */
void process_link_starts(void);
/* What the process that started this one knew then. Before the first entry of the recording. */
void process_link_started(void);

/* The key of a handle that CUDA made for other processes. */
uint64_t process_link_key(const void *handle, size_t bytes);
/* Of CLOCK_MONOTONIC, which the processes of a machine share. */
uint64_t process_link_now(void);
/* A link of a lane. Inside the hooks. */
void process_link_lane(csan_lane lane, const struct csan_link *link);

#endif
