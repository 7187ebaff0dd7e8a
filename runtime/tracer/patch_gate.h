/* A gate that keeps launches (and the making of graphs) apart from changes of the code that they
 * run.
 *
 * A thread inside the driver's launch call may already have read what a change replaces: the
 * callback's state and the code that will run. If a module is patched and restored while eight
 * threads launch its kernels, an illegal instruction follows at once (H200, driver 580.159.04). So
 * csan makes a change only while no thread launches; otherwise it postpones the change. A thread
 * that launches meanwhile waits for the change to end. That takes milliseconds, and the thread
 * waits some seconds at most: the change may wait for the device, and the device may wait for the
 * launch in a way that csan does not see. Two cases are not kept apart: a module that is patched
 * while it loads, perhaps within another thread's launch, and launches that csan does not follow
 * (cuLaunch, cuLaunchGrid and the like).
 *
 * Thread-safe. */
#ifndef RUNTIME_TRACER_PATCH_GATE_H
#define RUNTIME_TRACER_PATCH_GATE_H

#include <stdbool.h>

/* Around each call of the driver that launches, a kernel or a graph, or makes or changes one. */
void patch_gate_enter(void);
void patch_gate_leave(void);

/* Closes the gate for a change, or for a launch that must run alone. True: no thread is between
 * enter and leave. Until patch_gate_open a thread enters only after it has waited too long. False:
 * a thread is inside, or another thread has closed the gate. */
bool patch_gate_close(void);
/* While it is closed: a thread has entered all the same. */
bool patch_gate_is_forced(void);
bool patch_gate_open(void); /* true: no thread did */

#endif
