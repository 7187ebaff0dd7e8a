/* Runs a program to its end for a command that watches it (explore, fix, mutate): with its output
 * in files, under a time limit, and killed with all that it started. */
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
 * the current run and all later ones, so that the command can tidy up and end by itself. Call it
 * before the command makes files. */
void child_watch_signals(void);
/* 0, or the signal that came. The results of a run that it cut short mean nothing. */
int child_interrupted(void);

/* Standard input is empty, and addresses are not randomised, so that two runs of one program differ
 * as little as possible. False, with a message printed, if no process can be started. */
bool child_run(const struct child_settings *settings, struct child *child);

/* In words, after "it ended": "with exit code 3", "by signal 6". */
void child_describe_end(int status, char *text, size_t bytes);
/* Prints the last lines of the file with its standard error on this command's standard error. */
void child_print_errors(const char *path);

#endif
