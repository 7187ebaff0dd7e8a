/* csan's life in the process: switched on by CSAN=1, one detector context, its end.
 *
 * Everything starts from whatever entry is called first: a constructor may be too late, because
 * other libraries' constructors use CUDA. A child that was forked before the first CUDA call starts
 * anew at its own first; one that was forked later is not checked, and says so. */
#ifndef RUNTIME_HOOK_RUN_PROCESS_H
#define RUNTIME_HOOK_RUN_PROCESS_H

#include <csan/csan.h>

#include <stdbool.h>

/* ---- the end (process_exit.c) */

/* Decide, say and write everything. Returns what a program that would have ended with 0 is to end
 * with; `decided`: whatever it would have ended with. Within a hook, without locks of hooks. */
int process_finish(bool *decided);
/* The same in a process that has not used CUDA. */
void process_finish_unused(void);
/* Option abort_on_error, and there were races that make the program fail. */
bool process_aborts(void);
/* The exit code for the races so far: 0 where csan run sees to it. Safe in a signal handler. */
int process_exit_code(void);
/* Whether this process is the one to say that nothing was checked. */
bool process_summarizes(void);
/* Reports to csan run above what was checked so far. */
void process_publish(void);

#endif
