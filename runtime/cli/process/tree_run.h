/* `csan run` and `csan record` of a program and of all processes below it. There is one exit code
 * for all of them, and a line for what no process could say itself
 * (runtime/hook/run/process_tree.h). */
#ifndef RUNTIME_CLI_PROCESS_TREE_RUN_H
#define RUNTIME_CLI_PROCESS_TREE_RUN_H

#include "runtime/cli/process/program.h"

/* Runs the prepared program to its end, and ends as it did, or with option exitcode if a process
 * reported a race. Below another csan run it becomes the program, because the other one sets the
 * exit code. Returns only if nothing could be started, with the exit code. `recording`: the file
 * that csan record writes, or NULL. `raced`: called before the end if a process reported a race or
 * a possible one, and the program ended by itself; or NULL. */
int tree_run(const struct program *program, const char *recording,
             void (*raced)(const struct program *program));

#endif
