/* csan's own calls of the driver, on an internal thread or within a hook. */
#ifndef RUNTIME_HOOK_INTERPOSE_DRIVER_THREAD_H
#define RUNTIME_HOOK_INTERPOSE_DRIVER_THREAD_H

#include "runtime/hook/interpose/driver.h"

/* Starts an internal thread (internal_thread.h), named csan, that calls the driver. Its calls are
 * not recorded, and no capture forbids them. False: it cannot be started. */
bool driver_thread_start(void *(*run)(void *));

/* Whether the calling thread's calls leave the embedded device's schedule alone from now on;
 * returns what it was. When csan's own calls come, and how many, must not matter to the program. */
bool driver_schedule_aside(bool is_aside);

/* Sets the calling thread's capture mode, and returns the previous one. csan's own calls must not
 * end a capture in another thread, as an event's query or an allocation would (CUDA Driver API,
 * cuThreadExchangeStreamCaptureMode). */
CUstreamCaptureMode driver_capture_mode(CUstreamCaptureMode mode);

#endif
