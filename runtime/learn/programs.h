/* Programs that had nothing left to learn in their last run. A later process of such a program may
 * rest, that is, trace no launch.
 *
 * Two processes may count as one program and yet launch other kernels (an environment variable, a
 * file that is not among the arguments): one that rests then meets something new. Each time, twice
 * as many processes in a row must have nothing left before one rests again; each round of rests
 * that met nothing takes one such time back.
 *
 * One file in the cache's directory for each version of csan, of text, a line each: the program's
 * two words, then the numbers of struct known (programs.c). The last one noted stands last; beyond
 * PROGRAMS_MOST the first go. It is replaced as a whole, under the directory's lock; what cannot be
 * read in it is left out. */
#ifndef RUNTIME_LEARN_PROGRAMS_H
#define RUNTIME_LEARN_PROGRAMS_H

#include "runtime/learn/learner.h"

enum { PROGRAMS_MOST = 1024 };

/* Identifies a program together with the way it is run. */
struct learn_program {
    uint64_t words[2];
};

/* What a process found. */
enum program_note {
    PROGRAM_OPEN,    /* that learned: something was left at its end */
    PROGRAM_SETTLED, /* that learned: nothing was */
    PROGRAM_MISSED,  /* that rested: something was new */
    PROGRAM_RESTED,  /* that rested: nothing was */
};

/* Whether a process of it may rest, and how many have since the last one that learned; -1: it may
 * not. */
int programs_find(const struct learner_options *options, const struct learn_program *program);
/* At a process's end. False: it could not be written. */
bool programs_note(const struct learner_options *options, const struct learn_program *program,
                   enum program_note note);

#endif
