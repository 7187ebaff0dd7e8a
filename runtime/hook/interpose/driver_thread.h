/* csan's own calls of the driver, on a thread of its own or within a hook. */
#ifndef RUNTIME_HOOK_INTERPOSE_DRIVER_THREAD_H
#define RUNTIME_HOOK_INTERPOSE_DRIVER_THREAD_H

#include "runtime/hook/interpose/driver.h"

/* An internal thread (internal_thread.h), named csan, that calls the driver: its calls are not
 * recorded, and no capture forbids any. False: there can be none. */
bool driver_thread_start(void *(*run)(void *));

/* Sets the calling thread's, and returns the one that was. csan's own calls must not end a capture
 * that goes on elsewhere, as an event's query or an allocation would (CUDA Driver API,
 * cuThreadExchangeStreamCaptureMode). */
CUstreamCaptureMode driver_capture_mode(CUstreamCaptureMode mode);

#endif
