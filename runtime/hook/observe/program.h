/* Identifies the program that this process runs, so that csan recognizes later processes of the
 * same one. */
#ifndef RUNTIME_HOOK_OBSERVE_PROGRAM_H
#define RUNTIME_HOOK_OBSERVE_PROGRAM_H

#include "runtime/learn/programs.h"

/* A program is identified by its executable, arguments and directory, by the age of the files that
 * these name, such as a script, by its rank, and by option access. Call it before the program can
 * have changed its directory. False: it is not known, for example because the program is read from
 * standard input, or belongs to Python's multiprocessing, whose arguments say nothing of it. */
bool program_identify(struct learn_program *program);

#endif
