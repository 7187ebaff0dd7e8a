/* Whether earlier processes of this program knew all launches (runtime/learn/programs.h). Then this
 * process *rests*: it traces nothing and uses stored sets. It does not use the driver's tools
 * interface, which costs each launch time even without patched code. A launch without a stored set
 * is bounded, as in any process that traces nothing, and the program's next process learns again.
 * To confirm what is stored, one process in so many learns again, too (option learn_every). */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_PROGRAM_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_PROGRAM_H

#include "runtime/learn/learner.h"

/* Finds out which program this is. Call it at the process's start, before it can have changed its
 * directory. */
void learning_program_identify(void);
/* Call it before any of the driver's functions runs, on a GPU whose launches could be traced. True:
 * this process rests. */
bool learning_program_begin(const struct learner_options *options);
/* As that said. Thread-safe. */
bool learning_program_rests(void);

/* Counts a launch without a known set, from which csan could have learned with a trace.
 * Thread-safe. */
void learning_program_missed(void);
/* How many were. */
uint64_t learning_program_missed_count(void);
/* Call it at the end, after what was learned was saved with those options; `learner` may be NULL.
 * `untaught`: there were launches of kernels that csan can neither learn nor keep. False: the
 * result could not be stored. */
bool learning_program_end(const struct learner_options *options, struct learner *learner,
                          bool untaught);

#endif
