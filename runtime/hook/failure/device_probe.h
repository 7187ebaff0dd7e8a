/* Whether the device of a context still works: a stream of csan's own writes a word. It takes some
 * 4 us, and more while copies run. Used behind waits, because with a core dump they return before
 * the driver has its error (dump.h). */
#ifndef RUNTIME_HOOK_FAILURE_DEVICE_PROBE_H
#define RUNTIME_HOOK_FAILURE_DEVICE_PROBE_H

#include "runtime/hook/interpose/driver.h"

/* Asks the device of the current context. When it returns, the device works, or a dump has begun,
 * or two seconds are over. Within a hook, without locks of hooks; calls the driver. */
void device_probe_ask(void);

/* The context is gone, with all in it. */
void device_probe_context_ended(CUcontext context);

#endif
