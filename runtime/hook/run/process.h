/* csan's life in the process. CSAN=1 switches it on; there is one detector context; and it has an
 * end.
 *
 * It starts at whatever entry is called first. A constructor may be too late, because other
 * libraries' constructors use CUDA. A child that was forked before the first CUDA call starts anew
 * at its own first call. A child that was forked later is not checked, and says so. */
#ifndef RUNTIME_HOOK_RUN_PROCESS_H
#define RUNTIME_HOOK_RUN_PROCESS_H

#include <csan/csan.h>

#include <stdbool.h>

/* ---- the end (process_exit.c) */

/* Decides, prints and writes everything. Returns the exit code for a program that would have ended
 * with 0. `decided`: the same for a program that would have ended with another code. Within a hook,
 * without locks of hooks. */
int process_finish(bool *decided);
/* The same in a process that has not used CUDA. */
void process_finish_unused(void);
/* Whether option abort_on_error is set and races make the program fail. */
bool process_aborts(void);
/* The exit code for the races so far; 0 if csan run sets it. Safe in a signal handler. */
int process_exit_code(void);
/* Whether this process has to say that nothing was checked. */
bool process_summarizes(void);
/* Reports to csan run what was checked so far. */
void process_publish(void);

#endif
