/* What a program that is about to be executed is, in csan run and in a process that executes
 * another: can csan be preloaded into it? The dynamic loader does that (ld.so(8), LD_PRELOAD), so
 * the program must ask for one, be of this machine's kind, and gain no rights. */
#ifndef RUNTIME_HOOK_RUN_EXEC_TARGET_H
#define RUNTIME_HOOK_RUN_EXEC_TARGET_H

#include "runtime/hook/run/process_tree.h"

#include <limits.h>

/* The file that execvp(3) would execute for `name`; false: none. */
bool exec_target_find(const char *name, char path[PATH_MAX]);
/* Whether it can be executed, as far as is known. */
bool exec_target_is_runnable(const char *path);
/* Whether it runs with rights that its caller lacks: set-user-id and set-group-id programs of
 * others, and those with capabilities of their own. Not of a script, whose rights count for
 * nothing.
 */
bool exec_target_gains_rights(const char *path);
/* Whether the file that begins so is a script, and what it names after "#!"; false: nothing. */
bool exec_target_is_script(const void *bytes, size_t count);
bool exec_target_interpreter(const void *bytes, size_t count, char path[PATH_MAX]);
/* TREE_WATCHED: nothing speaks against it. All functions are safe in a child of vfork. */
enum tree_loss exec_target_loss(const char *path);
/* The same of the environment that it will have. */
enum tree_loss exec_environment_loss(char *const environment[]);

#endif
