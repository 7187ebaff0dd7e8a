/* Whether earlier processes of this program knew all launches (runtime/learn/programs.h). Then this
 * process rests: it traces nothing, does not use the driver's tools interface (which costs each
 * launch time even without patched code), and uses stored sets. A launch without a stored set is
 * bounded, as in any process that traces nothing, and the program's next process learns again; so
 * does one in so many (option learn_every), to confirm what is kept. */
#ifndef RUNTIME_HOOK_OBSERVE_LEARNING_PROGRAM_H
#define RUNTIME_HOOK_OBSERVE_LEARNING_PROGRAM_H

#include "runtime/learn/learner.h"

/* At the process's start, before it can have changed its directory: which program it is. */
void learning_program_identify(void);
/* Before any of the driver's functions runs, on a GPU whose launches could be traced: true, this
 * process rests. */
bool learning_program_begin(const struct learner_options *options);
/* As that said. Thread-safe. */
bool learning_program_rests(void);

/* Counts a launch without a known set that a trace would have taught. Thread-safe. */
void learning_program_missed(void);
/* How many were. */
uint64_t learning_program_missed_count(void);
/* At the end, after what was learned was saved, as of those options; `learner` may be NULL.
 * `untaught`: launches of kernels were made of which nothing can be learned nor kept. False: what
 * was found could not be noted. */
bool learning_program_end(const struct learner_options *options, struct learner *learner,
                          bool untaught);

#endif
