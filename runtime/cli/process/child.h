/* A program run to its end by a command that watches it (explore, fix, mutate): with its output in
 * files, under a time limit, killed with all it started. */
#ifndef RUNTIME_CLI_PROCESS_CHILD_H
#define RUNTIME_CLI_PROCESS_CHILD_H

#include "runtime/cli/process/program.h"

#include <sys/types.h>

struct child_settings {
    const struct program *program;
    const char *output, *errors; /* files that take standard output and standard error */
    double limit;                /* seconds */
    void (*prepare)(void *user); /* called in the child, to set its environment */
    void *user;
};

struct child {
    pid_t pid;
    int status; /* as waitpid gives it */
    double seconds;
    bool timed_out;
};

/* From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE (nobody reads the output any more) end
 * the run that is under way, and all that follow, so that the command can tidy up and end by
 * itself. Before its files are made. */
void child_watch_signals(void);
/* 0, or the signal that came. What a run that it cut short left means nothing. */
int child_interrupted(void);

/* Standard input is empty, and addresses are not randomised: two runs of the same program differ as
 * little as can be. False, with a message said, when no process can be started. */
bool child_run(const struct child_settings *settings, struct child *child);

/* In words, after "it ended": "with exit code 3", "by signal 6". */
void child_describe_end(int status, char *text, size_t bytes);
/* Print the last lines of the file that took its standard error on this command's own. */
void child_print_errors(const char *path);

#endif
