/* The compute capabilities of this process's devices, from the driver. Thread-safe. */
#ifndef RUNTIME_HOOK_STATE_ARCHITECTURE_H
#define RUNTIME_HOOK_STATE_ARCHITECTURE_H

#include <stdbool.h>

/* Of the current context's device; zeros when the driver does not say. */
void architecture_current(int *major, int *minor);

/* Whether all devices have the same. A CUkernel can be launched on any device, and has other code
 * for another architecture. */
bool architecture_is_one(void);

#endif
