/* A host access to memory of the embedded device, which the host cannot reach: the segmentation
 * fault is explained in one line before it ends the process. */
#ifndef RUNTIME_HOOK_HOST_DEVICE_FAULT_H
#define RUNTIME_HOOK_HOST_DEVICE_FAULT_H

#include <signal.h>
#include <stdbool.h>

/* Whether the process's driver is the embedded device. Looked up once; outside of signal handlers.
 */
bool device_fault_possible(void);

/* In a signal handler. Prints the line if the fault is such an access. */
void device_fault_explain(int number, const siginfo_t *info, const void *context);

#endif
