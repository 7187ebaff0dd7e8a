/* Runs the program below this command to its end, and passes that end on.
 *
 * The command stays as the program's parent, in its process group. It cannot be noticed in between:
 * signals that are sent to the command go to the program. When the program stops, so does the
 * command, and it continues with it. The terminal belongs to the program. The command ends as the
 * program does, by the same exit code or signal. Killing the command kills the program. The command
 * waits only for the program, not for processes that it leaves behind. */
#ifndef RUNTIME_CLI_PROCESS_SUPERVISE_H
#define RUNTIME_CLI_PROCESS_SUPERVISE_H

#include "runtime/cli/process/program.h"

#include <signal.h>

/* The program's end, as waitpid(2) has it. -1, with a message printed: it was not started. All
 * signals stay blocked; a command that runs more afterwards restores the mask `before`. */
int supervise_run(const struct program *program, sigset_t *before);
/* End as it did. */
_Noreturn void supervise_end(int status);

#endif
