/* Whether all launches of this process's program are known before it makes them: as far as earlier
 * processes of it tell, the last of which that learned had nothing left to learn. Then nothing is
 * traced: the driver's tools interface, which costs each launch something though no code is
 * patched, is left alone, and what is kept tells. A launch that it does not tell is bounded, as in
 * any process that traces nothing, and the program's next process learns again; so does one in so
 * many (option learn_every), to confirm what is kept. */
#ifndef RUNTIME_HOOK_LEARNING_PROGRAM_H
#define RUNTIME_HOOK_LEARNING_PROGRAM_H

#include "runtime/learn/learner.h"

/* Before any of the driver's functions runs, on a GPU whose launches could be traced: true, nothing
 * is to be. */
bool learning_program_begin(const struct learner_options *options);
/* As that said. */
bool learning_program_is_known(void);

/* A launch is not told that would be learned of, were it traced. Thread-safe. */
void learning_program_missed(void);
/* At the end, after what was learned was saved; `learner`, as of those options, may be NULL. */
void learning_program_end(const struct learner_options *options, struct learner *learner);

/* That launches were missed, for the summary; NULL: none was. Good until the next call. */
const char *learning_program_text(void);

#endif
