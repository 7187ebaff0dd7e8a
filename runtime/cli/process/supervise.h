/* Runs the program below this command, to its end, and passes that end on.
 *
 * The command stays as the program's parent, in its process group. It is not seen in between:
 * signals that are sent to the command go to the program, a program that stops stops the command
 * and goes on with it, the terminal is the program's, and the command ends as the program does, by
 * the same exit code or signal. Who kills the command kills the program. Only the program is waited
 * for, not what it leaves behind. */
#ifndef RUNTIME_CLI_PROCESS_SUPERVISE_H
#define RUNTIME_CLI_PROCESS_SUPERVISE_H

#include "runtime/cli/process/program.h"

#include <signal.h>

/* What waitpid(2) says of the program's end. -1, with a message said: it was not started. All
 * signals stay blocked; a command that runs more afterwards sets the mask `before` again. */
int supervise_run(const struct program *program, sigset_t *before);
/* End as it did. */
_Noreturn void supervise_end(int status);

#endif
