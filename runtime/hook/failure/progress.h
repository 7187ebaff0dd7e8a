/* How far each stream came. Behind a launch the stream writes the launch's number to host memory.
 * If a kernel fails, launches whose numbers are missing had not finished.
 *
 * It is used while the driver's tools interface is in use, because then no GPU core dump comes. A
 * write costs the program some 0.75 us a launch (H100, driver 580): there is none behind a launch
 * whose bytes are all known. The write is ordered behind the
 * work before it in the stream (CUDA Driver API, Stream Memory Operations). The memory is the
 * host's, so that it can be read when the context is lost. */
#ifndef RUNTIME_HOOK_FAILURE_PROGRESS_H
#define RUNTIME_HOOK_FAILURE_PROGRESS_H

#include "runtime/hook/interpose/driver.h"

#include <stdbool.h>
#include <stdint.h>

/* A launch's number among those of its stream. */
struct progress {
    uint32_t slot;   /* the stream's word; 0: there is none, and nothing is known */
    uint32_t number; /* from 1 */
};

/* Whether a report would need it. Any thread. */
bool progress_is_wanted(void);

/* Call it after the driver's call for work that is not captured: the stream writes behind that
 * work. On the program's thread, without locks. Nothing is written if no report would need it. */
struct progress progress_write(CUstream stream, bool thread_default);

/* The context is gone, and its streams with it. */
void progress_context_ended(CUcontext context);

/* Whether the stream came past this launch. Any thread; calls no function of the driver. */
bool progress_is_reached(struct progress progress);

#endif
