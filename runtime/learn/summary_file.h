/* A program's summaries of operators (summaries.h) on disk, beside the learned sets and within
 * their limit:
 *
 *   operators-PROGRAM-VERSION.learned-operators = as learned_file.h packs it:
 *       csan's version, whether the program's last process had them all, how many processes in a
 *       row began with them, the summaries
 *
 * One file for each program, since a program that has shapes of its own would push out the others'.
 * The last process to end wins. A file that is damaged, or another version's, counts as none. */
#ifndef RUNTIME_LEARN_SUMMARY_FILE_H
#define RUNTIME_LEARN_SUMMARY_FILE_H

#include "runtime/learn/programs.h"
#include "runtime/learn/summaries.h"

struct summary_program {
    bool settled;    /* the last process knew all its launches in the end */
    uint32_t rested; /* processes since one that did not begin with what is kept */
};

/* Into summaries without any. False: there are none. */
bool summary_file_read(const struct learner_options *options, const struct learn_program *program,
                       struct summaries *summaries, struct summary_program *noted);
/* False: it could not be written. */
bool summary_file_write(const struct learner_options *options, const struct learn_program *program,
                        const struct summaries *summaries, const struct summary_program *noted);

#endif
