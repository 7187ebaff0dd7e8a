/* csan's own threads, and its own calls of the driver, in the program's process. */
#ifndef RUNTIME_HOOK_SESSION_INTERNAL_THREAD_H
#define RUNTIME_HOOK_SESSION_INTERNAL_THREAD_H

#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>

/* A detached thread, named csan, that never ends, that no signal of the program's is delivered to,
 * whose calls of the driver are not recorded, and that no capture forbids any. False: there can be
 * none. */
bool internal_thread_start(void *(*run)(void *));
/* The same for one of another name (at most 15 bytes) that never calls the driver: at any time, the
 * end of the process included. */
bool internal_thread_start_aside(void *(*run)(void *), const char *name);

/* Sets the calling thread's, and returns the one that was. csan's own calls must not end a capture
 * that goes on elsewhere, as an event's query or an allocation would (CUDA Driver API,
 * cuThreadExchangeStreamCaptureMode). */
CUstreamCaptureMode own_capture_mode(CUstreamCaptureMode mode);

#endif
