/* Signals that end the process: what a recording still holds back is written first.
 *
 * Handlers stand only where the program has none, only in a process that is recorded, and only from
 * its first CUDA call on; the process then ends by the same signal, as it would have. Without a
 * recording nobody waits for anything, and csan sets no handler. */
#ifndef RUNTIME_HOOK_FATAL_SIGNAL_H
#define RUNTIME_HOOK_FATAL_SIGNAL_H

void fatal_signal_watch(void);

#endif
