/* A program run to its end by a command that watches it: with its output in files, under a time
 * limit, killed with all it started. */
#ifndef RUNTIME_CLI_CHILD_H
#define RUNTIME_CLI_CHILD_H

#include "runtime/cli/program.h"

struct child_settings {
    const struct program *program;
    const char *output, *errors; /* files that take standard output and standard error */
    double limit;                /* seconds */
    void (*prepare)(void *user); /* called in the child, to set its environment */
    void *user;
};

struct child {
    int status; /* as waitpid gives it */
    double seconds;
    bool timed_out;
    bool interrupted; /* this command was told to end (SIGINT, SIGTERM) */
};

/* Standard input is empty, and addresses are not randomised: two runs of the same program differ as
 * little as can be. False, with a message said, when no process can be started. */
bool child_run(const struct child_settings *settings, struct child *child);

#endif
