/* Launches and the making of graphs, and changes of what they go through: neither while the other
 * is under way.
 *
 * A thread within the driver's call for a launch has passed by some of what a change replaces:
 * whether anybody listens to launches, and the code that will run. A module that is patched and put
 * back while eight threads launch of it ends in an illegal instruction at once (H200, driver
 * 580.159.04). So a change is made only while no thread launches, and else not now; and who
 * launches meanwhile waits for its end, which is a matter of milliseconds, but no longer than some
 * seconds: the change may wait for the device, and that, by what csan does not know of, for the
 * launch. Not kept apart: a module that is patched while it loads, which may be within another
 * thread's launch, and the launches that csan does not follow (cuLaunch, cuLaunchGrid and their
 * like).
 *
 * Thread-safe. */
#ifndef RUNTIME_TRACER_PATCH_GATE_H
#define RUNTIME_TRACER_PATCH_GATE_H

#include <stdbool.h>

/* Around each call of the driver that launches, a kernel or a graph, or makes or changes one. */
void patch_gate_enter(void);
void patch_gate_leave(void);

/* For a change, or a launch that no other may meet. True: nobody is between enter and leave, and
 * nobody enters until patch_gate_open but who has waited for too long. False: somebody is, or
 * another thread has closed it. */
bool patch_gate_close(void);
/* While it is closed: somebody has entered all the same. */
bool patch_gate_is_forced(void);
bool patch_gate_open(void); /* whether nobody did */

#endif
