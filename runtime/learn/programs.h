/* Programs that had nothing left to learn when they ran last, as far as their launches were learned
 * of: a later process of such a one need not trace any. One file in the cache's directory, of text,
 * a line each: the program's two words, and how many of its processes have not traced since. The
 * last one noted stands last; beyond PROGRAMS_MOST the first go. It is replaced as a whole, under
 * the directory's lock; what cannot be read in it is left out. */
#ifndef RUNTIME_LEARN_PROGRAMS_H
#define RUNTIME_LEARN_PROGRAMS_H

#include "runtime/learn/learner.h"

enum { PROGRAMS_MOST = 1024 };

/* What tells a program, as it is run, from every other. */
struct learn_program {
    uint64_t words[2];
};

enum program_note {
    PROGRAM_OPEN,   /* something was left to learn, or is new */
    PROGRAM_KNOWN,  /* nothing was */
    PROGRAM_RESTED, /* it was known, nothing was traced, and nothing was new */
};

/* How many processes have not traced since the program was known; -1: it is not. */
int programs_find(const struct learner_options *options, const struct learn_program *program);
/* At a process's end. False: it could not be written. */
bool programs_note(const struct learner_options *options, const struct learn_program *program,
                   enum program_note note);

#endif
