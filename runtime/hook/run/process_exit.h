/* The ways in which a process ends, and what csan does before: exit (on_exit), quick_exit
 * (at_quick_exit), _exit, _Exit and abort, which libcsan stands in front of, and the exec family
 * (exec.c).
 *
 * For exit and quick_exit the calling thread does the work. The others may be called where nothing
 * may be locked or allocated, as in a signal handler that interrupted malloc. For them a thread of
 * csan's, which waits since the first CUDA call, does it. The caller waits for that, but not for
 * ever. A child of vfork, which has its parent's memory, and a forked child that is not checked
 * pass through. */
#ifndef RUNTIME_HOOK_RUN_PROCESS_EXIT_H
#define RUNTIME_HOOK_RUN_PROCESS_EXIT_H

#include "runtime/hook/session/session.h"

#include <stdbool.h>

/* Once, when csan is on; when it is off. */
void process_exit_start(void);
void process_exit_start_off(void);
/* The process uses CUDA from here on. */
void process_exit_begin(void);
/* In a forked child that starts anew. */
void process_exit_forked(void);

/* Whether this is the process that csan is on in, and no child of vfork. Safe in a signal handler.
 */
bool process_exit_is_own_process(void);
/* Decides, prints and writes everything on csan's thread, if the process used CUDA and this was not
 * done before. Safe in a signal handler. False: it was not done in time. */
bool process_exit_finish(enum session_end_way way, int status);
/* How the process ends, as the first caller said. */
struct session_end process_exit_end(void);

/* The exit code for a program that would end with 0: for its races so far, and for those of the
 * program that it was before an exec. */
int process_exit_final_code(void);

/* The C library's _exit. */
_Noreturn void process_exit_now(int code);
/* abort(3) itself, without finishing. */
_Noreturn void process_exit_abort(void);

#endif
