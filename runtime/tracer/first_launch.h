/* The first launch of each context, which is csan's own.
 *
 * In a context that was given patches, the device does not continue after its first launch while a
 * stream waits for something that the host does later. A program that waits for a value
 * (cuStreamWaitValue32), which is written after that launch, hangs. This does not depend on whether
 * any module is patched. If a kernel was launched before, all goes well (H200, driver 580.159.04,
 * CUDA 13.0; tests/integration/value_wait_then_write.cu with access=learn). So csan launches an
 * empty kernel of its own in each context before the program gets it.
 *
 * Thread-safe. */
#ifndef RUNTIME_TRACER_FIRST_LAUNCH_H
#define RUNTIME_TRACER_FIRST_LAUNCH_H

#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>

/* Call it in the callback that reports a new context, on the thread that makes it. */
void first_launch_owe(CUcontext context);

/* Call it in the callback that reports the end of a context. Forgets a launch that this thread
 * still has to make. */
void first_launch_forget(CUcontext context);

/* Whether any context still needs its launch: a hint, without a lock. */
bool first_launch_is_owed(void);
/* Call it after the call that made a context, outside of callbacks. Makes the launches that the
 * calling thread has to make. Then it waits, some milliseconds at most, for those of other threads,
 * which may be for the context that this thread got. If the driver refuses, there is none. */
void first_launch_make(void);
/* Whether the driver's current callback on this thread belongs to a first launch. */
bool first_launch_is_made(void);

#endif
