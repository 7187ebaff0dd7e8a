/* Calls of libraries that touch memory without CUDA, such as MPI's, as those who stand in front of
 * them declare (csan_call_touches, csan_request_start). They take no stream: what they do at once
 * is the host's, and what they start is a lane of its own, a request, which knows what the calling
 * thread knew and is known to nobody before a thread waits for it.
 *
 * The functions are those of struct csan_api. */
#ifndef RUNTIME_HOOK_API_LIBRARY_CALL_H
#define RUNTIME_HOOK_API_LIBRARY_CALL_H

#include <csan/csan.h>

#include <stdbool.h>
#include <stdint.h>

void library_call_touches(const struct csan_call *call);
uint64_t library_request_start(const struct csan_call *call);
void library_request_end(uint64_t request, int waited);
void library_call_inside(int begin);
uint32_t *library_call_flag(void);
void library_call_exposed(const void *memory, size_t bytes, int begin);
const struct csan_activity *library_call_activity(void);
void *library_call_host_view(const void *pointer);
void library_call_count(const struct csan_call_counts *counts);

/* Whether some request may still touch memory. Who makes a block known and asks then sees it, or
 * the request sees the block. */
bool library_requests_pending(void);

#endif
