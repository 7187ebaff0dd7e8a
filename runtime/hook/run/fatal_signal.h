/* Signals that end the process. What a recording or a report still holds is written first.
 *
 * Handlers are set only where the program has none. A process that is recorded has them from its
 * first CUDA call on, any other from its first race on. The process then ends by the same signal,
 * as it would have. A handler that the program sets meanwhile stays. */
#ifndef RUNTIME_HOOK_RUN_FATAL_SIGNAL_H
#define RUNTIME_HOOK_RUN_FATAL_SIGNAL_H

#include <signal.h>

void fatal_signal_watch(void);

/* The same for segmentation faults alone. */
void fatal_signal_watch_faults(void);

/* Called first for a fault of an instruction, in the handler. Set before any hook is entered. */
extern void (*fatal_signal_explain)(int number, const siginfo_t *info, const void *context);

/* Writes what is held, before a signal whose handler is csan's ends the process. */
void fatal_signal_end(void);

#endif
