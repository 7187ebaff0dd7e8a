/* A program run to its end by a command that watches it (explore, mutate): with its output in
 * files, under a time limit, killed with all it started. */
#ifndef RUNTIME_CLI_CHILD_H
#define RUNTIME_CLI_CHILD_H

#include "runtime/cli/program.h"

#include <signal.h>
#include <sys/types.h>

struct child_settings {
    const struct program *program;
    const char *output, *errors; /* files that take standard output and standard error */
    double limit;                /* seconds */
    void (*prepare)(void *user); /* called in the child, to set its environment */
    void *user;
    const volatile sig_atomic_t *told_to_end; /* or NULL: end it when this becomes 1 */
};

struct child {
    pid_t pid;
    int status; /* as waitpid gives it */
    double seconds;
    bool timed_out;
};

/* Standard input is empty, and addresses are not randomised: two runs of the same program differ as
 * little as can be. False, with a message said, when no process can be started. */
bool child_run(const struct child_settings *settings, struct child *child);

#endif
