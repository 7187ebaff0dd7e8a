/* Which program this process runs, so that csan recognizes a later process of the same one. */
#ifndef RUNTIME_HOOK_OBSERVE_PROGRAM_H
#define RUNTIME_HOOK_OBSERVE_PROGRAM_H

#include "runtime/learn/programs.h"

/* By its executable, arguments and directory, by how new the files are that those name, as a
 * script's, by its rank, and by option access. To be asked before the program can have changed its
 * directory. False: it is not known, for example because the program is read from standard input,
 * or is Python's multiprocessing's, whose arguments say nothing of it. */
bool program_identify(struct learn_program *program);

#endif
