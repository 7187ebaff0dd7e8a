/* The first launch of each context, which is csan's own.
 *
 * Where a context was given patches, the device does not go on with its first launch, nor with
 * what follows in any stream, while a stream waits for what the host does later: for a value
 * (cuStreamWaitValue32) that is to be written behind that launch, the program hangs. Whether any
 * module is patched does not matter; where a kernel was launched before, all goes well (H200,
 * driver 580.159.04, CUDA 13.0; tests/integration/value_wait_then_write.cu with access=learn). So
 * an empty kernel of csan's own is launched in each context before the program has it.
 *
 * Thread-safe. */
#ifndef RUNTIME_TRACER_FIRST_LAUNCH_H
#define RUNTIME_TRACER_FIRST_LAUNCH_H

#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>

/* In the callback that says that the context was made, on the thread that makes it. */
void first_launch_owe(CUcontext context);

/* In the callback that says that it ends, as far as this thread owes it. */
void first_launch_forget(CUcontext context);

/* Whether any context has to have one: a hint, without a lock. */
bool first_launch_is_owed(void);
/* After the call that made a context, outside of callbacks: makes those that the calling thread
 * owes, and waits for other threads', some milliseconds at most: they may be making one of the
 * context that this thread was given. Where the driver refuses, there is none. */
void first_launch_make(void);
/* The driver's current callback on this thread belongs to a first launch. */
bool first_launch_is_made(void);

#endif
