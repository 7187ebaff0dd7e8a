/* Examines a program that is about to be executed, by csan run or by a process that executes
 * another: can csan be preloaded into it? The dynamic loader does that (ld.so(8), LD_PRELOAD). So
 * the program must ask for a loader, be of this machine's kind, and gain no rights. */
#ifndef RUNTIME_HOOK_RUN_EXEC_TARGET_H
#define RUNTIME_HOOK_RUN_EXEC_TARGET_H

#include "runtime/hook/run/process_tree.h"

#include <elf.h>
#include <limits.h>
#include <stdbool.h>

/* Whether the head of an ELF file is that of a program which this processor runs as this csan. */
static inline bool exec_target_is_native(const Elf64_Ehdr *header)
{
#if defined(__aarch64__)
    const unsigned machine = EM_AARCH64;
#else
    const unsigned machine = EM_X86_64;
#endif
    return header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == machine;
}

/* The file that execvp(3) would execute for `name`; false: none. */
bool exec_target_find(const char *name, char path[PATH_MAX]);
/* Whether it can be executed, as far as can be found out. */
bool exec_target_is_runnable(const char *path);
/* Whether it runs with rights that its caller lacks: set-user-id and set-group-id programs of other
 * users, and programs with capabilities of their own. Not for a script, whose rights do not count.
 */
bool exec_target_gains_rights(const char *path);
/* Whether a file that begins like this is a script, and what it names after "#!"; false: it names
 * nothing. */
bool exec_target_is_script(const void *bytes, size_t count);
bool exec_target_interpreter(const void *bytes, size_t count, char path[PATH_MAX]);
/* TREE_WATCHED: csan can be in it. All functions are safe in a child of vfork. */
enum tree_loss exec_target_loss(const char *path);
/* The same for the environment that it will have. */
enum tree_loss exec_environment_loss(char *const environment[]);

#endif
